from pathlib import Path

import pytest

from keras_tagging.data import CorpusError, Sentence, read
from keras_tagging.data.sentence import check_surfaces, document_of, text_of
from keras_tagging.data.surface import Surface

TREEBANKS = sorted(Path(__file__).parents[1].glob("fixtures/treebanks/*.conllu"))


def line(number, form="w", misc="_"):
    return "\t".join([number, form, *"_" * 7, misc]) + "\n"


def treebank(tmp_path, text, **options):
    file = tmp_path / "text.conllu"
    file.write_text(text, encoding="utf-8")
    return list(read(file, "conllu", surface=True, **options))


# Surface


def test_a_surface_tells_tokens_offsets_and_spaces():
    surface = Surface("I don't", [(0, 1), (2, 7)], [1, 2], start=10, after="\n\n")
    assert surface.tokens == ["I", "don't"]
    assert surface.offsets == [(10, 11), (12, 17)]
    assert surface.word_offsets == [(10, 11), (12, 17), (12, 17)]
    assert surface.spaces_after == [" ", "\n\n"]


def test_a_surface_refuses_tokens_that_cannot_be():
    wrong = ([(0, 1)], [1, 1]), ([(0, 2), (1, 3)], [1, 1]), ([(1, 1)], [1])
    for spans, words in (*wrong, ([(0, 4)], [1]), ([(0, 1)], [0])):
        with pytest.raises(ValueError, match="are no tokens of 'abc'"):
            Surface("abc", spans, words)
    surface = Surface("don't", [(0, 5)], [2])
    assert Sentence(["do", "n't"], surface=surface).surface is surface
    with pytest.raises(ValueError, match="1 tokens, but the text has 2"):
        Sentence(["don't"], surface=surface)


# Reading


@pytest.mark.parametrize("file", TREEBANKS, ids=lambda file: file.stem)
def test_treebanks_survive_the_round_trip(file):
    """Of forms, texts and MISC, counted here from the lines alone."""
    sentences = list(read(file, "conllu", surface=True))
    text = text_of(sentences)
    tokens, words, spaces, inside = [], [], [], 0
    for row in file.read_text(encoding="utf-8").splitlines():
        if not row or row.startswith("#"):
            continue
        number, form, *_, misc = row.split("\t")
        if "-" in number:
            first, last = map(int, number.split("-"))
            inside = last - first + 1
            tokens.append(form)
            words.append(inside)
            spaces.append(misc == "SpaceAfter=No")
        elif inside:
            inside -= 1
        else:
            tokens.append(form)
            words.append(1)
            spaces.append(misc == "SpaceAfter=No")
    found = [(s.surface, i) for s in sentences for i in range(len(s.surface.spans))]
    assert [surface.tokens[i] for surface, i in found] == tokens
    assert [surface.words[i] for surface, i in found] == words
    assert [text[slice(*surface.offsets[i])] for surface, i in found] == tokens
    assert [not surface.spaces_after[i] for surface, i in found][:-1] == spaces[:-1]
    assert "\n\n" in text and not text[0].isspace()
    plain = list(read(file, "conllu"))
    assert [s.tokens for s in sentences] == [s.tokens for s in plain]
    assert all(s.surface is None for s in plain)
    # a second document begins at its own offset 0
    twice, surfaces = document_of(sentences * 2)
    assert twice == text + "\n\n" + text
    assert [twice[b:e] for s in surfaces for b, e in s.offsets] == tokens * 2


def test_a_text_that_disagrees_is_left(tmp_path):
    rows = line("1", "a", "SpaceAfter=No") + line("2", "b") + line("3", "c")
    for text, expected in (
        ("ab  c", "ab  c"),
        ("ab\u00a0c", "ab\u00a0c"),
        ("abc", "abc"),  # MISC disagrees: the comment counts
        ("ab", "ab c"),
        ("ab c d", "ab c"),
        ("xb c", "ab c"),
    ):
        [sentence] = treebank(tmp_path, f"# text = {text}\n{rows}\n")
        assert sentence.surface.text == expected


def test_spaces_are_those_of_misc(tmp_path):
    first = line("1", "10 000", r"Lang=fr|SpacesAfter=\s\t") + line("1.1", "no")
    first += line("2", "%", r"SpacesAfter=\n\n") + "\n"
    second = (
        line("1", "a", r"SpacesBefore=\s") + line("2", "b", r"SpacesAfter=\p") + "\n"
    )
    [one, two] = treebank(tmp_path, first + second)
    assert (one.surface.text, one.surface.after) == ("10 000 \t%", "\n\n ")
    assert one.surface.spans == [(0, 6), (8, 9)]
    # only white space stands between tokens
    assert (two.surface.start, two.surface.text) == (12, "a b")
    assert two.surface.after is None
    assert text_of([one, two]) == "10 000 \t%\n\n a b"


def test_what_begins_a_document_is_counted(tmp_path):
    [one] = treebank(tmp_path, line("1", "a", r"SpacesBefore=\s\s"))
    assert one.surface.start == 2
    assert text_of([one]) == "a"  # a text begins with its first sentence


@pytest.mark.parametrize(
    "misc, comment, after",
    [
        ("_", "", " "),
        ("_", "# newpar\n", "\n\n"),
        ("_", "# newdoc id = d\n", "\n\n"),
        ("_", "# newparty = 1\n", " "),
        ("SpaceAfter=No", "", ""),
        ("SpaceAfter=No", "# newpar\n", "\n\n"),
        (r"SpacesAfter=\n", "# newpar\n", "\n"),
        (r"SpacesAfter=\r\n\s", "", "\r\n "),
    ],
)
def test_paragraphs_end_with_a_blank_line(tmp_path, misc, comment, after):
    text = line("1", "a", misc) + "\n" + comment + line("1", "b") + "\n"
    [one, two] = treebank(tmp_path, text)
    assert one.surface.after == after
    assert two.surface.start == 1 + len(after)


def test_the_text_is_as_written_and_words_are_normalised(tmp_path):
    [one] = treebank(tmp_path, "# text = cafe\u0301\n" + line("1", "cafe\u0301"))
    assert one.tokens == ["caf\u00e9"]
    assert one.surface.tokens == ["cafe\u0301"] and one.surface.spans == [(0, 5)]


@pytest.mark.parametrize(
    "rows, number, message",
    [
        (line("2-3", "ab") + line("1") + line("2"), 1, "'2-3' follows word 0"),
        (line("1-2", "ab") + line("1"), 1, "ends with word 2 has words up to 1"),
        (
            line("1-2", "ab") + line("1") + line("2-3", "c") + line("2") + line("3"),
            3,
            "'2-3' follows word 1",
        ),
        (line("1-2", "") + line("1") + line("2"), 1, "'1-2' .*; give it a form"),
    ],
)
def test_multiword_tokens_have_words(tmp_path, rows, number, message):
    with pytest.raises(CorpusError, match=f"text.conllu:{number}: .*{message}"):
        treebank(tmp_path, rows)
    good = line("1", "a") + "\n"
    kept = treebank(tmp_path, good + rows + "\n" + good, errors="skip", skipped=[])
    assert text_of(kept) == "a a"


def test_a_sentence_without_text_is_told():
    sentences = [Sentence([]), Sentence(["a", "b"])]
    with pytest.raises(ValueError, match="sentence 2, .*'a b'.*surface=True"):
        check_surfaces(sentences)
    assert text_of([Sentence([])]) == text_of([]) == ""


def test_unknown_spaces_are_blanks():
    def one(text, start, after):
        surface = Surface(text, [(0, len(text))], [1], start, after)
        return Sentence([text], surface=surface)

    assert text_of([one("a", 5, None), one("b", 9, ""), one("c", 10, None)]) == "a bc"
    # the second one does not follow the first in its document
    assert text_of([one("a", 5, " "), one("b", 0, None)]) == "a\n\nb"
