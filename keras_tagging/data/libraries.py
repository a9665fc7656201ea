"""Sentences from and to objects of other libraries, imported when they are needed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from numbers import Integral
from typing import TYPE_CHECKING, Any

from keras_tagging.data.annotation import (
    of_probabilities,
    shown_columns,
    shown_probabilities,
)
from keras_tagging.data.formats.json_lines import flat_fields
from keras_tagging.data.formats.tables import header_of
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.records import sentence_of
from keras_tagging.data.sentence import (
    Corpus,
    Sentence,
    Sentences,
    as_sentences,
    entities,
    has_tree,
)
from keras_tagging.data.surface import spaced
from keras_tagging.utils.startup import require

if TYPE_CHECKING:
    import pandas as pd
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

SPLITS = {"train": "train", "dev": "validation", "test": "test"}


def from_dataframe(
    frame: "pd.DataFrame | Mapping[str, Sequence[Any]]",
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
            tag that is a number without a name, a cell that is a list, and a sentence
            whose rows have others between them.

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
    for key, cut in _sentences_of(frame, header):
        if key in seen:
            what = f"the sentence {key[-1]!r} goes on in row {cut.start}"
            raise ValueError(f"{what}, behind others: sort the rows by sentence")
        seen.add(key)
        further = {field_of(name): row[cut] for name, row in rows.items()}
        sentences.append(sentence_of(words[cut], labels and labels[cut], further))
    return sentences


def _sentences_of(frame, header) -> Iterator[tuple[tuple, slice]]:
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
        yield key, slice(places[0], places[-1] + 1)


def _values(frame, name) -> list:
    values = frame[name]
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    for i, value in enumerate(values):
        if isinstance(value, Iterable) and not isinstance(value, str):
            what = f"column {name!r}, row {i}: a {type(value).__name__}, not one value"
            remedy = 'from_dataset(frame.to_dict("records"))'
            raise ValueError(f"{what}; read rows of lists with {remedy}")
    return values


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
        raise ValueError(f"{where}: no value; read NA with keep_default_na=False")
    if of_tags and not isinstance(value, str):
        if not isinstance(value, Integral) or not 0 <= value < len(names or ()):
            raise ValueError(f"{where}: {value!r} has no name; give names=, or strings")
        value = names[value]
    return str(value)  # NumPy has strings of its own


def from_dataset(
    dataset: Iterable[Any],
    *,
    tokens: str = "tokens",
    tags: str | None = None,
    columns: Iterable[str] = (),
    names: Sequence[str] | None = None,
) -> list[Sentence] | Any:  # or a `Corpus`
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
        return Corpus(**splits)
    features = getattr(dataset, "features", None) or {}
    # of a `ClassLabel`, or of a list of such
    kinds = {field: getattr(x, "feature", x) for field, x in features.items()}
    names_of = {field: getattr(kind, "names", None) for field, kind in kinds.items()}
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
            if fields is None:
                continue
            wanted = [tokens, *columns, *([tags] if tags else [])]
            wanted += (name for name in fields if name not in row)  # of annotate
            lists = {}
            for name in dict.fromkeys([*wanted, "tags"]):
                if fields.get(name) is not None:
                    lists[name] = _labels(fields[name], names_of.get(name), repr(name))
                elif name in wanted:
                    raise ValueError(f"no {name!r}: it has {', '.join(fields)}")
            words, labels = lists.pop(tokens), lists.pop(tags or "tags", None)
            lists.pop("tags", None)
            further = {field_of(name): values for name, values in lists.items()}
            sentences.append(sentence_of(words, labels, further))
        except ValueError as error:
            raise ValueError(f"record {number}: {error}") from None
    return sentences


def _labels(values, names: Sequence[str] | None, where: str) -> list[str]:
    if isinstance(values, str | Mapping):
        raise ValueError(f"{where} is {values!r:.40}: give a list with a value a word")
    return [_label(value, names, where, of_tags=True) for value in values]


def from_spacy(docs: "Doc | Iterable[Doc]") -> list[Sentence]:
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


def to_dataframe(sentences: Sentences | Iterable[list[Sentence]]) -> "pd.DataFrame":
    """A `pandas.DataFrame` with a row for each word, as `annotate --output csv` has.

    Its columns are `sentence` and `id`, both counted from 1, `text`, `start` and `end`
    where the text is known, `upos` and all others, and `tag`; and the probabilities of
    these that are known, such as `upos_probability`.

    Args:
        sentences: sentences; or several lists of them, one a document, which are told
            apart by the column `document`, counted from 1.

    Example:
        >>> from keras_tagging import Sentence
        >>> print(Sentence(["Stop", "!"], ["V", "."]).to_dataframe().to_string())
           sentence  id  text tag
        0         1   1  Stop   V
        1         1   2     !   .
    """
    require("pandas")
    import pandas as pd

    from keras_tagging.utils.tables import any_strings

    sentences = list(sentences)
    documents = bool(sentences) and all(
        isinstance(x, list) and any(isinstance(s, Sentence) for s in x)
        for x in sentences
        if x
    )
    rows = []
    for number, document in enumerate(sentences if documents else [sentences], 1):
        first = {"document": number} if documents else {}
        for n, sentence in enumerate(as_sentences(document), 1):
            rows += ({**first, "sentence": n, **row} for row in _rows(sentence))
    with any_strings():
        return pd.DataFrame(rows)


def _rows(sentence: Sentence):
    named = shown_columns(sentence)
    for name, values in shown_probabilities(sentence).items():
        named[of_probabilities(name)] = values
    places = sentence.surface and sentence.surface.word_offsets
    for i, word in enumerate(sentence.tokens):
        place = {} if places is None else dict(zip(("start", "end"), places[i]))  # noqa: B905
        values = {name: column[i] for name, column in named.items()}
        yield {"id": i + 1, "text": word, **place, **values}


def to_spacy(sentences: Sentences, vocab: "Vocab") -> "Doc":
    """A spaCy `Doc` of these sentences, with what they have.

    Tags, parts of speech, lemmas, features, trees and entities. Its tokens are the
    words: between those of a multiword token there is no blank, and any other white
    space becomes one.

    Args:
        sentences: sentences of one document.
        vocab: ``nlp.vocab``, or ``spacy.vocab.Vocab()``.

    Raises:
        ImportError: if spaCy is not installed.
        ValueError: from spaCy, for UPOS that it does not know.
    """
    from spacy.tokens import Doc

    sentences = [s for s in as_sentences(sentences) if s.tokens]
    words, spaces, starts, first = [], [], [], 0
    lists = {"pos": "pos", "tags": "xpos", "lemmas": "lemma", "morphs": "feats"}
    values_of = {name: [] for name in lists}
    heads, deps, ents = [], [], []
    for sentence in sentences:
        columns, count = sentence.columns, len(sentence)
        surface = sentence.surface or spaced(sentence.tokens)
        for several, after in zip(surface.words, surface.spaces_after, strict=True):
            spaces += [False] * (several - 1) + [after != ""]
        words += sentence.tokens
        starts += [True] + [False] * (count - 1)
        for name, column in lists.items():
            values = columns.get(column, [""] * count)
            values_of[name] += ["" if value == "_" else value for value in values]
        if has_tree(sentence):
            attributes = enumerate(map(int, columns["head"]))
            heads += [first + (head - 1 if head else i) for i, head in attributes]
            deps += columns.get("deprel", [""] * count)
        ents += entities(sentence) or ["O"] * count
        first += count
    attributes = {name: values for name, values in values_of.items() if any(values)}
    # with heads, spaCy derives where sentences begin
    trees = {"heads": heads, "deps": deps} if len(heads) == len(words) > 0 else {}
    if any(tag != "O" for tag in ents):
        attributes["ents"] = ents
    if not trees:
        attributes["sent_starts"] = starts
    return Doc(vocab, words=words, spaces=spaces, **attributes, **trees)
