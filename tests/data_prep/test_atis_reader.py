import zipfile

import pytest
from data.test_readers import RENDER

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


def marked(sentences, last="O"):
    """With the words at the beginning and the end of each sentence."""
    return [
        Sentence(["BOS", *s.tokens, "EOS"], ["O", *s.tags, last]) for s in sentences
    ]


def iob(folder, splits=SPLITS, last="O", name="atis.{}.iob"):
    for split, sentences in splits.items():
        lines = [
            f"{' '.join(s.tokens)}\t{' '.join(s.tags)}\n"
            for s in marked(sentences, last)
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
    columns(folder, {split: marked(s, "atis_flight") for split, s in splits.items()})


def ctf(folder, splits=SPLITS):
    for split, part in splits.items():
        text = RENDER["ctf"]([(s.tokens, s.tags) for s in marked(part)])
        text = text.replace(" |S2", " |S1 14:1 |# atis_flight |S2")
        (folder / f"atis.{split}.ctf").write_text(text, "utf-8")


def sparse(folder, splits=SPLITS):
    every = [s for part in splits.values() for s in marked(part)]
    words = sorted({token for s in every for token in s.tokens})
    labels = sorted({tag for s in every for tag in s.tags})
    (folder / "ATIS.vocab").write_text("\n".join(words) + "\n", "utf-8")
    (folder / "ATIS.labels").write_text("\n".join(labels) + "\n", "utf-8")
    for split, part in splits.items():
        lines = [
            f"{number} |PW 0:1 |CW {words.index(word)}:1 |NW 0:1 "
            f"|L {labels.index(tag)}:1\n"
            for number, s in enumerate(marked(part), 1)
            for word, tag in zip(s.tokens, s.tags, strict=True)
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
            "sparse:1: '0:1' has no comment with its text; add",
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
