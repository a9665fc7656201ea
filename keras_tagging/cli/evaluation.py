"""The command that counts what a model gets right: evaluate."""

import json
import sys
from typing import Annotated, Literal

import typer

from keras_tagging.cli.common import (
    BeamWidth,
    CorpusPath,
    Errors,
    Format,
    Options,
    Run,
    is_parser,
    load_model,
    one_line,
    open_split,
    refuse,
)
from keras_tagging.cli.output import (
    figures,
    levels_table,
    percentages,
    records,
    tag_table,
    unknown_tags,
    without_nan,
)
from keras_tagging.cli.treebanks import with_columns


def evaluate(
    run: Run,
    corpus: CorpusPath,
    split: Annotated[
        Literal["train", "dev", "test"],
        typer.Option(help="What to evaluate on; a single file is the test data."),
    ] = "test",
    format: Format = None,
    option: Options = None,
    errors: Errors = "raise",
    beam_width: BeamWidth = None,
    multi_tagging: Annotated[
        bool, typer.Option("--multi-tagging", help="Several tags a word, as a table.")
    ] = False,
    betas: Annotated[
        str | None, typer.Option(help="Its levels, such as 0.1,0.01.")
    ] = None,
    per_tag: Annotated[
        bool, typer.Option("--per-tag", help="Figures of every tag, or chunk type.")
    ] = False,
    punctuation: Annotated[
        Literal["keep", "ptb", "unicode"] | None,
        typer.Option(
            help="Of a parser: count it (CoNLL 2018), or leave it out by the gold tags "
            "of the Penn Treebank, or by its characters (CoNLL-X). Default: keep."
        ),
    ] = None,
    subtypes: Annotated[
        bool, typer.Option("--subtypes", help="nsubj:pass is not nsubj.")
    ] = False,
    tables: Annotated[
        bool,
        typer.Option("--tables", help="By relation, sentence length and distance."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare a model's tags or trees with the gold ones of a corpus.

    Of a parser: the shares of right heads (uas), of right heads with right labels
    (las), of right labels, and of sentences without an error (ucm, lcm).
    """
    model = load_model(run, beam_width)
    parser = is_parser(model)
    of_taggers = {"multi_tagging": multi_tagging, "betas": betas, "per_tag": per_tag}
    of_parsers = {"punctuation": punctuation, "subtypes": subtypes, "tables": tables}
    if parser:
        refuse(f"{run} holds a parser, which has no", of_taggers)
    else:
        refuse(f"{run} holds a tagger, which has no", of_parsers)
    reading = {"trees": parser, "errors": errors}
    _, sentences = open_split(corpus, split, format, option, **reading)
    if parser:
        counting = {"punctuation": punctuation or "keep", "subtypes": subtypes}
        scores, found = parser_report(model, sentences, tables, **counting)
    else:
        levels = levels_of(betas) if betas else None
        scores, found = tagger_report(
            model, sentences, multi_tagging or betas, levels, per_tag
        )
        counting = {}
    if as_json:
        report = {"corpus": corpus, "split": split, **counting, "figures": scores}
        report |= {name: records(table) for name, (table, _) in found.items()}
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        texts = (text for _, text in found.values())
        print("\n\n".join([figures({split: scores}), *texts]))


def levels_of(betas: str) -> list[float]:
    try:
        return [float(beta) for beta in betas.split(",")]
    except ValueError:
        raise ValueError(f"--betas {betas!r}: give numbers, 0.1,0.01") from None


# Figures, and further tables by their names in JSON, each with its text


def tagger_report(model, sentences, several, betas, per_tag) -> tuple[dict, dict]:
    if unknown := unknown_tags(model.tags, sentences):
        sys.stderr.write(one_line("warning", unknown))
    scores = without_nan(model.evaluate(sentences, return_dict=True))
    tables = {}
    if several:
        levels = {"betas": betas} if betas else {}
        table = model.multi_tagging(sentences, **levels)
        tables["multi_tagging"] = table, levels_table(table)
    if per_tag:
        table = tag_table(model, sentences)
        text = percentages(table, ["precision", "recall", "f1"])
        tables["per_tag"] = table, text
    return scores, tables


def parser_report(model, sentences, further, **counting) -> tuple[dict, dict]:
    found = model.scores(list(with_columns(model, sentences)), **counting)
    scores = without_nan({name: getattr(found, name) for name in model.figures})
    tables = {}
    if further:
        shares = ["precision", "recall", "f1", "uas", "las"]
        shares += ["labelled_precision", "labelled_recall"]
        for name in ("by_relation", "by_sentence_length", "by_distance"):
            table = getattr(found, name)()
            tables[name] = table, percentages(table, shares)
    return scores, tables
