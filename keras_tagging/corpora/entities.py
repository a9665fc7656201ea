"""Named entities of one corpus on the sentences of another one, such as a treebank."""

import os
from dataclasses import replace
from itertools import accumulate, chain

from keras_tagging.corpora.loading import Files, load_corpus
from keras_tagging.data.sentence import NER, Corpus, Sentence
from keras_tagging.metrics import chunks, looks_like_chunks


def add_entities(corpus: Corpus, path: Files) -> None:
    """Give each sentence the column `ner`, the entities that another corpus has.

    They are joined by the comment `# sent_id`, or by their order where there is none.
    Words may differ, as characters are compared, without white space: an entity that
    begins or ends inside of a word has the whole word, and one of two sentences is two.

    Args:
        corpus: the treebank, which is changed in place.
        path: the other corpus, as in `load_corpus`, whose tags are those of chunks. If
            it is one file, that has the entities of all splits.

    Raises:
        ValueError: if a split is missing, has another text, or no tags of chunks.
    """
    other = dict(load_corpus(path, require_train=False).splits())
    for split, sentences in corpus.splits():
        tagged = [*other.values()][0] if len(other) == 1 else other.get(split)
        if not tagged:
            raise ValueError(
                f"{path} has no {split} sentences, which {corpus.name} has"
            )
        try:
            setattr(corpus, split, with_entities(sentences, tagged))
        except ValueError as error:
            raise ValueError(f"{path}, {split}: {error}") from None


def with_named_entities(sentences: list[Sentence]) -> list[Sentence]:
    """The sentences with their tags as the column `ner`, as a tagger in a pipeline has.

    Those that have the column, or tags that are not those of entities, stay.
    """
    filled = [sentence for sentence in sentences if sentence.tokens]
    tags = {tag for sentence in filled for tag in sentence.tags or ["no tag"]}
    if any(NER in s.columns for s in sentences) or not looks_like_chunks(tags):
        return sentences
    return [replace(s, columns={**s.columns, NER: s.tags or []}) for s in sentences]


def with_entities(sentences: list[Sentence], tagged: list[Sentence]) -> list[Sentence]:
    """The sentences with the chunks of others of the same text: see `add_entities`."""
    tagged = [sentence for sentence in tagged if sentence.tokens]
    tags = {tag for sentence in tagged for tag in sentence.tags or ["no tag"]}
    if not looks_like_chunks(tags):
        raise ValueError(
            f"its tags, such as {min(tags)[:40]!r}, are not those of entities"
        )
    tagged = _in_order(tagged, sentences)
    ends = [_ends(x) for x in (sentences, tagged)]
    _check_texts(sentences, tagged, ends[0])
    words, others = ([0, *chain.from_iterable(x)] for x in ends)
    starts = {}  # the label of the entity that begins at a character, and its end
    place = 0
    for sentence in tagged:
        for label, first, end in chunks(sentence.tags):
            starts[others[place + first]] = label, others[place + end]
        place += len(sentence)
    return _labelled(sentences, words, sorted(starts.items()))


def _in_order(tagged: list[Sentence], sentences: list[Sentence]) -> list[Sentence]:
    """The sentences that others have by their `sent_id`, in the order of those."""
    places = {s.sent_id: i for i, s in enumerate(sentences) if s.sent_id is not None}
    joined = [sentence for sentence in tagged if sentence.sent_id in places]
    return sorted(joined, key=lambda s: places[s.sent_id]) if joined else tagged


def _labelled(sentences, words: list[int], entities) -> list[Sentence]:
    """The sentences with the entities that overlap their words.

    Args:
        words: where each word ends, behind a 0.
        entities: for each where it begins, and its label and end, in their order.
    """
    behind = words[-1], ("", words[-1] + 1)
    labelled, number, rest = [], 0, iter([*entities, behind])
    begin, (label, stop) = next(rest)
    for sentence in sentences:
        column, before = [], None
        for _ in sentence.tokens:
            start, end = words[number : number + 2]
            while stop <= start:
                begin, (label, stop) = next(rest)
            inside = begin < end and start < stop
            prefix = "I" if before == begin else "B"
            column.append(f"{prefix}-{label}" if inside else "O")
            before = begin if inside else None
            number += 1
        columns = {**sentence.columns, NER: column}
        labelled.append(replace(sentence, columns=columns))
    return labelled


def _ends(sentences: list[Sentence]) -> list[list[int]]:
    """For each sentence where its words end, in characters that are no white space."""
    sizes = accumulate(
        len("".join(token.split())) for s in sentences for token in s.tokens
    )
    return [[next(sizes) for _ in sentence.tokens] for sentence in sentences]


def _check_texts(sentences, tagged, ends) -> None:
    one, other = (
        "".join("".join(token.split()) for s in x for token in s.tokens)
        for x in (sentences, tagged)
    )
    if one == other:
        return
    place = len(os.path.commonprefix([one, other]))
    number = next((n for n, row in enumerate(ends) if row and place < row[-1]), -1)
    name = sentences[number].sent_id or number % len(sentences) + 1
    shown = [text[max(0, place - 10) : place + 20] for text in (one, other)]
    raise ValueError(
        f"the texts differ: sentence {name} of the treebank has {shown[0]!r}, and the "
        f"entities {shown[1]!r}, without blanks: give those of the same sentences"
    )
