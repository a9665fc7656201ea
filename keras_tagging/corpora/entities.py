"""Named entities of one corpus on the sentences of another one, such as a treebank."""

from dataclasses import replace

from keras_tagging.corpora.loading import Files, load_corpus
from keras_tagging.data.sentence import NER, Corpus, Sentence
from keras_tagging.metrics import chunks, looks_like_chunks
from keras_tagging.metrics.raw_text import check_same_text, unspaced


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
            what = f"no {split} sentences, which {corpus.name} has"
            raise ValueError(f"{path} has {what}")
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
        example = f"such as {min(tags)[:40]!r}"
        raise ValueError(f"its tags, {example}, are not those of entities")
    tagged = _in_order(tagged, sentences)
    words = ([t for s in part for t in s.tokens] for part in (sentences, tagged))
    check_same_text(*(unspaced("".join(tokens)) for tokens in words))
    labels = [""]  # of entities, by their numbers; 0 is that of no entity
    numbers: list[int] = []  # of each character but white space
    for sentence in tagged:
        of_words = [0] * len(sentence)
        for label, first, end in chunks(sentence.tags):
            of_words[first:end] = [len(labels)] * (end - first)
            labels.append(label)
        for token, number in zip(sentence.tokens, of_words, strict=True):
            numbers += [number] * len(unspaced(token))
    labelled, place = [], 0
    for sentence in sentences:
        column, before = [], 0
        for token in sentence.tokens:
            end = place + len(unspaced(token))
            number = next(filter(None, numbers[place:end]), 0)
            prefix = "I" if number == before else "B"
            column.append(f"{prefix}-{labels[number]}" if number else "O")
            before, place = number, end
        columns = {**sentence.columns, NER: column}
        labelled.append(replace(sentence, columns=columns))
    return labelled


def _in_order(tagged: list[Sentence], sentences: list[Sentence]) -> list[Sentence]:
    """The sentences that others have by their `sent_id`, in the order of those."""
    places = {s.sent_id: i for i, s in enumerate(sentences) if s.sent_id is not None}
    joined = [sentence for sentence in tagged if sentence.sent_id in places]
    return sorted(joined, key=lambda s: places[s.sent_id]) if joined else tagged
