"""Corpora that lack what is to be learnt.

A single label for all tokens is usually a sign of the wrong column.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, islice

from keras_tagging.corpora.suspicions import scheme_of
from keras_tagging.data.readers import read
from keras_tagging.data.records import CorpusError
from keras_tagging.data.sentence import Corpus, Sentence

SENTENCES = 1000  # searched for the right column
COLUMNS = 50
# The names of these formats' columns in `tag=`
FIELDS = {
    "conllu": {"pos": "upos", "xpos": "xpos"},
    "conllx": {"pos": "cpostag", "xpos": "postag"},
}


def refuse_one_label(
    sentences: Sequence[Sentence],
    corpus: Corpus | None = None,
    options: Mapping[str, object] | None = None,
) -> None:
    """Refuse training sentences that have one label for all their tokens.

    Args:
        sentences, corpus, options: as in `one_label`.

    Raises:
        ValueError: with the remark of `one_label`.
    """
    if remark := one_label(sentences, corpus, options):
        raise ValueError(remark)


def refuse_underived(corpus: Corpus) -> None:
    """Refuse a corpus whose sentences have no derivations.

    Raises:
        ValueError: naming the file of the first that has none.
    """
    for split, sentences in corpus.splits():
        if any(len(s) and s.derivation is None for s in sentences):
            file = (corpus.files.get(split) or [corpus.name])[0]
            raise ValueError(
                f"{file}: has sentences without derivations, which a CCG parser learns "
                "from and is compared with: give .auto files"
            )


def one_label(
    sentences: Sequence[Sentence],
    corpus: Corpus | None = None,
    options: Mapping[str, object] | None = None,
) -> str | None:
    """A remark on sentences that have one label for all their tokens, else None.

    It names the column that looks like the labels, if there is one.

    Args:
        sentences: sentences with tags.
        corpus: the corpus that they come from, if known.
        options: the options that its files were read with.
    """
    labels = set(chain.from_iterable(sentence.tags for sentence in sentences))
    if len(labels) != 1:
        return None
    count = sum(map(len, sentences))
    whole = f"all {count:,} tokens have" if count > 1 else "the only token has"
    where = None
    files = list(chain.from_iterable(corpus.files.values())) if corpus else []
    if files and corpus.format == "conll":
        where = _likely_of_file(files[0], dict(options or {}))
    elif likely := _likely(sentences[:SENTENCES]):
        name, look = likely
        field = FIELDS.get(corpus.format if corpus else "", {}).get(name)
        remedy = f"pass tag='{field}'" if field else "make it the tags"
        where = f"column {name!r} {look}: {remedy}"
    where = where or (
        "there is nothing to learn: check the format and the column of the labels "
        "(tag_column=)"
    )
    return f"{whole} the label {labels.pop()!r}; {where}"


def numbered(sentences: Sequence[Sentence]) -> str | None:
    """A remark on sentences whose labels are all numbers, else None.

    Hugging Face's `Dataset.to_json` and pandas write the ids of labels, without names.

    Args:
        sentences: sentences with tags.
    """
    labels = set(chain.from_iterable(sentence.tags for sentence in sentences))
    if len(labels) < 2 or not all(map(str.isdecimal, labels)):
        return None
    return (
        "all labels are numbers: if they stand for names, as in a data set of Hugging "
        "Face, read that with data.from_dataset, and data.write keeps the names"
    )


def _likely_of_file(path: str, options: dict) -> str | None:
    """The remark on the likely column of a CoNLL file."""
    options = {**options, "tag_column": None, "columns": {}}
    options.pop("categories", None)
    sentences = []
    for index in range(COLUMNS):
        if index == options.get("token_column", 0):
            continue
        options["columns"][str(index)] = index
        try:
            rows = read(path, "conll", errors="skip", skipped=[], **options)
            sentences = list(islice(rows, SENTENCES))
        except CorpusError:  # there are no more columns
            break
    if likely := _likely(sentences):
        name, look = likely
        return f"column {name} {look}: pass tag_column={name}"
    return None


def _likely(sentences: Sequence[Sentence]) -> tuple[str, str] | None:
    """The last column with chunks, else with few values, and a word on its content."""
    best = None
    for name in sentences[0].columns if sentences else ():
        if not all(name in sentence.columns for sentence in sentences):
            continue
        rows = [sentence.columns[name] for sentence in sentences]
        values = set(chain.from_iterable(rows))
        tagged = [Sentence(row, row) for row in rows]
        if scheme := scheme_of(Corpus(tagged)):
            best = name, f"looks like {scheme}", True
        elif best is None or not best[-1]:
            few = 2 <= len(values) <= sum(map(len, rows)) / 5
            if few and not all(value.isdigit() for value in values):
                best = name, f"has {len(values)} labels", False
    return best[:2] if best else None
