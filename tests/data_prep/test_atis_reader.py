import zipfile

import pytest

from keras_tagging.data import CorpusError, Sentence, write
from preparing.atis import read_atis

CITY = "B-toloc.city_name"
SPLITS = {
    "train": [
        Sentence(["fly", "to", "rome"], ["O", "O", CITY]),
        Sentence(["hi"], ["O"]),
    ],
    "dev": [Sentence(["to", "oslo"], ["O", CITY])],
    "test": [Sentence(["rome", "please"], [CITY, "O"])],
}


def iob(folder, splits=SPLITS, last="O", name="atis.{}.iob"):
    for split, sentences in splits.items():
        lines = [
            f"BOS {' '.join(s.tokens)} EOS\tO {' '.join(s.tags)} {last}\n"
            for s in sentences
        ]
        (folder / name.format(split)).write_text("".join(lines), "utf-8")


def with_intents(folder, splits=SPLITS):
    iob(folder, splits, "atis_flight", "atis.{}.w-intent.iob")


def with_and_without_intents(folder, splits=SPLITS):
    with_intents(folder, splits)
    iob(folder, splits)


def parallel(folder, splits=SPLITS):
    for split, sentences in splits.items():
        path = folder / "atis" / {"dev": "valid"}.get(split, split)
        path.mkdir(parents=True)
        rows = {"in": "tokens", "out": "tags"}
        for end, attribute in rows.items():
            lines = [" ".join(getattr(s, attribute)) + "\n" for s in sentences]
            (path / f"seq.{end}").write_text("".join(lines), "utf-8")
        (path / "label").write_text("atis_flight\n" * len(sentences), "utf-8")


def columns(folder, splits=SPLITS):
    for split, sentences in splits.items():
        write(sentences, folder / f"{split}.txt")


def columns_with_ends(folder, splits=SPLITS):
    marked = {
        split: [
            Sentence(["BOS", *s.tokens, "EOS"], ["O", *s.tags, "atis_flight"])
            for s in sentences
        ]
        for split, sentences in splits.items()
    }
    columns(folder, marked)


def ids(splits):
    words = sorted({t for part in splits.values() for s in part for t in s.tokens})
    labels = sorted({t for part in splits.values() for s in part for t in s.tags})
    words = {word: number for number, word in enumerate([*words, "BOS", "EOS"])}
    labels = {label: number for number, label in enumerate(labels)}

    def rows(part, ends=False):
        found = [], []
        for s in part:
            tokens = ["BOS", *s.tokens, "EOS"] if ends else s.tokens
            tags = ["O", *s.tags, "O"] if ends else s.tags
            found[0].append([words[token] for token in tokens])
            found[1].append([labels[tag] for tag in tags])
        return found

    return words, labels, rows


def ctf(folder, splits=SPLITS):
    words, labels, _ = ids(splits)
    intents = ["|S1 14:1 |# atis_flight  "]
    for split, part in splits.items():
        rows = [
            f"{number}\t|S0 {words[word]}:1 |# {word}\t{intent}"
            f"|S2 {labels[tag]}:1 |# {tag}\n"
            for number, s in enumerate(part)
            for word, tag, intent in zip(
                ["BOS", *s.tokens, "EOS"],
                ["O", *s.tags, "O"],
                intents + [""] * (len(s) + 1),
                strict=True,
            )
        ]
        (folder / f"atis.{split}.ctf").write_text("".join(rows), "utf-8")


def sparse(folder, splits=SPLITS):
    words, labels, rows = ids(splits)
    (folder / "ATIS.vocab").write_text("\n".join(words) + "\n", "utf-8")
    (folder / "ATIS.labels").write_text("\n".join(labels) + "\n", "utf-8")
    for split, part in splits.items():
        lines = [
            f"{number} |PW {before}:1 |CW {word}:1 |NW {after}:1 |L {tag}:1\n"
            for number, (sentence, tags) in enumerate(
                zip(*rows(part, True), strict=True), 1
            )
            for before, word, after, tag in zip(
                [sentence[0], *sentence],
                sentence,
                [*sentence[1:], 0],
                tags,
                strict=False,
            )
        ]
        (folder / f"ATIS.{split}.cntk.sparse").write_text("".join(lines), "utf-8")


FORMS = [
    iob,
    with_intents,
    with_and_without_intents,
    parallel,
    columns,
    columns_with_ends,
    ctf,
    sparse,
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_the_same_corpus(tmp_path, form, packed):
    source = tmp_path / "folder"
    source.mkdir()
    form(source)
    if packed:
        source = tmp_path / "atis.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for path in (tmp_path / "folder").rglob("*.*"):
                archive.write(path, path.relative_to(tmp_path))
    corpus = read_atis(source)
    assert dict(corpus.splits()) == SPLITS
    assert (corpus.name, corpus.format) == (str(source), "atis")


def broken(name, text):
    def change(folder):
        path = next(folder.rglob(name))
        path.write_text(path.read_text("utf-8") + text, "utf-8")

    return change


def without(name):
    return lambda folder: [path.unlink() for path in folder.rglob(name)]


@pytest.mark.parametrize(
    "form, change, message",
    [
        (iob, broken("atis.train.iob", "BOS a EOS\tO\n"), "train.iob:3: 3 words but 1"),
        (iob, without("*train*"), "no file is named train"),
        (parallel, without("seq.out"), "seq.in: has no seq.out beside it; add it"),
        (ctf, broken("*dev.ctf", "a O\n"), "dev.ctf:5: no sentence number before the"),
        (
            sparse,
            without("*.vocab"),
            "sparse:1: '6:1' has no comment with its text; add",
        ),
        (
            sparse,
            lambda folder: (folder / "query.wl").write_text("a\n"),
            "ATIS.vocab, query.wl could each be the list of words; name the folder",
        ),
    ],
)
def test_malformed_files_are_told(tmp_path, form, change, message):
    splits = SPLITS if form is not parallel else {"train": SPLITS["dev"]}
    form(tmp_path, splits)
    change(tmp_path)
    with pytest.raises(CorpusError) as caught:
        read_atis(tmp_path)
    told = str(caught.value)
    assert told.startswith(str(tmp_path)) and "\n" not in told
    assert message in told
