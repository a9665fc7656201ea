"""Sentences from objects of other libraries. None of them is imported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from numbers import Integral

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
    there = [name for name in getattr(frame, "columns", frame) if isinstance(name, str)]
    header = header_of(there, sentence, token, tags, columns, needs_sentence=True)

    def texts(name: str, names: Sequence[str] | None = None) -> list[str]:
        where = f"column {name!r}, row"
        rows = enumerate(_values(frame, name))
        return [_label(value, names, f"{where} {i}", name == tag) for i, value in rows]

    tag = header.tags
    words, rows = texts(header.token), {name: texts(name) for name in header.others}
    labels = texts(tag, names) if tag else None
    sentences, seen = [], set()
    for key, places in _sentences_of(frame, header):
        if key in seen:
            raise ValueError(
                f"the sentence {key[-1]!r} goes on in row {places.start}, behind other "
                "rows: sort them, or tell texts apart by a column 'document'"
            )
        seen.add(key)
        cut = slice(places.start, places.stop)
        further = {field_of(name): row[cut] for name, row in rows.items()}
        sentences.append(sentence_of(words[cut], labels and labels[cut], further))
    return sentences


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


def _label(value, names: Sequence[str] | None, where: str, of_tags: bool) -> str:
    """A value as a string: of tags, a number is that of a name."""
    if value is None or _is_nan(value):
        raise ValueError(
            f"{where}: there is no value; if it was read as NaN, as the words NA and "
            "null are, read the file with keep_default_na=False"
        )
    if of_tags and not isinstance(value, str):
        if not isinstance(value, Integral) or not 0 <= value < len(names or ()):
            raise ValueError(
                f"{where}: {value!r} has no name; give names=, the tags by their "
                f"numbers (there are {len(names or ())}), or strings"
            )
        value = names[value]
    return str(value)  # NumPy has strings of its own


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
    if isinstance(dataset, Mapping):
        options = {"tokens": tokens, "tags": tags, "columns": columns, "names": names}
        splits = {}
        for split, theirs in SPLITS.items():
            part = dataset.get(theirs, dataset.get(split))
            splits[split] = [] if part is None else from_dataset(part, **options)
        if not any(splits.values()):
            listed = ", ".join(map(repr, dataset)) or "none"
            raise ValueError(f"no split train, validation or test: there are {listed}")
        return Corpus(**splits)
    features = getattr(dataset, "features", None) or {}
    names_of = {field: _class_names(feature) for field, feature in features.items()}
    classes = [field for field, classes in names_of.items() if classes]
    if tags is None and "tags" not in features and classes:
        if len(classes) > 1:
            listed = ", ".join(map(repr, classes))
            raise ValueError(f"name the field of tags, tags=: there are {listed}")
        tags = classes[0]
    if names is not None:
        names_of[tags or "tags"] = names
    sentences = []
    for number, row in enumerate(dataset, 1):
        try:
            fields = flat_fields(number, row)
        except Malformed as error:
            text = f"record {number}: {error.what}; {error.remedy}"
            raise ValueError(text) from None
        if fields is None:
            continue
        wanted = [tokens, *columns, *([tags] if tags else [])]
        wanted += (name for name in fields if name not in row)  # of annotate
        lists = {}
        for name in dict.fromkeys([*wanted, "tags"]):
            if fields.get(name) is not None:
                where = f"record {number}, {name!r}"
                lists[name] = _labels(fields[name], names_of.get(name), where)
            elif name in wanted:
                listed = ", ".join(map(repr, fields))
                raise ValueError(f"record {number} has no {name!r}: it has {listed}")
        words, labels = lists.pop(tokens), lists.pop(tags or "tags", None)
        lists.pop("tags", None)
        further = {field_of(name): values for name, values in lists.items()}
        try:
            sentences.append(sentence_of(words, labels, further))
        except ValueError as error:
            raise ValueError(f"record {number}: {error}") from None
    return sentences


def _class_names(feature) -> list[str] | None:
    """The names of a `ClassLabel`, or of a list of such."""
    return getattr(getattr(feature, "feature", feature), "names", None)


def _labels(values, names: Sequence[str] | None, where: str) -> list[str]:
    if isinstance(values, str | Mapping):
        raise ValueError(f"{where} is {values!r:.40}: give a list with a value a word")
    return [_label(value, names, where, of_tags=True) for value in values]


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
