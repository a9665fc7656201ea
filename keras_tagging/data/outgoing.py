"""Sentences as objects of other libraries, each imported when it is needed."""

from collections.abc import Iterable

from keras_tagging.data.html import arcs_of
from keras_tagging.data.rows import of_probabilities, shown_columns, shown_probabilities
from keras_tagging.data.sentence import Sentence, as_sentences, entities, has_tree
from keras_tagging.data.surface import chunks, spaced
from keras_tagging.utils.checks import check_choice


def to_dataframe(sentences: Iterable):
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
    import pandas as pd

    from keras_tagging.utils.frames import any_strings

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
        yield {
            "id": i + 1,
            "text": word,
            **place,
            **{k: v[i] for k, v in named.items()},
        }


def to_spacy(sentences: Iterable, vocab):
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
        for number, several in enumerate(surface.words):
            spaces += [False] * (several - 1) + [surface.space_after(number) != ""]
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


def to_displacy(sentence: Sentence, style: str = "dep") -> dict:
    """A dict for ``displacy.render(..., style=style, manual=True)`` of spaCy.

    Args:
        sentence: with a tree for "dep", with spans or tags in IOB2 for "ent".
        style: "dep" or "ent".

    Raises:
        ValueError: for another style, or "dep" without a tree.

    Example:
        >>> from keras_tagging import Sentence
        >>> words = Sentence(["Ada", "laughs"], ["B-PER", "O"])
        >>> words.to_displacy("ent")
        {'text': 'Ada laughs', 'ents': [{'start': 0, 'end': 3, 'label': 'PER'}], ...}
    """
    check_choice("style", style, ("dep", "ent"))
    if style == "ent":
        return _with_entities(sentence)
    if not has_tree(sentence):
        raise ValueError(
            "the sentence has no tree, which the style 'dep' draws: annotate it with a "
            "parser, or draw style='ent'"
        )
    columns = sentence.columns
    tags = columns.get("pos") or sentence.tags or [""] * len(sentence)
    words = [{"text": t, "tag": g} for t, g in zip(sentence.tokens, tags, strict=True)]
    sides = {False: "left", True: "right"}  # where the arrow points
    arcs = [
        {"start": start, "end": end, "label": label, "dir": sides[to_right]}
        for start, end, to_right, label in arcs_of(
            columns["head"], columns.get("deprel", tags)
        )
    ]
    return {"words": words, "arcs": arcs, "settings": {}}


def _with_entities(sentence: Sentence) -> dict:
    surface = sentence.surface or spaced(sentence.tokens)
    places = [(a - surface.start, b - surface.start) for a, b in surface.word_offsets]
    marked = [
        {"start": places[first][0], "end": places[end - 1][1], "label": label}
        for label, first, end in chunks(entities(sentence) or [])
    ]
    return {"text": surface.text, "ents": marked, "title": None}
