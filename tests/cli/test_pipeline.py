"""A pipeline on the command line: train, annotate, evaluate, export."""

import json
import random
import sys
from itertools import chain

import pytest
from conftest import WORDS_ONLY

import keras_tagging
from keras_tagging.cli.progress import PipelineProgress
from keras_tagging.data import read
from keras_tagging.data.sentence import text_of

pytestmark = pytest.mark.usefixtures("eagerly", "loaded_once")

# form, lemma, UPOS, XPOS, FEATS, head, deprel
SENTENCES = [
    "Dogs dog NOUN NNS Number=Plur 2 nsubj|bark bark VERB VBP _ 0 root|"
    ". . PUNCT . _ 2 p",
    "A a DET DT _ 2 det|cat cat NOUN NN Number=Sing 3 nsubj|"
    "sleeps sleep VERB VBZ _ 0 root|. . PUNCT . _ 3 p",
    "I I PRON PRP _ 4 nsubj|do do AUX VBP _ 4 aux|n't not PART RB _ 4 advmod|"
    "know know VERB VB _ 0 root|! ! PUNCT . _ 4 p",
    "Paris Paris PROPN NNP Number=Sing 2 nsubj|sleeps sleep VERB VBZ _ 0 root|"
    ". . PUNCT . _ 2 p",
]
SEGMENTER = {"units": 6, "character_dim": 6, "window": 16, "context": 8}
SEGMENTER |= {"batch_size": 64, "min_batches": 0}
TAGGER = {"units": 8, "num_layers": 1, "word_dim": 6, **WORDS_ONLY}
TAGGER |= {"character_network": None}
PARSER = {**TAGGER, "num_layers": 2, "feed_dim": 3, "head_units": 5, "label_units": 4}
SMALL = {
    "segmenter": {**SEGMENTER, "epochs": 1},
    "parser": {**PARSER, "epochs": 2},
}
SETTINGS = [
    option
    for part, settings in SMALL.items()
    for key, value in settings.items()
    for option in ("--set", f"{part}.{key}={value}")
]


def block(words):
    rows = [word.split() for word in words.split("|")]
    lines, text = [], ""
    for number, (form, lemma, pos, xpos, feats, head, deprel) in enumerate(rows, 1):
        misc = "_"
        if rows[number : number + 1] and rows[number][3] in (".", "RB"):
            misc = "SpaceAfter=No"
        if form == "do":
            lines.append(f"{number}-{number + 1}\tdon't" + "\t_" * 8)
        cells = (number, form, lemma, pos, xpos, feats, head, deprel, "_", misc)
        lines.append("\t".join(map(str, cells)))
        text += form + " " * (misc == "_")
    return "\n".join([f"# text = {text.strip()}", *lines, "", ""])


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebank")
    rng = random.Random(1)
    for name, count in (("train", 12), ("dev", 2), ("test", 1)):
        blocks = [block(rng.choice(SENTENCES)) for _ in range(count)]
        (folder / f"x-ud-{name}.conllu").write_text("".join(blocks))
    return folder


@pytest.fixture(scope="module")
def trained(treebank, tmp_path_factory, silently):
    """A run, and what the training printed."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    args = ["--corpus", treebank, "--out", out, "--seed", 1]
    return out, silently("train", "pipeline", *args, *SETTINGS)


@pytest.fixture
def pipeline(trained, loaded_once):
    """To be read, not changed."""
    return keras_tagging.load(trained[0])


def test_it_trains_all_parts(trained):
    out, printed = trained
    assert set(keras_tagging.load(out).parts) == {"segmenter", "parser"}
    lines = printed.split("\n")
    for part, settings in SMALL.items():
        epochs = [line for line in lines if line.startswith(f"{part}: epoch ")]
        assert len(epochs) == settings["epochs"]
    [size] = [line for line in lines if line.startswith("parser: 8 upos, ")]
    assert all(name in size for name in ("xpos", "feats", "lemma"))
    assert "dev" in lines and "test" in lines
    names = [line.split()[0] for line in lines if line.count(".") == 3]
    expected = ["Tokens", "Sentences", "Words", "UPOS", "XPOS", "FEATS", "LEMMA"]
    assert names == [*expected, "UAS", "LAS"] * 2
    for part in SMALL:
        assert (out / part / "training.csv").exists()
        assert not (out / part / "resume.npz").exists()


def test_a_finished_pipeline_is_kept(trained, treebank, failing, program):
    out, _ = trained
    held = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    args = ["train", "pipeline", "--corpus", treebank, "--out", out, "--seed", 1]
    args += SETTINGS
    assert "holds a finished pipeline" in failing(*args)
    assert "holds a finished pipeline" in failing(*args, "--no-resume")
    nowhere = [*args, "--force", "--set", "parser.embeddings=none.txt"]
    assert "none.txt: there is no such file" in failing(*nowhere)
    failing(*args, "--force", "--corpus", treebank / "none")
    failing(*args, "--force", "--set", "parser.units=0")
    assert all(path.read_bytes() == content for path, content in held.items())
    # killed before the end: nothing is trained again
    (out / "pipeline.json").unlink()
    times = [(out / part / "model.keras").stat().st_mtime for part in SMALL]
    code, printed, _ = program(*args)
    assert code == 0 and printed.count("has been trained before") == len(SMALL)
    assert times == [(out / part / "model.keras").stat().st_mtime for part in SMALL]
    # another seed is another pipeline
    (out / "pipeline.json").rename(out / "kept")
    assert "with another plan" in failing(*args, "--seed", 2)
    (out / "kept").rename(out / "pipeline.json")


def test_the_figures_of_a_given_segmenter_are_those_of_the_text(
    trained, treebank, program, tmp_path
):
    args = ["--corpus", treebank, "--out", tmp_path / "run", "--parts", "parser"]
    options = [x for x in SETTINGS if x != "--set" and x.startswith("parser.")]
    options = [part for option in options for part in ("--set", option)]
    segmenter = ["--segmenter", trained[0]]
    code, printed, _ = program("train", "pipeline", *args, *options, *segmenter)
    assert code == 0 and printed.count("Sentences") == 2
    assert set(keras_tagging.load(tmp_path / "run").parts) == {"segmenter", "parser"}


def test_evaluate_starts_from_the_text(trained, treebank, silently, pipeline):
    args = ["evaluate", trained[0], "--corpus", treebank, "--split", "dev"]
    printed = silently(*args, "--json")
    figures = json.loads(printed)["figures"]
    for name, value in pipeline.metadata["scores"]["dev"].items():
        assert figures[name]["f1"] == value
    gold = list(read(treebank / "x-ud-dev.conllu", "conllu", surface=True))
    found = list(pipeline.annotate(text_of(gold)))
    tokens = [{span for s in x for span in s.surface.offsets} for x in (gold, found)]
    right = len(tokens[0] & tokens[1])
    assert figures["tokens"]["recall"] == right / len(tokens[0])
    assert figures["tokens"]["precision"] == right / len(tokens[1])


def test_annotate_text(trained, program, tmp_path):
    text = "Dogs sleep. I don't know!\n\nA cat barks. Wow"
    path = tmp_path / "text"
    path.write_text(text)
    code, printed, _ = program("annotate", trained[0], stdin=text)
    assert code == 0 and printed.startswith("# newdoc\n# newpar\n# sent_id = 1")
    characters = 0
    for line in printed.split("\n"):
        if "TokenRange=" in line:
            cells = line.split("\t")
            start, end = cells[9].split("TokenRange=")[1].split(":")
            assert text[int(start) : int(end)] == cells[1]
            characters += int(end) - int(start)
    assert characters == len("".join(text.split()))
    code, lines, _ = program("annotate", trained[0], path, "--output", "jsonl")
    found = map(json.loads, lines.splitlines())
    tokens = [token for sentence in found for token in sentence["tokens"]]
    assert [text[t["start"] : t["end"]] for t in tokens] == [t["text"] for t in tokens]
    assert set(tokens[0]["words"][0]) >= {"upos", "lemma", "head", "deprel"}
    code, page, _ = program("annotate", trained[0], path, "--output", "html")
    assert page.startswith("<!doctype html>") and page.endswith("</figure>\n")
    assert page.count("<figure>") == page.count("<svg ") == len(lines.splitlines())


def test_annotate_tokens(trained, program):
    options = ["--input", "tokens", "--output", "text"]
    code, printed, _ = program("annotate", trained[0], *options, stdin="a b\nc\n")
    assert code == 0
    words = [[x.split("|")[0] for x in line.split()] for line in printed.splitlines()]
    assert words == [["a", "b"], ["c"]]


def test_annotate_conllu(trained, treebank, program):
    path = treebank / "x-ud-dev.conllu"
    code, printed, _ = program("annotate", trained[0], path, "--input", "conllu")
    assert code == 0
    given, found = path.read_text().split("\n"), printed.split("\n")
    assert len(given) == len(found)
    for one, other in zip(given, found, strict=True):
        one, other = one.split("\t"), other.split("\t")
        changed = {i for i in range(len(one)) if one[i] != other[i]}
        assert changed <= {2, 3, 4, 5, 6, 7}
    args = ["annotate", trained[0], "--input", "conllu"]
    code, again, _ = program(*args, stdin=printed)
    assert again == printed


def test_files_become_files(trained, program, tmp_path):
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for path, text in zip(paths, ("A cat. I don't\nDogs bark", "Paris."), strict=True):
        path.write_text(text)
    args = ["annotate", trained[0], "--input", "lines", "--output", "csv"]
    assert program(*args, *paths, "--out", tmp_path / "out") == (0, "", "")
    header, *rows = (tmp_path / "out" / "one.csv").read_text().splitlines()
    assert header == "sentence,id,text,start,end,upos,xpos,feats,lemma,head,deprel"
    rows = [row.split(",") for row in rows]
    # a line is a sentence, whatever its tokens are
    for line, (begin, end) in (("1", (0, 14)), ("2", (15, 25))):
        own = [row for row in rows if row[0] == line]
        assert own and all(begin <= int(r[3]) < int(r[4]) <= end for r in own)
        assert [int(row[1]) for row in own] == list(range(1, len(own) + 1))
    assert {row[0] for row in rows} == {"1", "2"}
    for path in paths:
        code, alone, _ = program(*args, path)
        assert alone == (tmp_path / "out" / f"{path.stem}.csv").read_text()
        assert alone.startswith(header)
    one = tmp_path / "one.conllu"
    assert program("annotate", trained[0], paths[0], "-o", one) == (0, "", "")
    assert one.read_text() == program("annotate", trained[0], paths[0])[1]


def test_probabilities(trained, pipeline, program, failing):
    args = ["annotate", trained[0], "--probabilities", "--input", "tokens", "--output"]
    code, printed, _ = program(*args, "jsonl", stdin="Dogs sleep .")
    assert code == 0
    found = [w for t in json.loads(printed)["tokens"] for w in t["words"]]
    [own] = pipeline.annotate([["Dogs", "sleep", "."]], probabilities=True)
    names = {"upos": "pos"}
    names |= {name: name for name in ("xpos", "feats", "lemma", "head", "deprel")}
    for name, column in names.items():
        values = [round(p, 6) for p in own.probabilities[column]]
        assert [w["probabilities"][name] for w in found] == values
        assert [str(w[name]) for w in found] == own.columns[column]
    shares = [[str(w["probabilities"][name]) for name in names] for w in found]
    _, table, _ = program(*args, "csv", stdin="Dogs sleep .")
    header, *rows = [line.split(",") for line in table.splitlines()]
    assert header[-6:] == [f"{name}_probability" for name in names]
    assert [row[-6:] for row in rows] == shares
    places = [header.index(name) for name in names]
    labels = [[str(w[name]) for name in names] for w in found]
    assert [[row[i] for i in places] for row in rows] == labels
    error = failing(*args, "conllu", stdin="a")
    assert "--probabilities needs --output jsonl or csv: give one\n" in error
    error = failing("annotate", args[1], "b.jsonl")
    assert "b.jsonl: is no running text: give --input conllu or text\n" in error
    args[1] = trained[0] / "segmenter"
    error = failing(*args, "jsonl", stdin="")
    assert "no probabilities of words" in error


def test_a_single_model_annotates(trained, program):
    code, printed, err = program("annotate", trained[0] / "parser", stdin="A cat .\n")
    assert code == 0 and "has no segmenter" in err
    assert [line.count("\t") for line in printed.split("\n")[4:7]] == [9] * 3


def test_the_parser_alone(trained, treebank, program, failing, tmp_path):
    """Other commands take it, and `parse` writes all of its columns."""
    run, path = trained[0] / "parser", treebank / "x-ud-dev.conllu"
    code, parsed, _ = program("parse", run, path)
    assert code == 0
    assert parsed == program("annotate", run, path, "--input", "conllu")[1]
    _, parsed, _ = program("parse", run, stdin="A cat .\n")
    _, annotated, _ = program("annotate", run, stdin="A cat .\n")
    rows = [x.split("\t") for x in parsed.splitlines() + annotated.splitlines()]
    rows = [row[:8] for row in rows if len(row) == 10]
    assert len(rows) == 6 and rows[:3] == rows[3:]
    assert f"biaffine-parser: keras-tagging parse {run}\n" in failing("tag", run)
    assert "without a --beam-width" in failing("parse", run, "--beam-width", 2)
    corpus = ["--corpus", treebank, "--split", "dev"]
    _, text, _ = program("analyse", run, *corpus, "--out", tmp_path / "x.html")
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["uas", "las"]
    for figure in ("las", "upos_accuracy"):
        _, text, _ = program("compare", run, run, *corpus, "--figure", figure)
        assert text.startswith(f"{figure} ") and "difference +0.00" in text


def test_what_annotate_refuses(trained, failing, tmp_path):
    error = failing("annotate", trained[0], "--output", "spans", stdin="a")
    assert "no tagger with chunk tags" in error
    error = failing("annotate", "none", "--input", "conllu", "--output", "brat")
    assert "--output brat needs a text, and no --input conllu" in error
    path = tmp_path / "text"
    path.write_bytes(b"fine\n\xff\n")
    error = failing("annotate", trained[0], path)
    assert f"{path}:2: byte 1 of the line is not utf-8" in error
    assert "pass encoding= with its own, such as 'cp1252'" in error
    error = failing("annotate", trained[0], tmp_path)
    assert f"{tmp_path}: is a folder, which needs --engine ray" in error
    assert "no such file" in failing("annotate", trained[0], tmp_path / "none")
    assert "no such model" in failing("annotate", tmp_path / "none", stdin="a")
    for command in ("tag", "parse"):
        error = failing(command, trained[0], stdin="a")
        assert f"keras-tagging annotate {trained[0]}" in error
    error = failing("analyse", trained[0], "--corpus", "demo")
    files = [f"{trained[0]}/{name}.keras" for name in ("segmenter", "parser")]
    assert f"a single model is needed: name {' or '.join(files)}\n" in error
    args = ["--corpus", "demo", "--out", tmp_path / "new", "--init", trained[0]]
    error = failing("train", "bigru", *args)
    assert "a tagger is needed: it has none\n" in error


NAMES = {"Paris": "B-LOC", "Dogs": "B-PER", "bark": "I-PER"}


@pytest.fixture(scope="module")
def names(treebank, tmp_path_factory):
    """The entities of the treebank."""
    folder = tmp_path_factory.mktemp("names")
    for split in ("train", "dev", "test"):
        rows = [
            [
                f"{i}\t{word}\t{NAMES.get(word, 'O')}"
                for i, word in enumerate(s.tokens, 1)
            ]
            for s in read(treebank / f"x-ud-{split}.conllu")
        ]
        text = "\n\n".join("\n".join(row) for row in rows)
        (folder / f"x-{split}.iob2").write_text(text + "\n")
    return folder


def test_entities(treebank, names, tmp_path, monkeypatch, program, failing):
    """They are a column of the tagger, which is evaluated, and annotates."""
    out = tmp_path / "out"
    run = ["train", "pipeline", "--corpus", treebank, "--parts", "tagger", "--out", out]
    for key, value in {**TAGGER, "epochs": 1}.items():
        run += ["--set", f"tagger.{key}={value}"]
    error = failing(*run, "--entities", treebank)
    assert "its tags, such as" in error and not out.exists()
    (tmp_path / "other.iob2").write_text("1\tParis\tB-LOC\n2\t.\tO\n")
    error = failing(*run, "--entities", tmp_path / "other.iob2")
    assert "other.iob2, train: the texts differ: at character 1 " in error
    run += ["--entities", names]
    code, printed, err = program(*run)
    assert code == 0, err
    pipeline = keras_tagging.load(out)
    monkeypatch.setattr(keras_tagging, "load", lambda path: pipeline)
    assert pipeline.columns[-1] == "ner" and not pipeline.input_columns
    assert pipeline.tagger.chunk_scheme == {"ner": "iob2"}
    evaluated = ["--corpus", treebank, "--split", "train"]
    code, told, _ = program("evaluate", out, *evaluated, "--entities", names, "--json")
    found = json.loads(told)["figures"]["entities"]
    gold = [s.tokens for s in read(treebank / "x-ud-train.conllu")]
    tags = [tag for s in pipeline.annotate(gold) for tag in s.columns["ner"]]
    right = [NAMES.get(word, "O") for row in gold for word in row]
    assert (found["f1"] == 1) == (tags == right)
    texts = ["--input", "conllu", treebank / "x-ud-dev.conllu"]
    code, text, _ = program("annotate", out, *texts)
    assert code == 0
    rows = [row.split("\t") for row in text.splitlines() if row[:1].isdigit()]
    words = [row for row in rows if row[0].isdigit()]
    labels = chain(*(s.columns["ner"] for s in pipeline.annotate(read(texts[-1]))))
    for row, label in zip(words, labels, strict=True):
        assert (f"NER={label}" in row[9]) == (label != "O")


def test_export(trained, treebank, program, failing, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "onnx", None)
        # another test of this process may have imported it
        patch.delitem(sys.modules, "keras_tagging.onnx.model_file", raising=False)
        error = failing("export", trained[0], tmp_path / "none", "--onnx")
        assert "pip install 'onnx>=1.16'" in error
    error = failing("export", trained[0], tmp_path / "all.onnx")
    assert "several files: name a folder" in error
    code, printed, err = program("export", trained[0], tmp_path / "served", "--onnx")
    served = tmp_path / "served"
    assert (code, err) == (0, "")
    small = tmp_path / "small.onnx"
    assert program("export", trained[0] / "parser", small, "--int8")[0] == 0
    assert b"MatMulInteger" in small.read_bytes()
    assert "or give --onnx" in failing("export", trained[0], tmp_path, "--int8")
    assert printed == f"Written to {served}: segmenter, parser\n"
    names = sorted(path.name for path in served.iterdir())
    words = ["words.npz", "words.onnx"]
    assert names == ["parser.onnx", "pipeline.json", "segmenter.onnx", *words]
    text = tmp_path / "text.txt"
    text.write_text("Dogs bark. I don't know! A cat sleeps.\n")
    expected = program("annotate", trained[0], text)
    assert expected[0] == 0 and expected[1].count("\n") > 8
    assert program("annotate", served, text) == expected
    _, segmented, _ = program("annotate", served / "segmenter.onnx", text)
    assert segmented.count("# text") == expected[1].count("# text")
    evaluated = ["--corpus", treebank, "--split", "dev"]
    code, table, _ = program("evaluate", served, *evaluated)
    assert table.split("\n")[0] == "dev" and "Sentences" in table
    assert (
        program("evaluate", trained[0], *evaluated)[:2] == (code, table) == (0, table)
    )
    keras, onnx = (  # the file proves its export
        json.loads(program("evaluate", run, *evaluated, "--json")[1])["figures"]
        for run in (trained[0] / "parser.keras", served / "parser.onnx")
    )
    keras = {k: v for k, v in keras.items() if not k.endswith("oov_accuracy")}
    assert onnx == pytest.approx(keras, abs=1e-5) and len(onnx) > 4
    for options in (["--per-tag"], ["--beam-width", "2"]):
        error = failing("evaluate", served / "parser.onnx", *evaluated, *options)
        assert f"has no {options[0]}" in error or "without a --beam-width" in error
    assert "a pipeline: keras-tagging annotate" in failing("tag", served, text)


# Progress


def test_lines_tell_the_epochs(capsys):
    with PipelineProgress({"tagger": 4, "parser": 2}) as progress:
        progress.skip("parser")
        progress.begin("tagger", 4, "7 tags")
        progress.step(2, 0.5)
        progress.epoch(3, "val_accuracy", 0.5)
        progress.epoch(4, "val_accuracy", None)
    assert capsys.readouterr().out.splitlines() == [
        "parser: has been trained before",
        "tagger: 7 tags, 4 epochs",
        "tagger: epoch 3 of 4  accuracy 50.00",
        "tagger: epoch 4 of 4",
    ]


def test_a_terminal_has_bars(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with PipelineProgress({"tagger": 2, "parser": 1}) as progress:
        progress.skip("parser")
        progress.begin("tagger", 2, "7 tags")
        progress.step(0, 0.5)
        progress.epoch(2, "val_accuracy", 0.5)
    printed = capsys.readouterr().out
    assert "tagger: epoch 2 of 2  accuracy 50.00" in printed
    assert "epoch 2.0 of 2" in printed
