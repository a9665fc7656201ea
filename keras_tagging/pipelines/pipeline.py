"""A pipeline that can be saved, exported and evaluated."""

from pathlib import Path

from keras_tagging.pipelines.figures import pipeline_scores
from keras_tagging.pipelines.files import (
    export_pipeline,
    load_pipeline,
    save_pipeline,
)
from keras_tagging.runtime.pipeline import TextPipeline
from keras_tagging.utils.named_models import find_model


class Pipeline(TextPipeline):
    """Models that annotate text one after the other; any of them may be left out.

    The segmenter finds the sentences and words of a text, the tagger gives each word
    its labels, and the parser a head and a relation. The parser reads the tags that the
    tagger has predicted, in the columns that it needs::

        pipeline = keras_tagging.Pipeline(segmenter, tagger, parser)
        for sentence in pipeline.annotate(open("book.txt")):
            sentence.tokens, sentence.columns["pos"], sentence.surface.offsets

    Args:
        segmenter: a model whose `segment` turns a text into sentences. Without it, a
            text has a sentence in each line, with blanks between its words.
        tagger: a `Tagger`, or a `runtime.OnnxTagger`.
        parser: a `Parser`, or a `runtime.OnnxParser`.
        **others: models of other kinds by the names of these, such as
            ``ccg_parser=``, and further taggers by names of your own, such as
            ``entities=``. They come last, may read what those before give, and give
            columns that these do not.

    Attributes:
        metadata: the corpus and the figures, if it has been trained as a whole.

    Raises:
        ValueError: if there is no model, one is not of its kind, reads a column that
            none before gives, or gives one that another gives.
    """

    remedy = "train its models, which `parts` has by name, or all: train pipeline"

    # Files

    def save(
        self, folder, overwrite: bool = True, *, half_precision: bool = False
    ) -> None:
        """Write the models into a folder that `keras_tagging.load` reads.

        See :func:`keras_tagging.pipelines.files.save_pipeline`.
        """
        save_pipeline(self, Path(folder), overwrite, half_precision)

    @classmethod
    def load(cls, folder) -> "Pipeline":
        """Read what `save` or `export` has written, or an installed model by its name.

        Of ONNX files it needs neither TensorFlow nor Keras.

        See :func:`keras_tagging.pipelines.files.load_pipeline`.
        """
        return load_pipeline(find_model(folder), cls)

    def export(self, folder, *, format: str = "tf_saved_model", **options):
        """Write each model for serving.

        See :func:`keras_tagging.pipelines.files.export_pipeline`.
        """
        return export_pipeline(self, Path(folder), format, **options)

    def shrink_vectors(self, words=None, dtype: str = "float16", keep=()) -> "Pipeline":
        """The same pipeline with fewer pretrained vectors in all of its models.

        Args:
            words: as in `shrink_vectors` of a model. A number means the same words in
                all models, the first of the vectors, if one of them has the vectors as
                a feature beside the words.
            dtype, keep: as there. What one model keeps for its words of training, all
                keep, so that they still share their vectors.

        Returns:
            A new pipeline, with the models that have no such vectors as they are. Its
            figures are those from before: `evaluate` it.

        Raises:
            ValueError: if no model has such vectors, or as there.
        """
        from keras_tagging.models.shrinking import shrunk_parts

        smaller = type(self)(**shrunk_parts(self.parts, words, dtype, keep))
        smaller.metadata = dict(self.metadata)
        return smaller

    # Evaluation

    def evaluate(
        self, sentences, *, return_dict: bool = True
    ) -> dict[str, float] | list[float]:
        """The figures of what the pipeline annotates, from raw text on.

        Args:
            sentences: gold sentences. A pipeline with a segmenter reads their text, so
                they need a `surface`: read CoNLL-U with ``surface=True``.
            return_dict: False for a list of the figures alone, as Keras' `evaluate`
                gives by default.

        Returns:
            F1 of `tokens`, `sentences` and `words`, and of `upos`, `xpos`, `feats`,
            `lemma`, `uas`, `las` and `entities` as far as it gives them: see
            `metrics.raw_text_scores`. Entities are a column `ner` of both; those of
            gold words, `entities_of_gold_words`, are beside them if the text is read.
            With a CCG parser, of sentences with derivations, those of
            `metrics.DerivationScores` too.
        """
        scores = self.scores(sentences)
        figures = {name: counts.f1 for name, counts in scores.items()}
        return figures if return_dict else [*figures.values()]

    def scores(self, sentences):
        """The counts behind the figures of `evaluate`, with precision and recall."""
        return pipeline_scores(self, sentences)
