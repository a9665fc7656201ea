import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_tagging.data import CorpusError
from keras_tagging.data.raw_text import pieces_of, sentences_of_lines, text_lines
from keras_tagging.utils import limits

TEXTS = st.text(st.sampled_from("ab \t\r\n\u00a0é"), max_size=40)


@given(TEXTS, st.integers(1, 5))
def test_words_stand_where_their_offsets_say(text, size):
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    found = list(sentences_of_lines(pieces))
    assert found == list(sentences_of_lines([text]))
    lines = [line.replace("\t", " ").replace("\r", " ") for line in text.split("\n")]
    expected = [[w for w in line.split(" ") if w] for line in lines]
    assert [s.tokens for s in found] == [words for words in expected if words]
    for sentence in found:
        for token, (start, end) in zip(
            sentence.tokens, sentence.surface.offsets, strict=True
        ):
            assert text[start:end] == token
    for one, after in zip(found, found[1:], strict=False):
        end = one.surface.start + len(one.surface.text)
        assert text[end : after.surface.start] == one.surface.after
    if found:
        assert found[-1].surface.after is None


def test_much_white_space_is_not_kept():
    text = "a\n" + " \n" * limits.WHITE_CHARACTERS + "b"
    one, other = sentences_of_lines([text])
    assert one.surface.after is None
    assert other.surface.start == len(text) - 1


def test_a_line_that_is_too_long(monkeypatch):
    monkeypatch.setattr(limits, "SENTENCE_CHARACTERS", 10)
    monkeypatch.setattr(limits, "SENTENCE_TOKENS", 3)
    with pytest.raises(ValueError, match="line 2 .* more than 10 characters"):
        list(sentences_of_lines(["a b\n", *["abc"] * 9]))
    with pytest.raises(ValueError, match="line 2 .* or 3 words"):
        list(sentences_of_lines("a b\na b c d\n"))

    def endless():
        while True:
            yield "abc"

    with pytest.raises(ValueError, match="line 1"):
        list(sentences_of_lines(endless()))


def test_the_lines_of_a_file_are_its_text(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("\ufeffa é\r\n\n b".encode())
    assert "".join(text_lines(path)) == "a é\r\n\n b"
    path.write_bytes("é\nb".encode("latin-1"))
    assert "".join(text_lines(path, "latin-1")) == "é\nb"
    assert "".join(text_lines(io.BytesIO(b"a\nb\n"))) == "a\nb\n"
    old = sentences_of_lines(text_lines(io.BytesIO(b"a b.\rc d\re\r")))
    assert [s.tokens for s in old] == [["a", "b."], ["c", "d"], ["e"]]


@pytest.mark.parametrize(
    "pieces", ["\ufeffa b", ["\ufeff", "a b"], iter(["", "\ufeffa b"])]
)
def test_a_byte_order_mark_is_part_of_no_word(pieces):
    [sentence] = sentences_of_lines(pieces_of(pieces))
    assert sentence.tokens == ["a", "b"]
    assert sentence.surface.start == 1  # places are those of the text that was given


def test_what_is_not_text_is_refused_with_its_line(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\n\xff\xfe\n")
    with pytest.raises(CorpusError, match="text:2: byte 1 .* is not utf-8: 0xff; "):
        list(text_lines(path))
    with pytest.raises(ValueError, match="not known"):
        list(text_lines(path, "nothing"))
