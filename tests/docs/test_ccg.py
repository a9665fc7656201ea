import re
from pathlib import Path

from ccg.trees import tree

from keras_tagging.ccg import Derivation

PAGE = Path(__file__).parents[2] / "docs" / "ccg.rst"
BLOCK = re.compile(r"\.\. code-block:: (python|text)\n\n((?:   .*\n|\n)+)")


def test_the_page_runs_and_shows_what_it_draws(tmp_path, monkeypatch, capsys):
    gap = tree("S[dcl]/NP", tree(r"S/(S\NP)", "he|NP"), r"read|(S[dcl]\NP)/NP")
    relative = tree(r"NP\NP", r"that|(NP\NP)/(S[dcl]/NP)", gap)
    root = tree("NP", tree("NP", "the|NP/N", "book|N"), relative)
    (tmp_path / "test.auto").write_text(Derivation(root).auto(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = [
        (kind, re.sub("^   ", "", text, flags=re.M).strip("\n") + "\n")
        for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    ]
    names = {}
    for kind, text in blocks:
        if kind == "text":
            assert text == capsys.readouterr().out
        else:
            exec(text, names)
    assert "book read (S[dcl]\\NP)/NP 2\n" in capsys.readouterr().out
    assert (tmp_path / "grammar.json").exists()
