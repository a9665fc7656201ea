"""Sentences from objects of other libraries. None of them is imported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from numbers import Integral, Real

from keras_tagging.data.formats.json_lines import flat_fields
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.records import Malformed, sentence_of
from keras_tagging.data.rows import header_of
from keras_tagging.data.sentence import Corpus, Sentence

SPLITS = {"train": "train", "dev": "validation", "test": "test"}


def from_dataframe(
    frame,
    *,
    sentence: str | None = None,
    token: str | None = None,
    tags: str | None = None,
    columns: Iterable[str] | None = None,
    names: Sequence[str] | None = None,
) -> list[Sentence]:
    """The sentences of a table with a row for each token, such as pandas has.

    Args:
        frame: a `pandas.DataFrame`, or a dict of lists.
        sentence: the column whose value changes where a sentence begins; an empty cell
            has the value above. By default "sentence", "sent_id", "Sentence #" or the
            like. The rows of a sentence follow one another. With a column "document",
            which `to_dataframe` writes, numbers of sentences may begin anew in each.
        token: the column of words; by default "text", "token", "word" or the like.
        tags: the column of tags; by default "tag", "label" or the like, if there is
            one; of a table that `annotate` or `to_dataframe` has written "tag" alone.
        columns: further columns; by default all others.
        names: the tags by their numbers, for a column of integers.

    Raises:
        ValueError: for a column that is not there, a token or tag that is missing, a
            tag that is a number without a name, and a sentence whose rows have others
            between them.

    Example:
        >>> import pandas as pd
        >>> from keras_tagging.data import from_dataframe
        >>> rows = [(1, "Show", "V"), (1, "flights", "N"), (2, "Thanks", "I")]
        >>> frame = pd.DataFrame(rows, columns=["sentence", "token", "tag"])
        >>> [(s.tokens, s.tags) for s in from_dataframe(frame)]
        [(['Show', 'flights'], ['V', 'N']), (['Thanks'], ['I'])]
    """
    given = [name for name in getattr(frame, "columns", frame) if isinstance(name, str)]
    header = header_of(given, sentence, token, tags, columns, needs_sentence=True)
    rows = {name: _values(frame, name) for name in header.others}
    rows = {n: [_text(v, n, i) for i, v in enumerate(rows[n])] for n in rows}
    words = _values(frame, header.token)
    words = [_text(value, header.token, i) for i, value in enumerate(words)]
    labels = header.tags and _values(frame, header.tags)
    if labels:
        labels = [_label(v, names, header.tags, i) for i, v in enumerate(labels)]
    found, seen = [], set()
    for key, places in _sentences_of(frame, header):
        if key in seen:
            raise ValueError(
                f"the sentence {key[-1]!r} goes on in row {places.start}, behind other "
                "rows: sort them, or tell texts apart by a column 'document'"
            )
        seen.add(key)
        cut = slice(places.start, places.stop)
        own = {field_of(name): rows[name][cut] for name in rows}
        found.append(sentence_of(words[cut], labels[cut] if labels else None, own))
    return found


def _sentences_of(frame, header) -> Iterator[tuple[tuple, range]]:
    """The value that identifies each sentence, and its rows."""
    ids = _values(frame, header.sentence)
    documents = (
        _values(frame, header.document) if header.document else [None] * len(ids)
    )
    keys, above = [], (None, None)
    for document, value in zip(documents, ids, strict=True):
        if not _is_missing(value):
            above = (above[0] if _is_missing(document) else document), value
        keys.append(above)
    for key, group in groupby(range(len(keys)), keys.__getitem__):
        places = list(group)
        yield key, range(places[0], places[-1] + 1)


def _values(frame, name) -> list:
    values = frame[name]
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _is_missing(value) -> bool:
    return value is None or _is_nan(value) or value == ""


def _is_nan(value) -> bool:
    """Whether it is NaN, or the NA of pandas, which has no truth value."""
    try:
        return bool(value != value)
    except TypeError:
        return True


def _label(value, names, name: str, row: int) -> str:
    if isinstance(value, Real) and not _is_nan(value):
        if not (isinstance(value, Integral) and names and 0 <= value < len(names)):
            raise ValueError(
                f"row {row} of the column {name!r} is {value!r}, which has no name: "
                + (
                    _too_few(names, value)
                    or "give names=, the tags by their numbers, or a column of strings"
                )
            )
        value = names[value]
    return _text(value, name, row)


def _too_few(names, value) -> str:
    """The remedy for a number beyond the names that were given; "" for other values."""
    if not names or not isinstance(value, Integral):
        return ""
    count = f"{len(names)} label{'s' * (len(names) != 1)}"
    return f"names has {count}, and number {value} occurs"


def _text(value, name: str, row: int) -> str:
    if value is None or _is_nan(value):
        raise ValueError(
            f"row {row} of the column {name!r} has no value: if it was read as NaN, as "
            "the words NA and null are, read the file with keep_default_na=False"
        )
    return str(value)


def from_dataset(
    dataset,
    *,
    tokens: str = "tokens",
    tags: str | None = None,
    columns: Iterable[str] = (),
    names: Sequence[str] | None = None,
) -> list[Sentence] | Corpus:
    """The sentences of a data set of Hugging Face, or of a list of dicts.

    Args:
        dataset: a `datasets.Dataset`, any iterable of dicts of lists, or a
            `DatasetDict`, which gives a `Corpus`. A dict may also be one of
            `annotate --output jsonl`, Prodigy or doccano: see `data.read`, "jsonl".
        tokens: the field of words.
        tags: the field of tags; by default "tags", or the only field of a ClassLabel.
        columns: further fields with a value for each token.
        names: the tags by their numbers; by default those of the field's ClassLabel.

    Raises:
        ValueError: if a field is missing, or numbers have no names; it tells the
            record.

    Example:
        >>> from keras_tagging.data import from_dataset
        >>> rows = [{"tokens": ["Ada", "laughs"], "ner_tags": [1, 0]}]
        >>> from_dataset(rows, tags="ner_tags", names=["O", "B-PER"])[0].tags
        ['B-PER', 'O']
    """
    options = {"tokens": tokens, "tags": tags, "columns": columns, "names": names}
    if isinstance(dataset, Mapping):
        found = {}
        for split, theirs in SPLITS.items():
            own = dataset.get(theirs, dataset.get(split))
            found[split] = [] if own is None else from_dataset(own, **options)
        if not any(found.values()):
            listed = ", ".join(map(repr, dataset)) or "none"
            raise ValueError(f"no split train, validation or test: there are {listed}")
        return Corpus(**found)
    features = getattr(dataset, "features", None) or {}
    labels = {field: _class_names(feature) for field, feature in features.items()}
    classes = [field for field, own in labels.items() if own]
    if tags is None and "tags" not in features and classes:
        if len(classes) > 1:
            listed = ", ".join(map(repr, classes))
            raise ValueError(f"name the field of tags, tags=: there are {listed}")
        tags = classes[0]
    if names is not None:
        labels[tags or "tags"] = names
    found = []
    for number, row in enumerate(dataset, 1):
        if not isinstance(row, Mapping):
            raise ValueError(f"record {number} is a {type(row).__name__}, not a dict")
        try:
            fields = flat_fields(number, row)
        except Malformed as error:
            text = f"record {number}: {error.what}; {error.remedy}"
            raise ValueError(text) from None
        if fields is None:
            continue
        wanted = [tokens, *columns, *([tags] if tags else [])]
        wanted += (name for name in fields if name not in row)  # of annotate
        own = {}
        for name in dict.fromkeys([*wanted, "tags"]):
            if fields.get(name) is not None:
                own[name] = _labels(fields[name], labels.get(name), name, number)
            elif name in wanted:
                listed = ", ".join(map(repr, fields))
                raise ValueError(f"record {number} has no {name!r}: it has {listed}")
        words, own_tags = own.pop(tokens), own.pop(tags or "tags", None)
        own.pop("tags", None)
        further = {field_of(name): values for name, values in own.items()}
        try:
            found.append(sentence_of(words, own_tags, further))
        except ValueError as error:
            raise ValueError(f"record {number}: {error}") from None
    return found


def _class_names(feature) -> list[str] | None:
    """The names of a `ClassLabel`, or of a list of such."""
    return getattr(getattr(feature, "feature", feature), "names", None)


def _labels(values, names, field: str, number: int) -> list[str]:
    if isinstance(values, str | Mapping):
        what = "string" if isinstance(values, str) else "dict"
        raise ValueError(
            f"record {number}: {field!r} is a {what}: give a list with a value a word"
        )
    found = []
    for value in values:
        if not isinstance(value, str):
            number_of = isinstance(value, Integral) and names is not None
            if not number_of or not 0 <= value < len(names):
                raise ValueError(
                    f"record {number}: {value!r} in {field!r} is no string, and has no "
                    "name: "
                    + (
                        _too_few(names, value)
                        or "give names=, the labels by their numbers"
                    )
                )
            value = names[value]
        found.append(str(value))  # NumPy has strings of its own
    return found


def from_spacy(docs) -> list[Sentence]:
    """The sentences of spaCy's `Doc`, or of several.

    Words without white space alone; `pos`, `xpos`, `lemma`, `feats`, `head` and
    `deprel` as far as the document has them. The tags are the entities in IOB2, or the
    parts of speech of a document without entities.

    Args:
        docs: a `Doc`, or an iterable of them, such as ``DocBin().from_disk(path)
            .get_docs(nlp.vocab)`` gives for a `.spacy` file.
    """
    if hasattr(docs, "has_annotation"):
        docs = [docs]
    return [sentence for doc in docs for sentence in _of_doc(doc)]


def _of_doc(doc) -> Iterator[Sentence]:
    has = doc.has_annotation
    for part in doc.sents if has("SENT_START") else [doc]:
        words = [token for token in part if not token.is_space]
        if not words:
            continue
        columns = {}
        for name, attribute in (("pos", "pos_"), ("xpos", "tag_"), ("lemma", "lemma_")):
            values = [getattr(token, attribute) for token in words]
            if any(values):
                columns[name] = [value or "_" for value in values]
        if has("MORPH"):
            columns["feats"] = [str(token.morph) or "_" for token in words]
        if has("DEP"):
            numbers = {token.i: n for n, token in enumerate(words, 1)}
            columns["head"] = [str(_head(token, numbers)) for token in words]
            columns["deprel"] = [token.dep_ or "_" for token in words]
        tags = columns.get("pos")
        if has("ENT_IOB"):
            tags = [
                f"{t.ent_iob_}-{t.ent_type_}" if t.ent_iob_ in ("B", "I") else "O"
                for t in words
            ]
        yield sentence_of([token.text for token in words], tags, columns)


def _head(token, numbers) -> int:
    """The number of the head; 0 for the root, and past white space."""
    while token.head.i != token.i:
        token = token.head
        if token.i in numbers:
            return numbers[token.i]
    return 0
