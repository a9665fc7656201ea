"""Pipelines that have a CCG parser: annotated, written, saved, trained, measured."""

import json
import operator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import TINY, randomize
from derivations import GOLD, SETTINGS
from models import biaffine
from models.test_shift_reduce_parser import SETTINGS as BY_MOVES

import keras_tagging
from keras_tagging import Pipeline, Sentence, runtime
from keras_tagging.ccg import Derivation
from keras_tagging.cli import main
from keras_tagging.data import read
from keras_tagging.data.conllu import escaped, read_blocks
from keras_tagging.data.surface import Surface
from keras_tagging.metrics import derivation_scores
from keras_tagging.scale.dataset import Annotator

TEXT = "she sleeps.\n\nthe cat sees a dog ."
WORDS = [["she", "sleeps", "."], ["the", "cat", "sees", "a", "dog", "."]]


class Segmenter:
    kind, name = "segmenter", "tiny"

    def segment(self, text, lines=False):
        spans = [(0, 3), (4, 10), (10, 11)]
        yield Sentence(WORDS[0], surface=Surface("she sleeps.", spans, [1] * 3))
        spans = [(0, 3), (4, 7), (8, 12), (13, 14), (15, 18), (19, 20)]
        surface = Surface("the cat sees a dog .", spans, [1] * 6, 13)
        yield Sentence(WORDS[1], surface=surface)


@pytest.fixture(scope="module")
def tagger():
    model = keras_tagging.build("bigru", **TINY, tags="upos")
    model.adapt([Sentence(w, None, {"pos": [x[0] for x in w]}) for w in WORDS])
    return randomize(model)


@pytest.fixture(scope="module")
def pipeline(ccg_parser, tagger):
    return Pipeline(Segmenter(), tagger, ccg_parser=ccg_parser)


@pytest.fixture(scope="module")
def found(pipeline):
    return list(pipeline.annotate(TEXT))


def program(*args):
    with pytest.raises(SystemExit) as ended:
        main([str(arg) for arg in args])
    return ended.value.code


def test_a_text_gets_derivations_beside_other_columns(pipeline, found, ccg_parser):
    assert [s.tokens for s in found] == WORDS
    expected = ccg_parser.derive(WORDS)
    for sentence, own in zip(found, expected, strict=True):
        trees = [list(x.derivation.nodes()) for x in (sentence, own)]
        assert [n.category for n in trees[0]] == [n.category for n in trees[1]]
        assert sentence.tags == own.tags
        # the tagger's parts of speech are those of the leaves
        leaves = sentence.derivation.leaves
        assert [leaf.pos for leaf in leaves] == sentence.columns["pos"]
    assert pipeline.columns == ("pos", "tags") and pipeline.gives_derivations
    assert repr(pipeline).count("ccg_parser=") == 1
    assert not Pipeline(tagger=pipeline.tagger).gives_derivations


def test_it_derives_words(pipeline, ccg_parser, tagger, found):
    """As its CCG parser does, with the parts of speech of its tagger."""
    derived = pipeline.derive(WORDS)
    assert [s.derivation for s in derived] == [s.derivation for s in found]
    assert [s.columns["pos"] for s in derived] == [s.columns["pos"] for s in found]
    streamed = pipeline.derive(words for words in WORDS)
    assert not isinstance(streamed, list)
    assert [s.derivation for s in streamed] == [s.derivation for s in found]
    ranked = pipeline.derive([*WORDS, []], nbest=2, beta=1e-9)
    alone = ccg_parser.derive([*WORDS, []], nbest=2, beta=1e-9)
    assert [[score for _, score in pairs] for pairs in ranked] == [
        pytest.approx([score for _, score in pairs]) for pairs in alone
    ]
    assert len(ranked[1]) == 2 and [s.tokens for s, _ in ranked[2]] == [[]]
    with pytest.raises(ValueError, match="is a str; a sentence is"):
        pipeline.derive(TEXT)
    with pytest.raises(AttributeError, match="no CCG parser: call annotate"):
        Pipeline(tagger=tagger).derive(WORDS)
    with pytest.raises(ValueError, match="tagger= is a CCGParser, not a tagger"):
        Pipeline(None, ccg_parser)


def test_a_block_keeps_its_lines(found, tmp_path, end="\r\n"):
    rows = [
        f"{i}\t{w}" + "\t_" * 7 + "\tX=1|Tag=old" for i, w in enumerate(WORDS[0], 1)
    ]
    path = tmp_path / "a.conllu"
    derivation = found[0].derivation.auto().strip()
    for head, kept in (
        (["\ufeff# sent_id = 1", "# auto = old"], ["\ufeff# sent_id = 1", "# auto = "]),
        (["\ufeff" + rows[0]], ["\ufeff# auto = "]),
    ):
        own = rows if len(head) == 2 else rows[1:]
        path.write_bytes(end.join([*head, *own, "", ""]).encode())
        [block] = [b for b in read_blocks(path) if b.words]
        assert block.with_columns({}) == path.read_bytes().decode()
        text = block.with_columns({"tags": found[0].tags}, {"auto": derivation})
        start = end.join(kept) + derivation + end
        tag = f"Tag={escaped(found[0].tags[0])}|X=1"
        assert text.startswith(start + rows[0].replace("X=1|Tag=old", tag))


@pytest.fixture(scope="module")
def served(ccg_parser, tagger, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    Pipeline(tagger=tagger, ccg_parser=ccg_parser).export(folder, format="onnx")
    return folder


def test_saved_and_exported(ccg_parser, tagger, served, tmp_path, found):
    Pipeline(tagger=tagger, ccg_parser=ccg_parser).save(tmp_path / "a")
    assert (tmp_path / "a" / "ccg-parser.keras").is_file()
    for folder in (tmp_path / "a", served):
        loaded = keras_tagging.load(folder)
        again = list(loaded.annotate(WORDS))
        assert [s.derivation for s in again] == [s.derivation for s in found]
    with pytest.raises(ValueError, match="nothing to export: its search is in NumPy"):
        Pipeline(ccg_parser=ccg_parser).export(tmp_path / "b")
    part = runtime.load(served).parts["ccg-parser"]
    assert type(part).__name__ == "OnnxCCGParser"


def test_the_command_writes_every_form(served, found, tmp_path, capsys):
    text = tmp_path / "a.txt"
    text.write_text("\n".join(map(" ".join, WORDS)), "utf-8")

    def written(output, *more):
        path = tmp_path / f"out.{output}"
        assert program("annotate", served, text, "--output", output, "-o", path) == 0
        return path.read_text("utf-8")

    written("auto")
    for i, sentence in enumerate(read(tmp_path / "out.auto")):
        assert sentence.derivation.name == str(i + 1)
        assert sentence.derivation.root == found[i].derivation.root
    rows = [json.loads(line) for line in written("jsonl").splitlines()]
    again = [Derivation.from_dict(row["derivation"]) for row in rows]
    assert again == [s.derivation for s in found]
    back = read(tmp_path / "out.jsonl")
    assert [(s.tokens, s.tags) for s in back] == [(s.tokens, s.tags) for s in found]
    assert written("html").count('class="ccg"') == 2
    drawn = [s.derivation.draw() + "\n\n" for s in found]
    assert written("tree") == "".join(drawn)
    conllu = written("conllu")
    assert conllu.count("# auto = (<T") == 2
    source = tmp_path / "b.conllu"
    source.write_text(conllu, "utf-8")
    path = tmp_path / "c.conllu"
    args = ("--input", "conllu", "-o", path)
    assert program("annotate", served, source, *args) == 0
    assert path.read_text("utf-8") == conllu


def test_some_parts_of_a_pipeline(pipeline, served, found, tmp_path, capsys):
    tagged = list(pipeline.only(["segmenter", "tagger"]).annotate(TEXT))
    assert [s.columns for s in tagged] == [s.columns for s in found]
    assert {s.derivation for s in tagged} == {None}
    with pytest.raises(ValueError, match="unknown part 'parser'.*ccg-parser"):
        pipeline.only(["parser"])
    with pytest.raises(ValueError, match="a pipeline has a segmenter, a tagger"):
        pipeline.only([])
    text = tmp_path / "a.txt"
    text.write_text("\n".join(map(" ".join, WORDS)), "utf-8")
    args = ("annotate", served, text, "--parts", "tagger", "--output", "csv")
    assert program(*args) == 0
    [header, *rows] = capsys.readouterr().out.splitlines()
    assert "upos" in header and "tag" not in header.split(",")
    assert len(rows) == sum(map(len, WORDS))


def test_the_command_derives_with_a_pipeline(served, found, tmp_path, capsys):
    text = tmp_path / "a.txt"
    text.write_text("\n".join(map(" ".join, WORDS)), "utf-8")
    more = ("--nbest", 2, "--beta", 1e-9, "--output")
    assert program("derive", served, text, *more, "jsonl") == 0
    printed = capsys.readouterr()
    rows = [json.loads(line) for line in printed.out.splitlines()]
    best = [Derivation.from_dict(row["derivations"][0]) for row in rows]
    assert best == [s.derivation for s in found] and len(rows[1]["derivations"]) == 2
    assert printed.err == ""
    assert program("derive", served, text, *more, "json") == 0
    assert capsys.readouterr().out == printed.out
    for output in ("json", "jsonl"):
        assert program("annotate", served, text, "--output", output) == 0
    assert len({*capsys.readouterr().out.splitlines()}) == 2
    for output, begin in [("tree", "# "), ("html", "<p>")]:
        assert program("derive", served, text, *more, output) == 0
        assert f"{begin}2 of 2, score " in capsys.readouterr().out
    assert program("derive", served, text, "--beam-width", 2) == 2
    assert "--beam-width" in capsys.readouterr().err


def test_datasets_have_a_line_a_sentence(served, found):
    pyarrow = pytest.importorskip("pyarrow")
    annotator = Annotator.__new__(Annotator)
    annotator.pipeline = runtime.load(served)
    lines = [s.derivation.auto().strip() for s in found]
    table = annotator(pyarrow.table({"tokens": [*WORDS, []]}))
    assert table["derivation"].to_pylist() == [*lines, None]
    text = "\n".join(map(" ".join, WORDS))
    table = annotator(pyarrow.table({"text": [text, ""]}))
    assert table["derivation"].to_pylist() == [lines, []]


def test_figures_of_gold_words(pipeline, ccg_parser):
    """Also where there is a segmenter: derivations have no text."""
    wrong = [GOLD[0], GOLD[3]]
    backwards = [GOLD[i].tokens[::-1] for i in (1, 2)]
    for words, i in zip(backwards, (1, 2), strict=True):
        leaves = [
            leaf._replace(word=w)
            for leaf, w in zip(GOLD[i].derivation.leaves, words, strict=True)
        ]
        text = GOLD[i].derivation.auto()
        for old, new in zip(GOLD[i].derivation.leaves, leaves, strict=True):
            text = text.replace(f" {old.word} ", f" #{new.word} ", 1)
        derivation = Derivation.from_auto(text.replace("#", ""))
        tokens = [leaf.word for leaf in derivation.leaves]
        wrong.append(Sentence(tokens, GOLD[i].tags, derivation=derivation))
    figures = pipeline.evaluate(wrong)
    found = [s.derivation for s in ccg_parser.derive([s.tokens for s in wrong])]
    expected = derivation_scores([s.derivation for s in wrong], found)._asdict()
    assert {k: figures[k] for k in expected} == pytest.approx(expected)
    assert 0 < figures["labelled"] < 1 and figures["tokens"] == 1
    scores = pipeline.scores(wrong)
    assert scores["exact"].precision == scores["exact"].recall == expected["exact"]


@pytest.mark.parametrize("column", ["upos", "xpos"])
def test_parts_of_speech_of_gold_derivations(ccg_parser, column):
    """They are compared with the column whose tag set they are of."""
    sets = {"upos": ["PRON", "VERB", "PUNCT"], "xpos": ["PRP", "VBZ", "."]}
    tagger = keras_tagging.build("bigru", **TINY, tags=("upos", "xpos"))
    learnt = {"pos": sets["upos"], "xpos": sets["xpos"]}
    tagger.adapt([Sentence(WORDS[0], None, learnt)])
    pipeline = Pipeline(Segmenter(), randomize(tagger), ccg_parser=ccg_parser)
    gold = replace(GOLD[0], columns={"pos": sets[column]})
    [found] = pipeline.derive([gold.tokens])
    tags = found.columns[{"upos": "pos"}.get(column, column)]
    right = sum(map(operator.eq, tags, sets[column]))
    scores = pipeline.scores([gold, gold])
    assert {"upos", "xpos"} & scores.keys() == {column}
    assert scores[column].f1 == right / 3
    # CoNLL-U names both, also where other parts of speech than universal ones stand
    both = replace(gold, columns={"pos": sets[column], "xpos": sets["xpos"]})
    assert {"upos", "xpos"} <= pipeline.scores([both]).keys()


def with_columns(sentence):
    """With a tree, parts of speech, and the categories as a column."""
    heads = sentence.derivation.heads(by_category=True)
    deprels = ["dep" if head else "root" for head in heads]
    pos = [tag[0] for tag in sentence.tags]
    columns = {"pos": pos, "xpos": sentence.tokens, "supertag": sentence.tags}
    columns |= {"head": [*map(str, heads)], "deprel": deprels}
    return replace(sentence, columns=columns)


def test_moves_read_columns_and_heads_of_a_biaffine_parser(tmp_path):
    gold = [*map(with_columns, GOLD)]
    tags = ("upos", "xpos", "supertag")
    parser = biaffine.build(**biaffine.LEARNING | {"tags": tags, "weight_average": 0.0})
    parser.fit(gold, epochs=20, verbose=0)
    read = {"columns": ("pos", "xpos", "supertag", "deprel"), "head_weight": 1.5}
    by_moves = keras_tagging.build("ccg-shift-reduce", **BY_MOVES | read)
    by_moves.fit(gold, epochs=15, verbose=0)
    pipeline = Pipeline(Segmenter(), parser=parser, ccg_shift_reduce=by_moves)
    parsed, found = parser.annotate(WORDS), list(pipeline.annotate(TEXT))
    assert parsed[1].columns["supertag"] == found[1].tags == GOLD[2].tags
    assert [s.columns for s in found] == [s.columns for s in parsed]
    roots = [s.derivation.root for s in found]
    assert roots == [s.derivation.root for s in by_moves.derive(parsed)]
    scores = []  # of which the tree is a part
    for weight in (0.0, 1.5):
        by_moves.head_weight = weight
        scores.append(by_moves.derive(parsed, nbest=1)[1][0][1])
    assert scores[1] > scores[0] + 1
    pipeline.only(["parser", "ccg-shift-reduce"]).export(tmp_path / "a", format="onnx")
    again = list(runtime.load(tmp_path / "a").annotate(WORDS))
    assert [s.derivation.root for s in again] == roots
    assert [s.columns for s in again] == [s.columns for s in found]


@pytest.mark.usefixtures("eagerly")
def test_trained_from_derivations(ccg_file, tmp_path, capsys):
    corpus, out = tmp_path / "bank", tmp_path / "run"
    corpus.mkdir()
    for split, part in (("train", GOLD[:3]), ("dev", GOLD[:1])):
        text = "".join(s.derivation.auto() for s in part)
        (corpus / f"{split}.auto").write_text(text, "utf-8")
    args = ("train", "pipeline", "--corpus", corpus, "--out", out)
    assert program(*args, "--parts", "segmenter,ccg-parser") == 2
    assert "--segmenter en" in capsys.readouterr().err
    assert program(*args, "--segmenter", ccg_file) == 2
    assert "has no segmenter that can be saved" in capsys.readouterr().err
    other = Path(__file__).parents[1] / "fixtures" / "v0_2" / "pipeline"
    given = [f"--set=ccg-parser.{k}={v}" for k, v in SETTINGS.items() if k != "seed"]
    assert program(*args, "--epochs", 1, *given, "--segmenter", other) == 0
    assert "Exact derivations" in capsys.readouterr().out
    model = keras_tagging.load(out)
    assert list(model.parts) == ["segmenter", "ccg-parser"]
    assert [s.derivation is None for s in model.annotate("she sleeps")] == [False]
    assert model.metadata["scores"]["dev"]["coverage"] <= 1
    assert program("evaluate", out, "--corpus", corpus, "--split", "dev") == 0
    assert "Brackets without labels" in capsys.readouterr().out
    (tmp_path / "a.jsonl").write_text('{"tokens": ["a"]}\n', "utf-8")
    assert program("derive", out, tmp_path / "a.jsonl") == 0
    assert capsys.readouterr().err == ""
    for model, told in ((out, "without a --beam-width"), (other, "has no CCG parser")):
        beam = ("--format", "jsonl", "--beam-width", 2)
        assert program("derive", model, tmp_path / "a.jsonl", *beam) == 2
        assert told in capsys.readouterr().err
