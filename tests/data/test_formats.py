import io
import re

import pytest

from keras_tagging.data import CorpusError, Sentence, read


def conllu(*rows):
    return "".join("\t".join(row.split()) + "\n" for row in rows)


GOOD = "1 a a D D _ 2 det _ _", "2 b b N N _ 0 root _ _"
TREE = "( (S\n  (NN a)))\n"
CONLL = "a\tD\nb\tN\n\nc\tV\n\nd\tV\n"
# format, content, malformed line, what is wrong, sentences that remain
MALFORMED = [
    ("conll", CONLL + "\ne\n", 8, "1 columns where", 3),
    ("conll", CONLL.replace("c\t", "c\tc\t"), 4, "3 columns", 2),
    ("conll", "a\tD\t\n" * 50 + "\nb\tN\tx\n", 52, "3 columns where the file has 2", 1),
    ("conll", "a\tD\n# x\ty\tz\n", 2, "3 columns where", 0),
    ("conll", "a D\nb N\n\n# N\nc V\n# I N\n", 6, "3 columns", 1),
    ("conll", CONLL + "\n\tV\n", 8, "column 1 (token_column) is", 3),
    ("conll", CONLL + "\ne\t\n", 8, "column 2 (tag_column) is", 3),
    ("conllu", conllu(*GOOD, "3 c c N N"), 3, "5 tab-separated", 0),
    ("conllu", conllu(GOOD[0], "", *GOOD), 1, "the head is '2'", 1),
    ("pipe", "a|b|c\na|b d|e|f\n\n", 2, "item 1, 'a|b',", 2),
    ("pipe", "a|b|c\n|e|f\n", 2, "item 1, '|e|f',", 1),
    ("auto", "(<L N A A w N>)\nhello\n", 2, "not a derivation", 1),
    ("auto", "ID=1\nID=2\n(<L N A A w N>)\n", 1, "follows", 1),
    ("auto", "(<L N A A w N>)\nID=2\n", 2, "no derivation", 1),
    ("atis", "BOS a EOS\tO O O\nBOS a EOS\tO O\n", 2, "3 words but 2", 1),
    ("atis", "BOS a EOS\tO O O\nBOS a EOS O\n", 2, "no words betw", 1),
    ("atis", "a EOS\tO O\n", 1, "between BOS and EOS", 0),
    ("ctf", "1 |S0 1:1 |# a |S2 1:1 |# N\n2 |S0 1:1 |# a\n", 2, "no field S2 or L", 1),
    ("ctf", "1 |CW 1:1 |L 3:1\n", 1, "'1:1' has no comment", 0),
    ("jsonl", '{"tokens": []}\n{"tokens": ["a"\n', 2, "not JSON", 1),
    ("jsonl", '[{"tokens": []},\n\n{"tokens": [\nb]}]', 4, "value at 'b]}'", 1),
    ("jsonl", '\n[{"tokens": []},\n{"tokens": []}', 3, "not end; write", 2),
    ("jsonl", '[{"tokens": []},,\n{"tokens": []}]', 1, "not JSON: Expecting value", 2),
    ("jsonl", '[{"tokens": []},\n "caf\xe9", {"tokens": []}]', 2, "no list of str", 2),
    ("jsonl", '{"tags": []}\n', 1, "no list of strings", 0),
    ("jsonl", '{"tokens": ["a"], "tags": [[]]}\n', 1, "'tags' is none", 0),
    ("jsonl", '{"tokens": ["a"], "tags": []}\n', 1, "1 tokens but 0", 0),
    ("jsonl", '{"tokens": ["a"], "p": [1, 2]}', 1, "but 2 p", 0),
    ("conllx", conllu(GOOD[0], "3 b b N N _ 0 r _ _"), 2, "not 2", 0),
    ("mrg", "((S\n  (NN a))\n" + TREE, 1, "the tree that begins here is", 1),
    ("mrg", "((S (NN a))))\n" + TREE, 1, "goes on with ')' here", 1),
    ("mrg", "((S (NN a)\n (NN b c)))\n", 2, "goes on with 'c'", 0),
    ("mrg", "a word\n" + TREE, 1, "goes on with 'a'", 1),
    ("mrg", "((S (NN a))) (S (NN b))\n", 1, "or shares its line", 0),
    ("pos", "a/NN b\n====\n", 1, "'b' is not word/TAG", 0),
    ("pos", "a/NN\nb/\n======\nc/NN\n", 2, "'b/' is not word/TAG", 1),
    ("pos", "[ a/NN\n======\nc/NN\n", 1, "the end does not match", 1),
    ("pos", "[ [ a/NN ] ]\n======\nc/NN\n", 1, "[ does not match", 1),
]


@pytest.mark.parametrize("format, content, line, what, remaining", MALFORMED)
def test_malformed_input(tmp_path, format, content, line, what, remaining):
    path = tmp_path / "corpus.txt"
    path.write_text(content, "utf-8")
    with pytest.raises(CorpusError) as caught:
        list(read(path, format))
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert what in message
    assert re.fullmatch(r".+:\d+: [^;]+; .+", message)  # and on one line
    skipped = []
    left = list(read(path, format, errors="skip", skipped=skipped))
    assert len(left) == remaining
    assert skipped[0] == message


def read_text(content, format="conll", **options):
    return list(read(io.StringIO(content), format, **options))


def test_conll_columns():
    content = "a  x D p \n b\ty N q\n"
    [sentence] = read_text(content, columns={"pos": 1, "chunk": -1})
    assert sentence == Sentence(
        ["a", "b"], ["p", "q"], {"pos": ["x", "y"], "chunk": ["p", "q"]}
    )
    [sentence] = read_text(
        "D|a|x\nN|b|y\n", separator="|", token_column=1, tag_column=0
    )
    assert sentence == Sentence(["a", "b"], ["D", "N"])
    [sentence] = read_text("New York\tN\n is\tV\n")
    assert sentence.tokens == ["New York", "is"]
    padded = read_text("Ada \tP \t\nA B\t P\t \n\n# \n! \t .\t\n#\tO\n")
    assert padded == [
        Sentence(["Ada", "A B"], ["P"] * 2),
        Sentence(["!", "#"], [*".O"]),
    ]
    assert read_text("a\nb\n")[0].tags is None
    assert read_text("a b\n", tag_column=None)[0].tags is None
    assert read_text("# 1\tB\na\tI\n", comments=False)[0].tokens == ["# 1", "a"]
    with pytest.raises(CorpusError, match="tag_column=2, but the rows have 2 columns"):
        read_text("a b\n", tag_column=2, errors="skip", skipped=[])


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        ("# # B\n5 CD I\n\n# id\na DT B\n\n# # B\n", [["#", "5"], ["a"], ["#"]]),
        ("#\tB\n5\tI\n\n# id\n#\na\tB\n\n#x\tB\n", [["#", "5"], ["a"], ["#x"]]),
        ("# x:y\tx:z\n## x\na\tB\n# mid\nb\tB\n", [["a", "b"]]),
        ("# only\n\n# comments\n", []),
        ("#x\tB\n\n#\tB\n", [["#x"], ["#"]]),
    ],
)
def test_comments_and_hash_tokens(content, tokens):
    assert [s.tokens for s in read_text(content)] == tokens


def test_pos_columns_and_extras():
    [sentence] = read_text("a|b|c|N/N |||X|Y\n", "pipe")
    assert sentence == Sentence(["a|b", "||"], ["N/N", "Y"], {"pos": ["c", "X"]})
    leaf = r"(<L (S\NP)/NP VB VBZ has (S\NP_1)/NP_2 {have.01:rel} [ARG0,ARG1]>)"
    content = f"#ID=0\nID=1\n(<T S 0 2 {{x}}> {leaf} (<T N 0 1> (<L , , P  , ,>) ) )\n"
    [sentence] = read_text(content, "auto")
    assert sentence == Sentence(["has", ","], [r"(S\NP)/NP", ","], {"pos": ["VB", ","]})
    [sentence] = read_text("BOS a  b EOS\t O B-x I-x flight \n", "atis")
    assert sentence == Sentence(["a", "b"], ["B-x", "I-x"])


@pytest.mark.parametrize("format", ["pipe", "conll"])
def test_ccg_categories(tmp_path, format):
    rows = [("a", "D", "np/n"), ("cat", "N", "((N))"), ("sits", "V", r"S[dcl]_1\NP_2")]
    path = tmp_path / "corpus"

    def content(rows):
        if format == "pipe":
            return " ".join(map("|".join, rows)) + "\n"
        return "# id\n" + "".join("\t".join(row) + "\n" for row in rows) + "\n"

    path.write_text(content(rows), "utf-8")
    [sentence] = read(path, format)
    assert sentence.tags == [row[-1] for row in rows]
    [sentence] = read(path, format, categories="ccgbank")
    assert sentence.tags == ["NP/N", "N", r"S[dcl]\NP"]
    [sentence] = read(path, format, categories="pmb")
    assert sentence.tags == ["np/n", "n", r"s:dcl\np"]
    path.write_text(content(rows) + content([*rows, ("!", ".", "S//")]), "utf-8")
    line = 2 if format == "pipe" else 10
    what = f"^{path}:{line}: the category 'S//' has no result before '/'.*; write it"
    with pytest.raises(CorpusError, match=what):
        list(read(path, format, categories="ccgbank"))
    with pytest.raises(ValueError, match="categories='x': known are 'ccgbank', 'pmb'"):
        read(path, format, categories="x")


def test_ctf_indices():
    row = "1 |PW 0:1 |CW {}:1 |NW 2:1 |L 1:1\n"
    texts = {"words": ["a", "b c"], "labels": ["O", "N|M"]}
    assert read_text(row.format(1), "ctf", **texts) == [Sentence(["b c"], ["N|M"])]
    for index in ("2", "-1", "1:1 2", "x"):
        with pytest.raises(CorpusError, match=":1: .* has no comment"):
            read_text(row.format(index), "ctf", **texts)


def test_json_fields():
    line = '{"words": ["a", "b"], "ner": [0, 1], "head": [2, 0], "id": 7, "x": [[]]}'
    [sentence] = read_text(line, "jsonl", token_field="words", tag_field="ner")
    assert sentence == Sentence(["a", "b"], ["0", "1"], {"head": ["2", "0"]})
    assert read_text('{"tokens": ["a"], "tags": null}', "jsonl")[0].tags is None
    array = '[{"tokens": ["a"]},\n{"tokens": ["\xe9, [{"]},\n {"tokens": ["b"]}]'
    bad, skipped = io.BytesIO(array.encode("latin-1")), []
    found = read(bad, errors="skip", skipped=skipped)
    assert [s.tokens for s in found] == [["a"], ["b"]] and ":2: byte 14" in skipped[0]
    with pytest.raises(CorpusError, match=":2: text outside of the array; write"):
        read_text('[{"tokens": ["a"]}]\n{"tokens": []}', "jsonl")
