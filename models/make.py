"""Put a trained pipeline into the distribution of a model, with its card.

    keras-tagging train pipeline --corpus ud-en-ewt --out runs/en-1 --seed 1
    python models/make.py en runs/en-1 runs/en-2 runs/en-3

    keras-tagging train ccg-shift-reduce --corpus TREEBANK --out runs/ccg-1 --seed 1
    python models/make.py en-ccg runs/ccg-1 --corpus TREEBANK

    python models/make.py en      # the model that is there, with rules learnt anew
    python models/make.py en --segmenter runs/segmenter.keras    # of segmenter.py
    python models/make.py en-ccg --onnx    # its ONNX files alone, of the model there
    python models/make.py en --card        # its cards alone, with the figures there
    python models/make.py en runs/en-1 --words 50000    # with fewer vectors
    python models/make.py en runs/en-1 --also GUM    # with a column of its figures

The first run is the model; the others, of other seeds, are for the spread of the
figures. Where `models/NAME/about.json` names a `lexicon` (`wordnet.py` makes one), the
parsers learn what their answers keep to with it, and the figures are computed anew; no
weight changes. That file has what no run can tell: language, licence, corpus, limits,
an example for the README, and for runs of a tagger or CCG parser alone the `parts` that
go before it, each with the name of the model here that has it. The list of files names
that model, which must be installed, too; its files are not written again. The figures
of such a run are those of gold words, which these parts annotate. The weights are
stored in half precision, rounded to 7 bits, and the figures that the development
sentences have with them are printed beside those of the run. With `--words N` the
models keep the first N words of their pretrained vectors and those of the training
sentences, and the figures are computed anew. The same model is stored as ONNX files,
for those who only run it. The cards are `card.json` and `README.md` in the package, the
latter with the metadata that hubs read, and `README.rst`.
"""

import argparse
import json
import os
import shutil
import statistics
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import keras_tagging
from keras_tagging.corpora.entities import add_entities
from keras_tagging.data.lemmas.rules import read_lexicon
from keras_tagging.models.files.run_folder import METADATA
from keras_tagging.runtime.folder import (
    CHECKSUM,
    FOLDERS,
    MODEL,
    PIPELINE,
    SUFFIXES,
    WITH_MODELS,
    list_of,
)
from keras_tagging.utils.stored import sha256_of

HERE = Path(__file__).parent
PARSER = "parser.metadata.json"
FIGURES = {
    "tokens": "tokens",
    "sentences": "sentences",
    "words": "words",
    "upos": "UPOS",
    "xpos": "XPOS",
    "feats": "FEATS",
    "lemma": "LEMMA",
    "uas": "UAS",
    "las": "LAS",
    "entities": "entities",
    "entities_of_gold_words": "entities, gold words",
    "accuracy": "tags",
    "oov_accuracy": "tags, unseen words",
    "supertags": "tags of derivations",
    "labelled": "brackets, F1",
    "dependencies": "dependencies, F1",
    "exact": "exact derivations",
    "coverage": "sentences with a derivation",
}
RAW_TEXT = "Figures of the CoNLL 2018 shared task, from raw text, F1 in per cent"
GOLD_WORDS = "Shares of what is right in per cent, gold words"
CARD = """\
{title}
{line}

A model of keras_tagging, to be loaded by its name. From a clone of its repository::

    pip install . {folders}
    echo "{example}" | keras-tagging annotate {name}

{description}

* Language: {language}
* Licence: {licence}
* Corpus: {corpus}
* Please cite: {citation}
* Trained with: ``{command}``, {seeds}
* Limits: {limits}

{figures_are}: {spread}.

{table}
"""


HUB = """\
---
language: {code}
license: {spdx}
library_name: keras_tagging
pipeline_tag: token-classification
model-index: {index}
---

# {title}: {summary}

{description}

    pip install . {folders}    # in a clone of keras_tagging
    keras-tagging annotate {name} FILE

* Licence: {licence}
* Corpus: {corpus}
* Please cite: {citation}
* Limits: {limits}
"""
#: the headings of the figures of the splits
COLUMNS = {"dev": "Development", "test": "Test"}
#: of weights that are stored
BITS = 7
#: what hubs call the licences
SPDX = {"CC BY-SA 4.0": "cc-by-sa-4.0", "LGPL-LR": "lgpl-lr"}


def hub_card(name: str, card: dict) -> str:
    """The text of a card for hubs, whose metadata is JSON in the place of YAML.

    Args:
        name: of the model.
        card: the content of `card.json`.
    """
    task = {"type": "token-classification", "name": card["summary"]}
    test = {"type": card["treebank"], "name": card["corpus"].split(" (")[0]}
    results = [
        {
            "task": task,
            "dataset": test if part == "test" else {"type": part, "name": part},
            "metrics": [
                {"type": key, "name": FIGURES[key], "value": float(value.split()[0])}
                for key, value in figures.items()
            ],
        }
        for part, figures in card["figures"].items()
        if part != "dev"
    ]
    index = json.dumps([{"name": name, "results": results}], ensure_ascii=False)
    code = card["language"].partition("(")[2].rstrip(")")
    spdx = SPDX[card["licence"].partition(",")[0]]
    own = {"name": name, "folders": folders_of(name, card), "index": index}
    return HUB.format(code=code, spdx=spdx, **own, **card)


def folders_of(name: str, card: dict) -> str:
    """The folders of the distributions that a model needs, and its own."""
    names = [*dict.fromkeys(card.get("parts", {}).values()), name]
    return " ".join(f"./models/{each}" for each in names)


def write_cards(root: Path, card: dict, example: str, gold_words: bool) -> None:
    """Write the cards of a model: `card.json`, `README.md` and `README.rst`.

    Args:
        root: the folder of its distribution.
        card: the content of `card.json`.
        example: a sentence.
        gold_words: whether its figures are those of gold words.
    """
    package, seeds = root / card["package"], card["seeds"]
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    (package / "card.json").write_text(text, encoding="utf-8")
    hub = hub_card(root.name, card)
    (package / "README.md").write_text(hub, encoding="utf-8")
    command = card["command"]
    if "--seed" not in command:
        command += " --seed SEED"
    several = "mean and standard deviation over the seeds"
    readme = CARD.format(
        line="=" * len(card["title"]),
        name=root.name,
        folders=folders_of(root.name, card),
        example=example,
        figures_are=GOLD_WORDS if gold_words else RAW_TEXT,
        spread=several if "," in seeds else "one seed",
        table=table_of(card["figures"]),
        **{
            **card,
            "command": command,
            "seeds": seeds if "," in seeds else f"seed {seeds}",
        },
    )
    (root / "README.rst").write_text(readme, encoding="utf-8")


def spread(values: list[float]) -> str:
    mean = f"{100 * statistics.mean(values):.2f}"
    return f"{mean} ± {100 * statistics.stdev(values):.2f}" if values[1:] else mean


def figures_of(runs: list[dict]) -> dict[str, dict[str, str]]:
    """Mean and standard deviation of each figure, by split."""
    return {
        split: {
            key: spread([run["scores"][split][key] for run in runs])
            for key in FIGURES
            if key in scores
        }
        for split, scores in runs[0]["scores"].items()
    }


def table_of(figures: dict) -> str:
    """The figures as a table in reStructuredText."""
    rows = [["Figure", *(COLUMNS.get(name, name) for name in figures)]]
    for key in figures["dev"]:
        rows.append([FIGURES[key], *(own.get(key, "") for own in figures.values())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def check_halved(evaluate, sentences, before: dict) -> None:
    """Print the figures that half precision changes, on the development sentences."""
    for key, value in evaluate(sentences).items():
        if key in FIGURES:
            kept = f"{100 * before[key]:.2f}"
            print(f"{key}: {kept}, in half precision {100 * value:.2f}")


def pipeline_of(run: Path, given: dict) -> keras_tagging.Pipeline:
    """The pipeline of a run; a single model has other parts before it.

    Args:
        run: the folder of a pipeline or of a model.
        given: these parts by name; {} for a run that is a pipeline.
    """
    model = keras_tagging.load(run)
    # what was a path is nobody's business
    parts = [model] if given else [*model.parts.values()]
    for known in (model.metadata, *(part.metadata for part in parts)):
        for trained in (known, known.get("started_from", {})):
            if corpus := trained.get("corpus"):
                corpus["name"] = Path(corpus["name"]).name
    for part in parts:
        files = {k: part.settings.get(k) for k in ("vectors", "word_classes")}
        names = {k: Path(file).name for k, file in files.items() if file}
        part.settings = part.settings.replaced(**names)
    if not given:
        return model
    metadata = {key: model.metadata[key] for key in ("corpus", "scores")}
    own = {model.kind.replace("-", "_"): model}
    pipeline = keras_tagging.Pipeline(**given, **own)
    pipeline.metadata = metadata
    return pipeline


def round_weights(pipeline) -> None:
    """Leave 7 bits of each weight, which a wheel then stores in less.

    They are more precise than the ONNX files of 8 bits, whose rows share a scale.
    """
    for model in pipeline.parts.values():
        for weight in model.weights:
            if weight.dtype == "float32":
                values, exponents = np.frexp(np.asarray(weight))
                rounded = np.ldexp(np.round(values * 2**BITS) / 2**BITS, exponents)
                weight.assign(rounded)


def with_segmenter(pipeline, segmenter):
    """The pipeline with another segmenter."""
    parts = {**pipeline.parts, "segmenter": segmenter}
    changed = keras_tagging.Pipeline(**parts)
    changed.metadata = pipeline.metadata
    return changed


def given_parts(about: dict) -> dict:
    """The models of `parts` in `about.json`, by the name of the part."""
    listed = about.get("parts", {})
    models = {x: keras_tagging.load(package_of(x) / "model") for x in listed.values()}
    return {part: models[name].parts[part] for part, name in listed.items()}


def evaluator_of(pipeline, given: dict):
    """The function that computes figures: from raw text on, or from gold words."""
    return partial(figures_of_words, pipeline, given) if given else pipeline.evaluate


def figures_of_words(pipeline, given: dict, sentences) -> dict[str, float]:
    """The figures of a pipeline on gold words, those of its last model alone.

    The parts before it annotate the words. Of derivations they are those of the whole
    pipeline, where the heads that these parts give choose among them.

    Args:
        pipeline: with a model for each of `given`, and one more.
        given: models by the name of the part.
        sentences: gold ones.
    """
    [last] = (name for name in pipeline.parts if name not in given)
    before = pipeline.only(name for name in given if name != "segmenter")
    found = before.annotate([list(sentence.tokens) for sentence in sentences])
    pairs = zip(sentences, found, strict=True)
    annotated = [replace(gold, columns=own.columns) for gold, own in pairs]
    own = pipeline.parts[last].evaluate(annotated, return_dict=True)
    whole = pipeline.evaluate(sentences)
    return {name: whole.get(name, value) for name, value in own.items()}


def compute_figures(pipeline, splits: dict, given: dict) -> None:
    """Put figures of splits in the place of those that the run had."""
    evaluate = evaluator_of(pipeline, given)
    scores = {split: dict(evaluate(rows)) for split, rows in splits.items()}
    pipeline.metadata = {**pipeline.metadata, "scores": scores}


def replace_files(folder: Path, write, changed: tuple[str, ...]) -> None:
    """Write some files of a pipeline's folder anew; the others stay byte for byte.

    A model holds the date on which it was saved.

    Args:
        folder: that is there.
        write: function that writes the whole pipeline into a folder.
        changed: the beginnings of the names of the files that are taken from it.
    """
    with TemporaryDirectory(dir=folder.parent) as made:
        write(made)
        content = json.loads((Path(made) / PIPELINE).read_text(encoding="utf-8"))
        for path in Path(made).iterdir():
            if path.name.startswith(changed):
                os.replace(path, folder / path.name)
    suffix = SUFFIXES[content["files"]]
    listed = {f"{name}{suffix}": part for name, part in content["parts"].items()}
    for name, part in (listed | content.get("words", {})).items():
        part["sha256"] = sha256_of(folder / name)
    del content[CHECKSUM]
    (folder / PIPELINE).write_text(list_of(content), encoding="utf-8")


def replace_segmenter(pipeline, package: Path) -> None:
    """Write the segmenter of a pipeline into the folders of a model."""
    save = partial(pipeline.save, half_precision=True)
    replace_files(package / "model", save, ("segmenter.",))
    kept = keras_tagging.load(package / "model")
    export = partial(kept.export, format="onnx", int8=True)
    replace_files(package / "onnx", export, ("segmenter.",))


def write_onnx(pipeline, package: Path, given: dict[str, str]) -> None:
    """Write the ONNX files of a model.

    Args:
        pipeline: the model.
        package: of its distribution.
        given: the names of models by those of their parts, which are not written.
    """
    folder = package / FOLDERS["onnx"]
    shutil.rmtree(folder, ignore_errors=True)
    own = pipeline.only(name for name in pipeline.parts if name not in given)
    own.export(folder, format="onnx", int8=True)
    name_parts(folder, given)


def write_keras(pipeline, package: Path, given: dict[str, str]) -> None:
    """Write the Keras files of a model in half precision: see `write_onnx`."""
    folder = package / FOLDERS["keras"]
    shutil.rmtree(folder, ignore_errors=True)
    own = pipeline.only(name for name in pipeline.parts if name not in given)
    round_weights(own)
    own.save(folder, half_precision=True)
    name_parts(folder, given)


def name_parts(folder: Path, given: dict[str, str]) -> None:
    """Let the list of a folder name parts of other models here, before its own."""
    content = json.loads((folder / PIPELINE).read_text(encoding="utf-8"))
    suffix, named = SUFFIXES[content["files"]], {}
    for part, name in given.items():
        file = package_of(name) / folder.name / f"{part}{suffix}"
        named[part] = {MODEL: name, "sha256": sha256_of(file)}
    del content[CHECKSUM]
    if named:
        content["format"] = WITH_MODELS
    content["parts"] = named | content["parts"]
    (folder / PIPELINE).write_text(list_of(content), encoding="utf-8")


def package_of(name: str) -> Path:
    """The folder of the package of a model here."""
    about = json.loads((HERE / name / "about.json").read_text(encoding="utf-8"))
    return HERE / name / about["package"]


def seed_of(run: Path) -> int:
    """The seed of a run, or of the parser of a model."""
    if (run / PARSER).exists():
        return json.loads((run / PARSER).read_text(encoding="utf-8"))["seed"]
    plan = run / "training.json"
    if plan.exists():
        return json.loads(plan.read_text(encoding="utf-8"))["plan"]["seed"]
    return json.loads((run / METADATA).read_text(encoding="utf-8"))["seed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("runs", nargs="*", type=Path, help="without: the model itself")
    parser.add_argument("--corpus", help="of the runs, if it is not one by name")
    parser.add_argument(
        "--words",
        type=int,
        help="of the pretrained vectors to keep, the first N beside training's",
    )
    parser.add_argument("--entities", help="those of the corpus")
    parser.add_argument("--also", nargs="+", default=[], help="other treebanks")
    parser.add_argument("--segmenter", type=Path, help="in the place of the model's")
    parser.add_argument("--card", action="store_true", help="only the cards anew")
    parser.add_argument("--onnx", action="store_true", help="only the ONNX files anew")
    args = parser.parse_args()
    root = HERE / args.name
    about = json.loads((root / "about.json").read_text(encoding="utf-8"))
    package, parts = root / about["package"], about.get("parts", {})
    example = about.pop("example", "Don't panic!")
    if args.card:
        before = json.loads((package / "card.json").read_text(encoding="utf-8"))
        kept = {key: before[key] for key in ("seeds", "figures")}
        write_cards(root, about | kept, example, bool(parts))
        return
    if args.onnx:
        write_onnx(keras_tagging.load(package / "model"), package, parts)
        return
    if args.segmenter and parts:
        parser.error(f"{args.name} has the segmenter of {parts['segmenter']}")
    if args.words is not None and not args.runs:
        parser.error("--words takes vectors out of runs: give them")
    if not args.runs and "lexicon" not in about and not args.segmenter:
        parser.error(f"{root} has no lexicon to learn from: give runs")
    sources, given = args.runs or [package / "model"], given_parts(about)
    # before minutes of work: it fails where a run is no folder
    seeds = ", ".join(str(seed_of(run)) for run in sources)
    pipelines = [pipeline_of(run, given) for run in sources]
    corpus = args.corpus or about["treebank"]
    # the text of the sentences, where a segmenter is measured
    options = {} if given else {"surface": True}
    corpus = keras_tagging.load_corpus(corpus, **options)
    if args.entities:
        add_entities(corpus, args.entities)
    splits = {"dev": corpus.dev, "test": corpus.test}
    for path in args.also:
        other = keras_tagging.load_corpus(path, **options)
        splits[f"{Path(path).name} dev"] = other.dev
    if args.words is not None:
        fewer = {"words": args.words, "keep": corpus.train}
        pipelines = [each.shrink_vectors(**fewer) for each in pipelines]
    if args.segmenter:
        segmenter = keras_tagging.load(args.segmenter)
        pipelines = [with_segmenter(pipeline, segmenter) for pipeline in pipelines]
    for pipeline in pipelines if "lexicon" in about and not args.segmenter else ():
        lexicon = read_lexicon(root / about["lexicon"])
        pipeline.parser.learn_rules(corpus.train, lexicon)
    asked = args.segmenter or args.entities or args.also or args.words is not None
    if given or "lexicon" in about or asked:
        for pipeline in pipelines:
            compute_figures(pipeline, splits, given)
    runs = [pipeline.metadata for pipeline in pipelines]
    if args.runs:
        write_keras(pipelines[0], package, parts)
    elif args.segmenter:
        replace_segmenter(pipelines[0], package)
    else:
        save = partial(pipelines[0].save, half_precision=True)
        replace_files(package / "model", save, ("parser.", "words."))
    kept, dev = keras_tagging.load(package / "model"), corpus.dev
    if not args.segmenter:
        write_onnx(kept, package, parts)
    check_halved(evaluator_of(kept, given), dev, runs[0]["scores"]["dev"])
    figures = figures_of(runs)
    seeds = f"seeds {seeds}, of which the first is this model" if runs[1:] else seeds
    card = {**about, "seeds": seeds, "figures": figures}
    write_cards(root, card, example, bool(given))
    size = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
    print(f"{package}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
