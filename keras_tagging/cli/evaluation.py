"""Commands that measure models on a corpus: evaluate, analyse, compare."""

import json
from dataclasses import asdict, dataclass
from glob import glob
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
    set_beam,
    with_columns,
)
from keras_tagging.cli.options import (
    AsJson,
    BeamWidth,
    CorpusPath,
    Entities,
    Punctuation,
    Run,
    Split,
    refuse,
)
from keras_tagging.cli.output import figures, percentages, records, scores_table, warn
from keras_tagging.corpora.entities import add_entities
from keras_tagging.data import Corpus
from keras_tagging.data.records import CorpusError
from keras_tagging.data.sentence import NER
from keras_tagging.utils.named_models import find_model

#: the columns of tables that are shares
SHARES = ("precision", "recall", "f1", "uas", "las")
SHARES += ("labelled_precision", "labelled_recall", "word", "sent")


@dataclass(frozen=True)
class Tables:
    """The tables of a report, beside the figures, and how they are counted.

    Args:
        multi_tagging: Several tags a word, as a table.
        betas: Levels of --multi-tagging, such as 0.1,0.01.
        per_tag: Figures for every tag, or chunk type.
        subtypes: nsubj:pass is not nsubj.
        tables: By relation, sentence length and distance.
    """

    multi_tagging: bool = False
    betas: str | None = None
    per_tag: bool = False
    punctuation: Punctuation = None
    subtypes: bool = False
    tables: bool = False

    @property
    def options(self) -> dict:
        """The options of `report`."""
        levels = self.betas and [float(beta) for beta in self.betas.split(",")]
        return {**vars(self), "betas": levels}


def evaluate(
    run: Run,
    corpus: CorpusPath,
    *,
    split: Split = "test",
    entities: Entities = None,
    reading: Reading,
    beam_width: BeamWidth = None,
    tables: Tables,
    as_json: AsJson = False,
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
    """
    # which are for ONNX files without Keras
    from keras_tagging.pipelines.any_model import load
    from keras_tagging.runtime.folder import is_onnx

    path = find_model(run, to_run=True)
    model = load(path) if is_onnx(path) else load_model(run, pipeline=True)
    kind = kinds.of(model)
    if kind.composed:
        others = {**tables.options, "beam_width": beam_width}
        refuse(f"{run} holds a pipeline, which has no", others)
        evaluate_pipeline(model, corpus, split, entities, reading, as_json)
        return
    refuse(f"{run} holds a {kind}, which has no", {"entities": entities})
    set_beam(run, model, beam_width)
    options = refuse_others(run, model, tables.options)
    _, sentences = reading.split(corpus, split, **kind.reading)
    sentences = gold_sentences(model, sentences)
    if hasattr(model, "report"):
        report = model.report(sentences, **options)
    else:
        from keras_tagging.models.report import figures_alone  # without Keras

        report = figures_alone(model, sentences, **options)
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
        return
    rows = {split: report.figures}
    if report.with_gold_tags:  # of a parser with a tagger of its own
        rows = {f"{split}, predicted tags": report.figures}
        rows[f"{split}, gold tags"] = report.with_gold_tags
    print(figures(rows, model.lower_is_better))
    if report.tags:
        right = report.tag_accuracy
        share = "" if right is None else f", {right:.2%} of them right"
        print(f"It {report.tags}{share}")
    for table in report.tables.values():
        print(f"\n{percentages(table, SHARES)}")


def evaluate_pipeline(
    pipeline, corpus, split, entities, reading: Reading, as_json
) -> None:
    """Print the scores of a pipeline on the text of a treebank."""
    wanted = kinds_reading(pipeline.parts)
    wanted |= {"derivations": False, "default": "conllu"}
    if pipeline.gives_derivations and holds_derivations(corpus, reading.format):
        wanted = {}
    try:
        _, sentences = reading.split(corpus, split, **wanted)
    except CorpusError as error:
        if not wanted or not Path(corpus).exists():
            raise
        last = [*pipeline.parts][-1]
        remedy = f"a pipeline needs CoNLL-U; for gold words evaluate its {last} file"
        raise CorpusError(f"{error}. {remedy}") from None
    if entities is not None:
        if NER not in pipeline.columns:
            raise ValueError(f"no tagger of the pipeline gives {NER!r}, for --entities")
        one = Corpus(**{"train": [], split: sentences}, name=corpus)
        add_entities(one, entities)
        sentences = getattr(one, split)
    scores = pipeline.scores(sentences)
    if as_json:
        shares = ("precision", "recall", "f1")
        rows = {
            k: {name: getattr(x, name) for name in shares} for k, x in scores.items()
        }
        content = {"corpus": corpus, "split": split, "figures": rows}
        print(json.dumps(content, indent=2))
    else:
        print(f"{split}\n{scores_table(scores)}")


def analyse(
    run: Run,
    corpus: CorpusPath,
    *,
    split: Split = "test",
    out: Annotated[Path | None, typer.Option(metavar="FILE.html")] = None,
    reading: Reading,
    beam_width: BeamWidth = None,
    punctuation: Punctuation = None,
    subtypes: bool = False,
    rows: Annotated[int, typer.Option(min=1)] = 25,
) -> None:
    """Analyse the errors of a model, and write the result as one HTML file.

    The page shows confusions, the share of right tokens by gold label, by frequency of
    the word in training and by sentence length, and the worst sentences. It opens
    offline. The frequencies are those of the corpus's training sentences.

    Examples:
        keras-tagging analyse runs/demo --corpus demo
        keras-tagging analyse runs/parser --corpus ud-en-ewt --split dev --out ewt.html

    Args:
        out: Default: analysis-SPLIT.html beside the model.
        subtypes: nsubj:pass is not nsubj.
        rows: Rows to show of each table.
    """
    model = load_model(run, beam_width)
    counting = {"punctuation": punctuation, "subtypes": subtypes}
    counting = refuse_others(run, model, counting)
    from keras_tagging.experiments import analysis as analyses

    columns = dict(kinds.of(model).reading, surfaces=False)
    data, sentences = reading.split(corpus, split, **columns)
    sentences = list(with_columns(model, sentences))
    counting["title"] = f"Error analysis: {run} on {corpus}, {split} sentences"
    analysis = analyses.analyse(model, sentences, data.train, **counting)
    folder = run if run.is_dir() else run.parent
    for warning in analysis.warnings:
        warn(warning)
    print(percentages(analysis.overall, ["value", "low", "high"]))
    path = analysis.to_html(out or folder / f"analysis-{split}.html", rows)
    print(f"\nWritten to {path}")


SIDE = (
    "The --out of train, a .keras file, the folder of an ensemble, or in quotes a "
    "pattern that fits one model for each seed."
)


def compare(
    first: Annotated[str, typer.Argument(metavar="FIRST", help=SIDE)],
    second: Annotated[
        str,
        typer.Argument(metavar="SECOND", help="The same; as many models as FIRST."),
    ],
    corpus: CorpusPath,
    *,
    split: Split = "test",
    reading: Reading,
    figure: str | None = None,
    beta: float | None = None,
    units: Literal["tokens", "sentences"] | None = None,
    punctuation: Punctuation = None,
    beam_width: BeamWidth = None,
    resamples: Annotated[int, typer.Option(min=1)] = 9999,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare two models on a corpus, and test the difference between them.

    Print a figure of both, the difference, and the p-value of a paired permutation
    test: how often a difference is as large if the answers of the two are exchanged at
    random, unit by unit. Where a side is a pattern, figures are means over its models.

    Examples:
        keras-tagging compare runs/gru runs/lstm --corpus path/to/corpus
        keras-tagging compare "runs/gru-*" "runs/lstm-*" --corpus my.conll --units
            sentences
        keras-tagging compare runs/a runs/b --corpus ud-en-ewt --figure uas --split dev

    Args:
        figure: accuracy, f1, word or sent for taggers, upos_accuracy for one of several
            columns, uas or las for parsers; labelled, dependencies and others for CCG
            parsers. By default the one that selects the best epoch.
        beta: The level of word and sent: tags are kept down to this share of the best.
        units: What is exchanged. The tokens of a sentence depend on each other, so
            sentences are stricter. By default tokens for accuracy and word; other
            figures have sentences alone.
        resamples: Number of random exchanges.
        seed: Of the exchanges.
    """
    names = (first, second)
    paths = [runs(name) for name in names]
    sides = [[load_model(path, beam_width) for path in side] for side in paths]
    columns = dict(kinds.of(sides[0][0]).reading, surfaces=False)
    _, sentences = reading.split(corpus, split, **columns)
    for name, models in zip(names, sides, strict=True):
        for model in models:
            refuse_others(Path(name), model, {"punctuation": punctuation})
            sentences = gold_sentences(model, sentences)
    from keras_tagging.experiments import comparison

    result = comparison.compare(
        *sides,
        sentences,
        figure,
        beta=beta,
        units=units,
        punctuation=punctuation or "keep",
        resamples=resamples,
        seed=seed,
    )
    print(json.dumps(asdict(result), indent=2) if as_json else result)


def runs(pattern: str) -> list[Path]:
    """The models of a side: a path or a name, or the models that fit a pattern.

    Raises:
        ValueError: for a pattern that fits nothing.
    """
    if Path(pattern).exists() or not set(pattern) & set("*?["):
        return [Path(pattern)]
    paths = sorted(map(Path, glob(pattern)))
    # beside a .keras file are its metadata, and perhaps an .onnx file
    models = [path for path in paths if path.is_dir() or path.suffix == ".keras"]
    if not models:
        raise ValueError(f"{pattern}: no .keras file and no folder fits this pattern")
    return models
