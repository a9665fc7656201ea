"""Classes of words from files: what is read, and what is refused in one line."""

import gzip
import pickle

import numpy as np
import pytest
from pickles import Runs

from keras_tagging.encoding.vocabulary import grouped, numbered, prefix_rows
from keras_tagging.vectors import read_word_classes

LINES = "the\t0101\nThe\t0101\ne\u0301a\t01\r\ndog\t11"
CLASSES = {"the": "0101", "The": "0101", "éa": "01", "dog": "11"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("name", ["classes.tsv", "classes.tsv.gz"])
def test_a_word_a_tab_and_a_path(tmp_path, name, encoding):
    path, content = tmp_path / name, LINES.encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert read_word_classes(path) == CLASSES
    assert read_word_classes(CLASSES) == CLASSES


def test_lines_of_brown_cluster(tmp_path):
    """Path, word and count, as its `paths` file has them; a word may be a number."""
    path = tmp_path / "paths"
    path.write_text("0101\tthe\t3\n01\t1990\t12\n11\t10\t1\r\n")
    assert read_word_classes(path) == {"the": "0101", "1990": "01", "10": "11"}


def test_names_in_the_place_of_paths(tmp_path):
    path = tmp_path / "cities"
    path.write_text("boston\tcity_name\nten\tnumber\n")
    assert read_word_classes(path, paths=False) == {
        "boston": "city_name",
        "ten": "number",
    }
    with pytest.raises(
        ValueError, match=r"cities:1: .*'city_name'.*class_prefixes=\(\)"
    ):
        read_word_classes(path)


@pytest.mark.parametrize(
    "content, message",
    [
        (b"a\t01\nb 01\n", ":2: is not a word, a tab and its class"),
        (b"0101\tthe\tx\n", ":1: is not a word, a tab"),
        (b"0101\tthe\t7\nthe\t01", ":2: 'the' has a class in an earlier line"),
        (b"a\t01\nb\t012\n", ":2: the class '012' is no path of 0 and 1"),
        (b"a\t01\na\t01\n", ":2: 'a' has a class in an earlier line: keep one"),
        (b"\t01\n", ":1: the word or its class is missing"),
        (b"a\t\n", ":1: the word or its class is missing"),
        (b"a\t01\n\xff\t01\n", ":2: is not a word, a tab"),
        (b"a\t" + 2**17 * b"0", ":1: .* has a tab, or is too long"),
        (b"a\t01\n" + 2**21 * b"0", ":2: has more than 1,048,576 bytes in one line"),
        (b"", ": has no word classes"),
        (pickle.dumps(Runs(exec, "raise SystemExit")), ":1: is not a word, a tab"),
    ],
)
def test_what_is_malformed_gets_one_line(tmp_path, content, message):
    path = tmp_path / "classes.tsv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        read_word_classes(path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_what_is_given_as_an_object_is_checked_too():
    for classes, message in (({"a": "x"}, "no path of 0"), ({"a\tb": "01"}, "a tab")):
        with pytest.raises(ValueError, match=f"^the class of 'a.*{message}"):
            read_word_classes(classes)
    with pytest.raises(ValueError, match="given word classes: has no word classes"):
        read_word_classes({})


def test_words_have_the_id_of_their_class():
    entries = grouped(CLASSES)
    assert entries == ["01\téa", "0101\tthe\tThe", "11\tdog"]
    assert dict(numbered("cluster", entries)) == {
        "éa": 2,
        "the": 3,
        "The": 3,
        "dog": 4,
    }
    assert dict(numbered("word", ["a", "b"])) == {"a": 2, "b": 3}


def test_equal_prefixes_have_one_row():
    rows = prefix_rows(["0101\ta", "0100\tb", "01\tc", "11\td"], (1, 3))
    assert rows.dtype == np.int32 and rows[:2].tolist() == [[0] * 3, [1] * 3]
    first, third, whole = rows[2:].T.tolist()
    assert first[0] == first[1] == first[2] != first[3]
    assert third[0] == third[1] and len({*third}) == 3  # 010, 01 and 11
    assert len({*whole}) == 4
    used = [{*column} for column in (first, third, whole)]
    assert set.union(*used) == {*range(2, 2 + 2 + 3 + 4)}
