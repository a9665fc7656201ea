"""A segmenter, a tagger and a parser as one model."""

import json
import os
import re
import shutil
from dataclasses import replace
from functools import reduce
from operator import getitem

import pandas as pd
import pytest
from conftest import TINY, WORDS_ONLY, random_tagger
from models.columns import columned
from models.parsers import TRAIN as TREES
from models.parsers import build, random_parser

import keras_tagging
from keras_tagging import Pipeline, Sentence, runtime
from keras_tagging.data.surface import Surface, spaced
from keras_tagging.encoding import batching
from keras_tagging.metrics import chunk_scores
from keras_tagging.models.files import loading
from keras_tagging.runtime.folder import list_of
from keras_tagging.utils.atomic import locked

# the words of sentences with trees, with columns that a tagger learns
NAMES = ("upos", "lemma")
WORDS = [s.tokens for s in TREES[:3]]
TEXT = "".join(f"  {' '.join(words)}\n" for words in WORDS)


class Segmenter:
    """Sentences end at full stops; "n't" is a word of its own."""

    kind = "segmenter"

    def segment(self, text, lines=False):
        self.pieces = 0

        def pieces():
            for piece in text:
                self.pieces += 1
                yield piece

        start, rest = 0, ""
        for piece in pieces():
            rest += piece
            while found := re.match(r"(\s*)([^.]*\.)", rest):
                yield self.sentence(found[2], start + found.end(1))
                start, rest = start + found.end(), rest[found.end() :]

    def sentence(self, text, start):
        spans = [m.span() for m in re.finditer(r"[^\s.]+|\.", text)]
        words = [re.sub("(?=n't$)", " ", text[a:b]).split() for a, b in spans]
        surface = Surface(text, spans, list(map(len, words)), start)
        return Sentence([x for token in words for x in token], surface=surface)


@pytest.fixture(scope="module")
def tagger():
    sentences = [
        Sentence(s.tokens, None, {"pos": s.columns["pos"], "lemma": lemmas})
        for s in TREES
        if (lemmas := [w[:-1].lower() or w for w in s.tokens])
    ]
    return random_tagger(sentences, tags=NAMES)


@pytest.fixture(scope="module")
def parser():
    return random_parser("ffn-parser", tags="pos")


@pytest.fixture(scope="module")
def chunker(train_sentences):
    return random_tagger(columned(train_sentences), tags=("upos", "feats"))


@pytest.fixture(scope="module")
def pipeline(tagger, parser):
    return Pipeline(Segmenter(), tagger, parser)


# Annotation


def test_the_parts_read_what_the_ones_before_give(pipeline, tagger, parser):
    text = "I don't know. \nWho\tknows?! Nobody ."
    found = list(pipeline.annotate(text))
    assert [s.tokens for s in found] == [
        ["I", "do", "n't", "know", "."],
        ["Who", "knows?!", "Nobody", "."],
    ]
    for sentence in found:
        [tags] = tagger.tag([sentence.tokens])
        assert sentence.columns["pos"] == tags["upos"]
        assert sentence.columns["lemma"] == tags["lemma"]
        tagged = Sentence(sentence.tokens, None, {"pos": tags["upos"]})
        [tree] = parser.parse([tagged])
        for name in ("head", "deprel"):
            assert sentence.columns[name] == tree.columns[name]
        for token, (start, end) in zip(
            sentence.surface.tokens, sentence.surface.offsets, strict=True
        ):
            assert text[start:end] == token
    assert found[0].surface.words == [1, 2, 1, 1]
    assert pipeline.columns == ("pos", "lemma", "head", "deprel")


def test_a_text_may_come_in_pieces(pipeline, monkeypatch):
    text = "I know. You know. We know."
    whole = list(pipeline.annotate(text))
    assert list(pipeline.annotate(iter(text))) == whole
    assert list(pipeline.annotate([])) == list(pipeline.annotate("")) == []
    assert list(pipeline.annotate(["I know. ", " You ", "know. We know."]))
    with pytest.raises(ValueError, match="would be joined: use annotate_documents"):
        list(pipeline.annotate(["I do", "n't know."]))
    # few are read ahead
    monkeypatch.setattr(batching, "PREDICTION_SENTENCES", 3)
    next(pipeline.annotate(f"Sentence {i}." for i in range(1_000)))
    assert pipeline.segmenter.pieces <= 4


DOCUMENTS = ["I don't. We do .", "", "Who?", " \n", "A b. C d."]


def test_documents(pipeline, tagger, monkeypatch):
    for each in (pipeline, Pipeline(tagger=tagger), Pipeline(Segmenter())):
        found = list(each.annotate_documents(iter(DOCUMENTS)))
        assert found == [list(each.annotate(text)) for text in DOCUMENTS]
        assert list(each.annotate_documents([])) == []
        assert list(each.annotate_documents(["", " "])) == [[], []]
        [[marked]] = each.annotate_documents(["\ufeffthe dog ."])
        assert marked.tokens[0] == "the" and marked.surface.start == 1
    assert found[4][1].surface.offsets == [(5, 6), (7, 8), (8, 9)]
    monkeypatch.setattr(batching, "PREDICTION_SENTENCES", 3)
    documents = iter([f"Document {i}." for i in range(1_000)])
    next(pipeline.annotate_documents(documents))
    assert next(documents) < "Document 6"


def test_what_are_no_documents(pipeline):
    """They would be annotated letter by letter, or their names would."""
    for wrong in ("I.", {"text": "I."}, pd.DataFrame({"text": ["I."]}), ["I.", ["We"]]):
        with pytest.raises(
            ValueError, match="one text|a dict|no list of texts|not a s"
        ):
            list(pipeline.annotate_documents(wrong))
    for wrong in ({"text": "I."}, [{"tokens": ["I"]}]):
        with pytest.raises(ValueError, match="a dict|no sentence"):
            list(pipeline.annotate(wrong))


def test_sentences_are_not_segmented(pipeline):
    whole = list(pipeline.annotate("I don't. We do ."))
    again = list(pipeline.annotate([s.tokens for s in whole]))
    assert [s.columns for s in again] == [s.columns for s in whole]
    kept = list(
        pipeline.annotate([Sentence(s.tokens, surface=s.surface) for s in whole])
    )
    assert kept == whole


def test_without_a_segmenter_a_line_is_a_sentence(tagger, parser):
    found = list(Pipeline(tagger=tagger).annotate(TEXT))
    assert [s.tokens for s in found] == WORDS
    assert TEXT[slice(*found[1].surface.offsets[0])] == WORDS[1][0]
    assert [s.columns for s in found] == [
        {"pos": tags["upos"], "lemma": tags["lemma"]} for tags in tagger.tag(WORDS)
    ]
    assert list(Pipeline(parser=parser).annotate(TREES[:2])) == parser.parse(TREES[:2])
    with pytest.raises(ValueError, match="no column 'pos'"):
        list(Pipeline(parser=parser).annotate("no tags here"))


def test_tags_without_a_column(train_sentences, tmp_path):
    """They are in the column that the corpus of the tagger had them in, if it says."""
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY)
    model.adapt(train_sentences)
    [sentence] = Pipeline(tagger=model).annotate("the dog")
    assert len(sentence.tags) == 2 and not sentence.columns
    model.metadata["corpus"] = {"tag_column": "upos"}
    Pipeline(tagger=model).export(tmp_path, format="onnx")
    for pipeline in (Pipeline(tagger=model), Pipeline.load(tmp_path)):
        assert pipeline.columns == ("pos",)
        [sentence] = pipeline.annotate("the dog")
        assert sentence.columns["pos"] == sentence.tags


@pytest.fixture(scope="module")
def entities():
    """A tagger of entities that reads what another tagger gives."""
    labels = ["B-PER", "I-PER", "O", "B-LOC"]
    rows = ([labels[i % 4] for i in range(len(s))] for s in TREES)
    sentences = (
        Sentence(s.tokens, None, {**s.columns, "ner": row})
        for s, row in zip(TREES, rows, strict=True)
    )
    return random_tagger(sentences, tags="ner", columns=("pos",))


def test_a_further_tagger(pipeline, tagger, parser, entities):
    """It reads what the first one gives, and its chunks are entities."""
    own = Pipeline(Segmenter(), tagger, parser, entities=entities)
    assert list(own.parts) == ["segmenter", "tagger", "parser", "entities"]
    assert own.columns == (*pipeline.columns, "ner") and own.input_columns == ()
    text, count = "I don't know. \nWho knows?! Nobody in the park .", 0
    for sentence, plain in zip(
        own.annotate(text), pipeline.annotate(text), strict=True
    ):
        read = Sentence(plain.tokens, None, {"pos": plain.columns["pos"]})
        [pairs] = entities.tag([read], probabilities=True)
        tags, values = zip(*pairs["ner"], strict=True)
        assert sentence.columns == {**plain.columns, "ner": [*tags]}
        for entity in sentence.entities:
            words = slice(entity.start, entity.end)
            assert tags[entity.start][2:] == entity.label
            assert entity.probability == pytest.approx(min(values[words]))
            assert text[slice(*entity.characters)] == entity.text
            bare = "".join(sentence.tokens[words])
            assert "".join(entity.text.split()) == bare
            count += 1
    assert count > 2 and own.gives_spans


def test_probabilities_of_labels(tagger, parser, entities):
    """Those that the taggers give alone; heads have none."""
    pipeline = Pipeline(tagger=tagger, parser=parser, entities=entities)
    assert pipeline.probability_columns == ("pos", "lemma", "ner")
    found = [*pipeline.annotate(WORDS, probabilities=True)]
    assert found == [*pipeline.annotate(WORDS)]  # they are not compared
    expected = tagger.tag(WORDS, probabilities=True)
    named = {"pos": "upos", "lemma": "lemma"}
    for sentence, own in zip(found, expected, strict=True):
        assert {*sentence.probabilities} == {"pos", "lemma", "ner"}
        for column, name in named.items():
            values = sentence.probabilities[column]
            pairs = [*zip(sentence.columns[column], values, strict=True)]
            assert pairs == own[name]
        for span in sentence.spans:
            own = sentence.probabilities["ner"][slice(*span.words)]
            assert span.probability == min(own)
    [[first]] = pipeline.annotate_documents(["the dog"], probabilities=True)
    [alone] = pipeline.annotate("the dog", probabilities=True)
    assert first.probabilities == alone.probabilities
    # those of labels that are replaced go with them
    [again] = Pipeline(tagger=tagger).annotate([first])
    assert {*again.probabilities} == {"ner"}
    assert [s.probabilities for s in pipeline.annotate(WORDS)] == [{}] * len(WORDS)
    for model in (parser, Pipeline(parser=parser)):
        with pytest.raises(ValueError, match="no probabilities of words .*tagger"):
            [*model.annotate([first], probabilities=True)]


def test_figures_of_entities(tagger, parser, entities):
    """From the text, whose sentences the segmenter finds, and of the gold words."""
    words = ["Nobody in the park knows . the dog".split(), "barks .".split()]
    rows = [["B-PER", "I-PER", "O", "B-LOC", "B-PER", "O", "B-PER", "I-PER"], ["O"] * 2]
    gold = [
        Sentence(row, None, {"ner": tags}, spaced(row))
        for row, tags in zip(words, rows, strict=True)
    ]
    found = Pipeline(Segmenter(), tagger, parser, entities=entities).scores(gold)
    plain = Pipeline(tagger=tagger, entities=entities)
    own = [s.columns["ner"] for s in plain.annotate(words)]
    assert found["entities_of_gold_words"] == chunk_scores(rows, own)
    assert plain.scores(gold)["entities"].f1 == chunk_scores(rows, own).f1
    assert "entities_of_gold_words" not in plain.scores(gold)
    assert found["sentences"].correct == 0 and found["entities"].gold == 4


def test_several_taggers_of_chunks(chunker, entities):
    """Each has its spans, in the order of the words."""
    words = [Sentence(["Nobody", "in", "the", "park"], None, {"pos": ["N"] * 4})]
    alone = [Pipeline(tagger=model).annotate(words) for model in (chunker, entities)]
    [one], [two] = map(list, alone)
    [both] = Pipeline(tagger=chunker, others=entities).annotate(words)
    assert one.spans and two.spans and {*both.spans} == {*one.spans, *two.spans}
    starts = [span.start for span in both.spans]
    assert starts == sorted(starts)
    [again] = Pipeline(tagger=chunker).annotate([both])
    assert again.spans == one.spans  # not those of before too


def test_what_is_no_pipeline_is_refused(tagger, parser, chunker, entities):
    for parts, message in (
        ({}, "or some of them"),
        ({"tagger": parser}, "tagger= is a Parser, not a tagger"),
        ({"tagger": [tagger, chunker]}, "tagger= is a list, .* such as entities="),
        ({"Ner": tagger}, "Ner= is a Tagger, .* by names in small letters"),
        ({"tagger": tagger, "chunks": chunker}, "several models .* the column 'pos'"),
        (
            {"parser": build("lstm-parser", tags=None), "entities": entities},
            "the entities reads the column 'pos', but those of the others",
        ),
        (
            {"tagger": tagger, "parser": build("lstm-parser", tags="xpos")},
            "reads the column 'xpos', .* lemma, pos:",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            Pipeline(**parts)


# Files


def test_saved_and_loaded(tagger, parser, entities, tmp_path):
    pipeline = Pipeline(tagger=tagger, parser=parser)
    pipeline.save(tmp_path)
    again = keras_tagging.load(tmp_path)
    assert isinstance(again, Pipeline) and set(again.parts) == {"tagger", "parser"}
    assert list(again.annotate(TEXT)) == list(pipeline.annotate(TEXT))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        pipeline.save(tmp_path, overwrite=False)
    # the files of others go
    further = Pipeline(tagger=tagger, entities=entities)
    further.save(tmp_path)
    again = keras_tagging.load(tmp_path)
    assert list(again.parts) == ["tagger", "entities"]
    assert list(again.annotate(TEXT)) == list(further.annotate(TEXT))
    names = {f"{x}.{end}" for x in again.parts for end in ("keras", "metadata.json")}
    assert {path.name for path in tmp_path.iterdir()} == {"pipeline.json", *names}


def test_models_of_the_user_stay(tagger, tmp_path):
    """What no list names is neither removed nor taken for a part."""
    for name in ("parser.keras", "parser.onnx"):
        (tmp_path / name).write_text("mine")
    with pytest.raises(ValueError, match="parser.keras: would be taken for the parser"):
        Pipeline(tagger=tagger).save(tmp_path)
    with pytest.raises(ValueError, match="parser.onnx: would be taken for the parser"):
        Pipeline(tagger=tagger).export(tmp_path, format="onnx")
    own = sorted(path.name for path in tmp_path.iterdir())
    assert own == ["parser.keras", "parser.onnx"]
    (tmp_path / "parser.keras").rename(tmp_path / "tagger.keras")
    with pytest.raises(FileExistsError, match="has tagger.keras: give overwrite=True"):
        Pipeline(tagger=tagger).save(tmp_path, overwrite=False)
    Pipeline(tagger=tagger).save(tmp_path)
    assert (tmp_path / "parser.onnx").read_text() == "mine"


def test_damaged_folders(tagger, tmp_path):
    Pipeline(tagger=tagger).save(tmp_path)
    path = tmp_path / "pipeline.json"
    whole = json.loads(path.read_text())

    def refused(match, **changes):
        path.write_text(list_of({**whole, **changes}))
        with pytest.raises(ValueError, match=match):
            keras_tagging.load(tmp_path)

    described = whole["parts"]["tagger"]
    for version in (7, True, 1.0):
        refused(f"has the format '{version}'", format=version)
    for part, values in {
        "files": [["keras"], None],
        "parts": [{}, {"../tagger": described}, ["tagger"]],
        "words": [None, {"../words.npz": described}],
        "metadata": [[]],
    }.items():
        for value in values:
            refused("does not describe a pipeline", **{part: value})
    refused("tagger.keras: is not the file", parts={"tagger": {"sha256": "0"}})
    refused("tagger.keras: is not the file", format=1, parts={"tagger": 1})
    named = {"model": "no/such", "sha256": described["sha256"]}
    refused("has parts of the model 'no/such': install that", parts={"tagger": named})
    refused("parser.keras: is missing", parts={"tagger": described, "parser": {}})
    path.write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        keras_tagging.load(tmp_path)
    (tmp_path / "tagger.keras").rename(tmp_path / "parser.keras")
    refused("tagger= is|parser= is a Tagger", parts={"parser": described})
    path.unlink()
    for load in (keras_tagging.load, Pipeline.load):
        with pytest.raises(ValueError, match="pipeline.json is missing: copy the"):
            load(tmp_path)


@pytest.fixture(scope="module")
def both(tagger, parser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    pipeline = Pipeline(tagger=tagger, parser=parser)
    pipeline.save(folder / "keras")
    pipeline.export(folder / "onnx", format="onnx")
    return folder


@pytest.fixture
def saved(both, tmp_path):
    """The folder of a pipeline, and one with its ONNX files."""
    shutil.copytree(both, tmp_path / "saved")
    return [tmp_path / "saved" / name for name in ("keras", "onnx")]


def test_a_part_that_the_list_lacks_is_missed(saved):
    for folder in saved:
        path = folder / "pipeline.json"
        whole = json.loads(path.read_text())
        for change in (["parts", "parser"], ["metadata"], ["versions"], ["sha256"]):
            *places, last = change
            content = json.loads(path.read_text())
            del reduce(getitem, places, content)[last]
            path.write_text(json.dumps(content))
            with pytest.raises(ValueError, match="json: its checksum is wrong: copy"):
                keras_tagging.load(folder)
            path.write_text(json.dumps(whole))
        # a list without a checksum, or one that was made for fewer parts
        del whole["parts"]["parser"]
        for version in (1, 2):
            path.write_text(list_of({**whole, "format": version}))
            match = f"parser.{folder.name}: is no part of the pipeline, says pipe"
            with pytest.raises(ValueError, match=match):
                keras_tagging.load(folder)
        (folder / f"parser.{folder.name}").unlink()
        assert set(keras_tagging.load(folder).parts) == {"tagger"}


def test_a_link_leads_nowhere_else(saved, tmp_path):
    for folder in saved:
        elsewhere = tmp_path / f"elsewhere-{folder.name}"
        for name in ("pipeline.json", f"tagger.{folder.name}"):
            folder.joinpath(name).rename(elsewhere)
            folder.joinpath(name).symlink_to(elsewhere)
            match = f"{folder / name}: is a link that leads out of the folder: copy"
            for load in (keras_tagging.load, Pipeline.load):
                with pytest.raises(ValueError, match=match):
                    load(folder)
            folder.joinpath(name).unlink()
            # within the folder it may: so does a mounted volume of Kubernetes
            folder.joinpath("data").mkdir(exist_ok=True)
            elsewhere.rename(folder / "data" / name)
            folder.joinpath(name).symlink_to(f"data/{name}")
        assert set(keras_tagging.load(folder).parts) == {"tagger", "parser"}


def test_a_file_that_is_replaced_after_its_check(saved, monkeypatch):
    """The bytes that were checked are those that are loaded."""
    path = saved[0] / "tagger.keras"
    whole, check = path.read_bytes(), loading.check_model_file

    def checked(stream):
        size = check(stream)
        path.write_bytes(b"another")
        return size

    monkeypatch.setattr(loading, "check_model_file", checked)
    for model in (path, saved[0]):
        path.write_bytes(whole)
        keras_tagging.load(model)
        assert path.read_bytes() == b"another"


def test_a_cache_of_the_hugging_face_hub(saved, tmp_path):
    """Its files are links out of the folder, but not out of the cache's own."""
    snapshot = tmp_path / "models--x--y" / "snapshots" / "1a"
    blobs = snapshot.parent.parent / "blobs"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for path in saved[0].iterdir():
        path.rename(blobs / path.name)
        (snapshot / path.name).symlink_to(f"../../blobs/{path.name}")
    (tmp_path / "link").symlink_to(snapshot)
    for folder in (snapshot, tmp_path / "link"):
        assert set(keras_tagging.load(folder).parts) == {"tagger", "parser"}
    (blobs / "tagger.keras").rename(tmp_path / "tagger.keras")
    (blobs / "tagger.keras").symlink_to(tmp_path / "tagger.keras")
    with pytest.raises(ValueError, match="leads out of the folder"):
        keras_tagging.load(snapshot)


def test_two_do_not_save_in_one_folder(tagger, tmp_path):
    pipeline = Pipeline(tagger=tagger)
    (tmp_path / ".save-other").mkdir()
    with locked(tmp_path, "it is alone", ".saving"):  # as another process does
        with pytest.raises(ValueError, match="another process saves in"):
            pipeline.save(tmp_path)
    assert [*os.listdir(tmp_path)] == [".save-other"]
    pipeline.save(tmp_path)
    assert not (tmp_path / ".save-other").exists()


def test_exported_it_answers_the_same(tagger, parser, entities, tmp_path):
    pipeline = Pipeline(tagger=tagger, parser=parser, entities=entities)
    pipeline.metadata = {"seed": 3}
    assert pipeline.export(tmp_path, format="onnx", top_k=2) == {}
    served = Pipeline.load(tmp_path)
    assert isinstance(served.tagger, runtime.OnnxTagger)
    answers = (p.annotate(TEXT, probabilities=True) for p in (served, pipeline))
    for one, other in zip(*answers, strict=True):
        assert one.columns == other.columns
        assert [*one.probabilities] == ["pos", "lemma", "ner"]
        for name, values in one.probabilities.items():
            assert values == pytest.approx(other.probabilities[name], rel=1e-3)
        for span, like in zip(one.entities, other.entities, strict=True):
            assert span.probability == pytest.approx(like.probability, rel=1e-3)
            assert replace(span, probability=1) == replace(like, probability=1)
    assert served.metadata == {"seed": 3} and served.columns == pipeline.columns
    with pytest.raises(AttributeError, match="no attribute 'save'"):
        served.save(tmp_path / "again")
    with pytest.raises(AttributeError, match="no attribute 'fit'"):
        served.fit([])
    with pytest.raises(ValueError, match="unknown format 'tflite'"):
        pipeline.export(tmp_path, format="tflite")
    # a second export of other parts takes the place of the first
    assert [*Pipeline(Segmenter(), tagger).export(tmp_path, format="onnx")] == [
        "segmenter"
    ]
    assert set(keras_tagging.load(tmp_path).parts) == {"tagger"}
    words = {"words.npz", "words.onnx"}
    assert {*os.listdir(tmp_path)} == {"tagger.onnx", "pipeline.json", *words}
    for parts in ({"segmenter": Segmenter()}, {"tagger": served.tagger}):
        with pytest.raises(ValueError, match="nothing to export: it is exported al"):
            Pipeline(**parts).export(tmp_path, format="onnx")
    pipeline.save(tmp_path / "saved")
    with pytest.raises(ValueError, match="holds a saved pipeline: choose another"):
        pipeline.export(tmp_path / "saved", format="onnx")
