"""The figures of a pipeline on raw text."""

from collections.abc import Iterable
from dataclasses import replace

from keras_tagging.data.sentence import NER, Sentence, text_of
from keras_tagging.data.surface import spaced
from keras_tagging.metrics import ChunkCounts, chunk_scores, raw_text_scores
from keras_tagging.metrics.derivations import derivation_counts
from keras_tagging.metrics.raw_text import COLUMNS
from keras_tagging.runtime.pipeline import TextPipeline

_UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"


def pipeline_scores(pipeline, sentences: Iterable[Sentence]) -> dict[str, ChunkCounts]:
    """The counts of `metrics.raw_text_scores` for what a pipeline annotates.

    It reads the text of the gold sentences, or their words if it has no segmenter. If
    it has one and gives entities, those of the gold words are counted too, as conlleval
    does: `entities_of_gold_words`. If all have derivations and it gives some, so are
    the figures of `metrics.DerivationScores`, of gold words; of a share precision and
    recall are the same. Parts of speech of `.auto` files are compared with UPOS if all
    are universal, else with XPOS.

    Args:
        pipeline: a `Pipeline`.
        sentences: gold sentences; for a pipeline with a segmenter with their `surface`,
            which those with derivations may lack: then their words are read.

    Raises:
        ValueError: if a sentence has no surface and needs one, or lacks a column that
            the parser reads.
    """
    gold = [sentence for sentence in sentences if sentence.tokens]
    has_derivations = pipeline.gives_derivations and bool(gold)
    has_derivations &= all(s.derivation is not None for s in gold)
    reads_words = has_derivations and all(s.surface is None for s in gold)
    reads_words |= pipeline.segmenter is None
    if reads_words:
        gold = [replace(s, surface=spaced(s.tokens)) for s in gold]
    words = [_only(sentence, pipeline.input_columns) for sentence in gold]
    parts = {k: m for k, m in pipeline.parts.items() if k != "segmenter"}
    columns = {*pipeline.columns}
    annotated = pipeline.annotate(words if reads_words else text_of(gold))
    predicted = [_only(sentence, columns) for sentence in annotated]
    named = _parts_of_speech_named(gold) if has_derivations else gold
    # `_` is no value
    filled = {k for s in named for k, row in s.columns.items() if {*row} != {"_"}}
    scored = columns & {*COLUMNS.values(), NER} & filled
    scores = raw_text_scores([_only(x, scored) for x in named], predicted)
    if has_derivations:
        derived = predicted if reads_words else TextPipeline(**parts).annotate(words)
        scores |= _derivation_scores(gold, derived)
    if not reads_words and "entities" in scores:
        tagged = TextPipeline(**parts).annotate(s.tokens for s in gold)
        rows = ([s.columns[NER] for s in x] for x in (gold, tagged))
        scores["entities_of_gold_words"] = chunk_scores(*rows)
    return scores


def _derivation_scores(gold, predicted) -> dict[str, ChunkCounts]:
    derivations = ([s.derivation for s in x] for x in (gold, predicted))
    scores = {}
    for name, rows in derivation_counts(*derivations).items():
        every, *others, right = rows.sum(0).tolist()
        scores[name] = ChunkCounts(every, *(others or [every]), right)
    return scores


def _parts_of_speech_named(gold: list[Sentence]) -> list[Sentence]:
    """Those that are not universal as XPOS: an `.auto` file does not name its set.

    Sentences that have XPOS, as those of CoNLL-U, stay as they are.
    """
    universal = {*_UPOS.split()}
    if any("xpos" in s.columns for s in gold) or all(
        universal.issuperset(s.columns.get("pos", ())) for s in gold
    ):
        return gold
    return [
        replace(
            s, columns={"xpos" if k == "pos" else k: v for k, v in s.columns.items()}
        )
        for s in gold
    ]


def _only(sentence: Sentence, names) -> Sentence:
    """A sentence with no columns but these, and without tags."""
    kept = {k: v for k, v in sentence.columns.items() if k in names}
    return replace(sentence, tags=None, columns=kept)
