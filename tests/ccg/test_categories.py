import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_tagging.ccg.categories import (
    Atom,
    CategoryError,
    Functor,
    normalise,
    parse_category,
    write_category,
)
from keras_tagging.data.formats.brackets import category_at
from keras_tagging.data.records import Malformed

N, NP, S = Atom("N"), Atom("NP"), Atom("S")
DCL = Atom("S", ("dcl",))


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("N", N),
        ("N/N", Functor(N, "/", N)),
        (r"(S[dcl]\NP)/NP", Functor(Functor(DCL, "\\", NP), "/", NP)),
        (r"S[dcl]\NP/NP", Functor(Functor(DCL, "\\", NP), "/", NP)),
        (r"S/(S\NP)", Functor(S, "/", Functor(S, "\\", NP))),
        ("(S_1/NP_2:B)_1", Functor(S, "/", NP)),
        ("NP[nb]_29/N_29", Functor(Atom("NP", ("nb",)), "/", N)),
        ("S[dcl][conj]", Atom("S", ("dcl", "conj"))),
        (r"(S\NP)[conj]", Functor(S, "\\", NP, ("conj",))),
        (r"S[dcl]\NP[conj]", Functor(DCL, "\\", NP, ("conj",))),
        (r"N/(N/N)[conj]", Functor(N, "/", Functor(N, "/", N), ("conj",))),
        (r"s:dcl\np:conj", Functor(DCL, "\\", NP, ("conj",))),
        (r"(S\NP)[conj]/NP", Functor(Functor(S, "\\", NP, ("conj",)), "/", NP)),
        (":/NP", Functor(Atom(":"), "/", NP)),
        ("lrb", Atom("LRB")),
        (r"s:X\s:X", Functor(Atom("S", ("X",)), "\\", Atom("S", ("X",)))),
        ("NP[case=ga,mod=X]", Atom("NP", ("case=ga,mod=X",))),
        (" , ", Atom(",")),
    ],
)
def test_parsing(text, category):
    assert parse_category(text) == category
    assert parse_category(str(category)) == category


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "ends too early"),
        ("()", "closes a bracket too early at character 2"),
        ("S[dcl", "has '[' at character 2"),
        (r"(S\NP)~SB", "has '~' at character 7"),
        ("S//NP", "has no result before '/' at character 3"),
        ("S/", "ends too early"),
        ("S(NP)", "has no slash between two categories"),
        (r"(S\NP", "does not close a bracket"),
        (r"S\NP)", "closes a bracket too early at character 5"),
        ("(" * 600, "has 600 characters"),
    ],
)
def test_unknown_syntax(text, what):
    with pytest.raises(CategoryError, match=re.escape(what)) as caught:
        parse_category(text)
    assert re.fullmatch(r"the category '.*' [^;]+; write it as .+", str(caught.value))
    with pytest.raises(Malformed) as caught:
        category_at(7, text, "ccgbank")
    assert caught.value.line == 7
    assert what in caught.value.what


def test_the_published_slip_is_mended():
    slip, mended = r"((S[b]\NP)/NP)/", r"(S[b]\NP)/NP"
    assert normalise(slip) == category_at(1, slip, None) == mended
    assert normalise(r"((S[b]\NP_199)/NP_200)/_201") == mended
    with pytest.raises(CategoryError):
        normalise(r"((S[pt]\NP)/NP)/")


def test_without_a_notation_categories_stay_as_they_are():
    assert category_at(1, "((N", None) == "((N"


names = st.sampled_from("S N NP PP PR conj LRB . , : ;".split())
features = st.lists(st.sampled_from("dcl b X conj".split()), max_size=2).map(tuple)
atoms = st.builds(Atom, names, features)
categories = st.recursive(
    atoms,
    lambda part: st.builds(Functor, part, st.sampled_from("/\\"), part, features),
    max_leaves=8,
)


def readable(category):
    r"""Not one like `S\NP[conj]`, whose `[conj]` is read as that of the whole."""
    bare = isinstance(category, Functor) and not category.features
    return not bare or category.argument.features[-1:] != ("conj",)


checked = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@checked
@given(categories.filter(readable), st.sampled_from(["ccgbank", "pmb"]))
def test_what_is_written_is_read_back(category, notation):
    written = write_category(category, notation)
    assert parse_category(written) == category
    assert normalise(f"(({written}))", notation) == written


@checked
@given(st.text("SNP()/\\[]:_1dcl", max_size=20))
def test_any_text_is_a_category_or_an_error(text):
    try:
        written = normalise(text)
    except CategoryError:
        return
    assert normalise(written) == written


def test_the_normal_form_has_the_same_limit():
    """Else what is read and written could not be read again."""
    text = "/".join(["N"] * 250)
    assert len(text) < 500
    with pytest.raises(CategoryError, match="characters in normal form"):
        normalise(text)
