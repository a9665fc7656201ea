"""ATIS, in all the forms in which it circulates."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from keras_tagging.data import Corpus, CorpusError, Sentence, read
from keras_tagging.data.records import sentence_of
from preparing.archives import Member, members
from preparing.splits import SPLITS, split_files

INTEGERS = (".pkl", ".pickle", ".json")  # recognised only to name a remedy
LINES = (".iob", ".conll", ".tsv", ".txt", ".ctf", ".sparse")
LISTS = {"words": ("query.wl", ".vocab"), "labels": ("slots.wl", ".labels")}


def read_atis(source: str | Path) -> Corpus:
    """Read ATIS from a folder, an archive or a file, in any of its forms.

    * `BOS words EOS`, a tab, the labels: `atis-2.train.iob`, `atis.test.w-intent.iob`.
      An intent in the place of EOS's label is left out.
    * A folder for each split, where each line of `seq.in` has the words of a sentence
      and each line of `seq.out` its labels.
    * A word and its label in each row: `train.txt`, `atis.test.conll`.
    * CNTK's text format, `atis.train.ctf`, or `ATIS.train.cntk.sparse` with the texts
      in `ATIS.vocab` and `ATIS.labels`, or `query.wl` and `slots.wl`.

    The split of a file follows from its name, or else from its folder's. If several
    files are the same split, the family with a training and a development file wins: so
    `atis-2.train` and `atis-2.dev` come before `atis.train`, which contains both. BOS
    and EOS at the ends of sentences are left out in all forms.

    Raises:
        CorpusError: if files are missing, ambiguous or malformed.
    """
    lists = (ending for endings in LISTS.values() for ending in endings)
    suffixes = (*INTEGERS, *LINES, *lists, "seq.in", "seq.out")
    files = list(members(source, suffixes))
    if any("w-intent" not in member.inside for member in files):
        files = [member for member in files if "w-intent" not in member.inside]
    words = [m for m in files if _stem(m).endswith("seq.in")]
    lines = [m for m in files if _stem(m).endswith(LINES)]
    integers = [m for m in files if _stem(m).endswith(INTEGERS)]
    splits: dict[str, list[Sentence]] = {split: [] for split in SPLITS}
    if words:
        labels = {m.inside: m for m in files if _stem(m).endswith("seq.out")}
        for split, member in split_files(source, words).items():
            splits[split] = list(_parallel(member, labels))
    elif integers and not any("train" in _stem(member) for member in lines):
        what = "holds integers, not words"
        remedy = "turn it into text with data_prep/atis_integers.py"
        raise CorpusError(f"{integers[0].name}: {what}; {remedy}")
    else:
        texts = _texts(source, files) if any(map(_is_ctf, lines)) else {}
        for split, member in split_files(source, lines).items():
            splits[split] = list(_lines(member, texts if _is_ctf(member) else None))
    splits = {s: list(map(_without_ends, sentences)) for s, sentences in splits.items()}
    return Corpus(**splits, name=str(source), format="atis")


def _stem(member: Member) -> str:
    return member.inside.lower().removesuffix(".gz")


def _is_ctf(member: Member) -> bool:
    return _stem(member).endswith((".ctf", ".sparse"))


def _texts(source, candidates: list[Member]) -> dict[str, list[str]]:
    """The texts of CTF's indices, if there are files with them."""
    texts = {}
    for kind, endings in LISTS.items():
        files = [member for member in candidates if _stem(member).endswith(endings)]
        if len(files) > 1:
            names = ", ".join(member.inside for member in files)
            what = f"{names} could each be the list of {kind}"
            raise CorpusError(f"{source}: {what}; name the folder of one of them")
        if files:
            texts[kind] = [" ".join(row) for row in _rows(files[0])]
    return texts


def _lines(member: Member, texts: dict | None = None) -> Iterator[Sentence]:
    """The sentences of a file; a file in CTF needs the texts of its indices."""
    form, options = (None, {}) if texts is None else ("ctf", texts)
    with member.open() as stream:
        for number, sentence in enumerate(read(stream, form, **options), 1):
            if sentence.tags is None or any(" " in word for word in sentence.tokens):
                what = f"sentence {number} lacks a word or a label in some row"
                remedy = "write BOS words EOS, a tab, the labels; or word, tab, label"
                raise CorpusError(f"{member.name}: {what}; {remedy}")
            yield sentence


def _parallel(member: Member, labels: dict[str, Member]) -> Iterator[Sentence]:
    beside = re.sub("(?i)seq.in(?=(.gz)?$)", "seq.out", member.inside)
    other = labels.get(beside) or labels.get(beside.removesuffix(".gz"))
    if other is None:
        raise CorpusError(f"{member.name}: has no seq.out beside it; add it")
    pairs = [_rows(member), _rows(other)]
    if len(pairs[0]) != len(pairs[1]):
        what = f"{len(pairs[0])} lines but {len(pairs[1])} in {other.name}"
        raise CorpusError(f"{member.name}: {what}; give both one line a sentence")
    for number, (words, tags) in enumerate(zip(*pairs, strict=True), 1):
        if len(words) != len(tags):
            what = f"{len(words)} words but {len(tags)} labels in {other.name}"
            raise CorpusError(f"{member.name}:{number}: {what}; give one label a word")
        yield sentence_of(words, tags)


def _rows(member: Member) -> list[list[str]]:
    with member.open() as stream:
        return [sentence.tokens for sentence in read(stream, "text")]


def _without_ends(sentence: Sentence) -> Sentence:
    words, tags = sentence.tokens, sentence.tags
    if words[:1] == ["BOS"] and words[1:][-1:] == ["EOS"]:
        return replace(sentence, tokens=words[1:-1], tags=tags[1:-1])
    return sentence
