"""The figures of an exported model, which prove the export."""

from keras_tagging.data.named_columns import with_targets


class Evaluated:
    """A model without Keras that can be evaluated.

    The class for a kind has `measured(sentences, **options)`, a dict of figures.
    """

    #: the tables of `keras-tagging evaluate`, and the options of `evaluate`
    report_options: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    #: the columns of labels that it learnt
    column_names: tuple[str | None, ...] = ()

    def evaluate(self, x, y=None, *, return_dict=False, **options):
        """Evaluate the model on annotated sentences.

        Args:
            x: sentences with gold tags, trees or text.
            y: for lists of words their tags, as in `fit` of the Keras model.
            return_dict: whether to return a dict instead of the list of its values.
            **options: for parsers, `punctuation` and `subtypes`.

        Returns:
            The figures of the Keras model, up to rounding; those of a tagger without
            `oov_accuracy`, as the file does not tell which words training had.

        Raises:
            ValueError: if the annotation is missing.
        """
        figures = self.measured(with_targets(x, y, self.column_names), **options)
        return figures if return_dict else [*figures.values()]
