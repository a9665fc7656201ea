"""One column of a tagger of several, as a tagger that has no other."""

from dataclasses import replace

from keras_tagging.data.named_columns import annotated, labels_of
from keras_tagging.data.sentence import as_sentences
from keras_tagging.encoding.batching import slices
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.kinds.tagging import Tagging
from keras_tagging.metrics import multi_tagging
from keras_tagging.models.tagger.figures import best_figure, tag_counts
from keras_tagging.utils.suggestions import check_known


def one_column(model, name: str | None):
    """The result of `Tagger.column`: the tagger itself if its column has no name."""
    if name is None and model.column_names == (None,):
        return model
    if name is None:
        several = ", ".join(map(repr, model.column_names))
        raise ValueError(
            f"this tagger has columns of labels, {several}: take one of them, "
            f"model.column({model.column_names[0]!r})"
        )
    check_known("column", name, [column for column in model.column_names if column])
    return OneColumn(model, model.label_columns[model.column_names.index(name)])


class OneColumn(Tagging):
    """One column of a tagger, as a tagger that has no other.

    Its tags are the labels of the column; for lemmas, their scripts.

    It predicts and counts; the tagger itself trains and saves.

    Args:
        model: a `Tagger`.
        column: one of its `label_columns`, with a name.
    """

    counting_options = ()

    def __init__(self, model, column: LabelColumn):
        self.model, self.metadata = model, model.metadata
        self.name, self._outputs = column.name, column.output_names
        self.label_columns = (LabelColumn(None, column.labels, None, column.scripts),)

    def predict_arrays(self, chunks, names, *calls):
        """See `Predictor.predict_arrays`: those of the tagger for this column."""
        return self.model.predict_arrays(
            chunks, [self._outputs[k] for k in names], *calls
        )

    def tag(self, sentences, *, beta=None, probabilities=False):
        """As `Tagger.tag` of one column."""
        if beta is not None or not self.model.rules:
            return super().tag(sentences, beta=beta, probabilities=probabilities)
        tagged = self.model.tag(sentences, probabilities=probabilities)
        rows = (row[self.name] for row in tagged)
        return list(rows) if isinstance(tagged, list) else rows

    @property
    def default_monitor(self):
        return f"val_{best_figure(self.label_columns)}"

    def annotated(self, sentences):
        """The sentences with the gold labels of the column as their tags.

        Raises:
            ValueError: if a sentence has none.
        """
        sentences = annotated(sentences, [self.name])
        return [replace(s, tags=labels_of(s, self.name)) for s in sentences]

    def predict(self, sentences):
        """As `Tagger.predict` of one column."""
        return self.predictions(as_sentences(sentences))

    def counts(self, sentences, figures, **options):
        """As `Tagger.counts` of one column."""
        return tag_counts(self, sentences, figures, **options)

    def multi_tagging(self, sentences, **kwargs):
        """As `Tagger.multi_tagging` of one column."""
        return multi_tagging_of(self, self.annotated(sentences), **kwargs)


def multi_tagging_of(model, sentences, **kwargs):
    """K18 Table 4 of a tagger of one column, on sentences with gold tags."""
    [column] = model.label_columns
    gold = (column.targets([sentence]) for sentence in sentences)
    rows = (p for part in slices(sentences) for p in model.predictions(part))
    return multi_tagging(gold, rows, **kwargs)
