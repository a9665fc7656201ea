"""The command that evaluates a model: evaluate."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging import kinds
from keras_tagging.cli.loading import (
    Reading,
    gold_sentences,
    holds_derivations,
    kinds_reading,
    load_model,
    refuse_others,
)
from keras_tagging.cli.messages import warn
from keras_tagging.cli.options import (
    BeamWidth,
    CorpusPath,
    Entities,
    Run,
    refuse,
)
from keras_tagging.cli.output import (
    figures,
    levels_table,
    percentages,
    records,
    scores_table,
)
from keras_tagging.corpora.entities import add_entities
from keras_tagging.data import Corpus
from keras_tagging.data.sentence import NER
from keras_tagging.utils.named_models import find_model

#: the columns of tables that are shares
SHARES = ("precision", "recall", "f1", "uas", "las")
SHARES += ("labelled_precision", "labelled_recall")


@dataclass(frozen=True)
class Tables:
    """The tables of a report, beside the figures, and how they are counted.

    Args:
        multi_tagging: Several tags a word, as a table.
        betas: Levels of --multi-tagging, such as 0.1,0.01.
        per_tag: Figures for every tag, or chunk type.
        punctuation: For parsers: count punctuation (CoNLL 2018), or leave it out by the
            gold tags of the Penn Treebank, or by characters (CoNLL-X). Default: keep.
        subtypes: nsubj:pass is not nsubj.
        tables: By relation, sentence length and distance.
    """

    multi_tagging: bool = False
    betas: str | None = None
    per_tag: bool = False
    punctuation: Literal["keep", "ptb", "unicode"] | None = None
    subtypes: bool = False
    tables: bool = False

    @property
    def options(self) -> dict:
        """The options of `report`.

        Raises:
            ValueError: for levels that are no numbers.
        """
        try:
            levels = self.betas and [float(beta) for beta in self.betas.split(",")]
        except ValueError:
            message = f"--betas {self.betas!r}: give numbers, 0.1,0.01"
            raise ValueError(message) from None
        return {**vars(self), "betas": levels or None}


def evaluate(
    run: Run,
    corpus: CorpusPath,
    *,
    split: Literal["train", "dev", "test"] = "test",
    entities: Entities = None,
    reading: Reading,
    beam_width: BeamWidth = None,
    tables: Tables,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Compare a model's tags, trees or tokens with the gold ones of a corpus.

    For a parser, print the shares of right heads (uas), of right heads with right
    labels (las), of right labels, and of sentences without an error (ucm, lcm). The
    report says which tags it reads; one with a tagger of its own (--tags predicted) is
    evaluated with the tags that it predicts, and with gold ones if the corpus has them.
    For a segmenter, print what it finds in the text of the corpus, as CoNLL 2018 counts
    it.

    A model may be an ONNX file: equal figures prove an export. (The share of unknown
    words that are right is not there: the file does not tell which words were known.)

    For a pipeline, also one of ONNX files, print the scores of that shared task for the
    text of the corpus, which it annotates from raw characters on if it has a segmenter.
    Of CCG derivations (.auto) the words are read, and a pipeline with a CCG parser has
    its figures too.

    Examples:
        keras-tagging evaluate runs/demo --corpus demo
        keras-tagging evaluate runs/my --corpus held-out.conll --multi-tagging --json
        keras-tagging evaluate runs/parser --corpus ud-en-ewt --split dev --tables
        keras-tagging evaluate runs/segmenter --corpus ud-en-ewt --split dev

    Args:
        split: What to evaluate on; a single file is the test data.
        as_json: Print JSON.
    """
    model = load_evaluated(run)
    kind = kinds.of(model)
    if kind.composed:
        others = {**tables.options, "beam_width": beam_width}
        refuse(f"{run} holds a pipeline, which has no", others)
        evaluate_pipeline(model, corpus, split, entities, reading, as_json)
        return
    refuse(f"{run} holds a {kind}, which has no", {"entities": entities})
    if not hasattr(model, "report"):
        refuse(f"{run} was exported as ONNX, and has no", {"beam_width": beam_width})
    elif beam_width is not None:
        model.beam_width = beam_width
    options = refuse_others(run, model, tables.options)
    _, sentences = reading.split(corpus, split, **kind.reading)
    sentences = gold_sentences(model, sentences)
    if hasattr(model, "report"):
        report = model.report(sentences, **options)
    else:
        from keras_tagging.models.report import exported_report  # without Keras

        report = exported_report(model, sentences, **options)
    if report.warning:
        warn(report.warning)
    if as_json:
        content = {"corpus": corpus, "split": split, **report.counting}
        content["figures"] = report.figures
        others = {"tags": report.tags, "tag_accuracy": report.tag_accuracy}
        others["figures_with_gold_tags"] = report.with_gold_tags
        content |= {name: value for name, value in others.items() if value is not None}
        content |= {name: records(table) for name, table in report.tables.items()}
        print(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        texts = (
            levels_table(table)
            if name == "multi_tagging"
            else percentages(table, SHARES)
            for name, table in report.tables.items()
        )
        head = overall(split, report, model.lower_is_better)
        print("\n\n".join([head, *texts]))


def overall(split: str, report, lower_is_better=()) -> str:
    """The figures of a split; of a parser, with the tags that it reads."""
    rows = {split: report.figures}
    if report.with_gold_tags:
        rows = {f"{split}, predicted tags": report.figures}
        rows[f"{split}, gold tags"] = report.with_gold_tags
    lines = [figures(rows, lower_is_better)]
    if report.tags:
        right = report.tag_accuracy
        share = "" if right is None else f", {right:.2%} of them right"
        lines.append(f"It {report.tags}{share}")
    return "\n".join(lines)


def load_evaluated(run: Path):
    """A model, or a pipeline; those of ONNX files run without Keras."""
    from keras_tagging.runtime.folder import is_onnx  # with NumPy

    path = find_model(run, to_run=True)
    if not is_onnx(path):
        return load_model(run, pipeline=True)
    from keras_tagging.pipelines.any_model import load

    return load(path)


def evaluate_pipeline(
    pipeline, corpus, split, entities, reading: Reading, as_json
) -> None:
    """Print the scores of a pipeline on the text of a treebank."""
    wanted, default = kinds_reading(pipeline.parts), "conllu"
    if pipeline.gives_derivations and holds_derivations(corpus, reading.format):
        wanted, default = {}, None
    _, sentences = reading.split(corpus, split, default=default, **wanted)
    if entities is not None:
        if NER not in pipeline.columns:
            raise ValueError(f"no tagger of the pipeline gives {NER!r}, for --entities")
        one = Corpus(**{"train": [], split: sentences}, name=corpus)
        add_entities(one, entities)
        sentences = getattr(one, split)
    scores = pipeline.scores(sentences)
    if not as_json:
        print(f"{split}\n{scores_table(scores)}")
        return
    figures = {
        name: {key: getattr(counts, key) for key in ("precision", "recall", "f1")}
        for name, counts in scores.items()
    }
    print(json.dumps({"corpus": corpus, "split": split, "figures": figures}, indent=2))
