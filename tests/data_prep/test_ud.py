import tarfile

import pytest

from keras_tagging import load_corpus


def conllu(*words):
    rows = "1-2\t{0}\t_\t_\t_\t_\t_\t_\t_\t_\n1\t{0}\t_\tADP\t_\t_\t0\troot\t_\t_\n"
    rows += "2\tle\t_\tDET\t_\t_\t{1}\tdet\t_\t_\n\n"
    return "# text = x\n" + "".join(rows.format(word, 1) for word in words)


@pytest.fixture
def release(tmp_path):
    for treebank in ("UD_French-One", "UD_French-Two"):
        folder = tmp_path / "release" / treebank
        folder.mkdir(parents=True)
        for split, words in {"train": "ab", "dev": "c", "test": "d"}.items():
            words = [f"{word}-{treebank}" for word in words]
            path = folder / f"fr-ud-{split}.conllu"
            path.write_text(conllu(*words), "utf-8")
    with tarfile.open(tmp_path / "ud.tgz", "w:gz") as archive:
        archive.add(tmp_path / "release", "ud-treebanks")
    return tmp_path


def test_a_treebank_of_a_release(run, release, tmp_path):
    options = ["--treebank", "UD_French-Two"]
    code, told, err = run("ud", release / "ud.tgz", tmp_path / "out", *options)
    assert (code, err) == (0, "")
    corpus = load_corpus(tmp_path / "out")
    assert [len(part) for _, part in corpus.splits()] == [2, 1, 1]
    assert corpus.train[0].tokens == ["a-UD_French-Two", "le"]
    assert corpus.train[0].tags == ["ADP", "DET"]
    assert ["train", "sentences", "2", "-"] in [x.split() for x in told.splitlines()]
    source = release / "release" / "UD_French-Two"
    assert run("ud", source, tmp_path / "b")[0] == 0
    assert load_corpus(tmp_path / "b").fingerprint() == corpus.fingerprint()


def test_columns_and_tags(run, release, tmp_path):
    source = release / "release" / "UD_French-One"
    options = ["--tag", "deprel", "--column", "pos", "--column", "head", "--trees"]
    assert run("ud", source, tmp_path / "out", *options)[0] == 0
    rows = (tmp_path / "out" / "dev.conll").read_text("utf-8")
    assert rows == "c-UD_French-One\tADP\t0\troot\nle\tDET\t1\tdet\n\n"


@pytest.mark.parametrize(
    "options, message",
    [
        ([], "could each be the train file; name the folder of one of them"),
        (["--treebank", "UD_Latin"], "has no folder UD_Latin; check its name"),
        (
            ["--treebank", "UD_French-One", "--tag", "xpos"],
            "fr-ud-train.conllu: sentence 1 has no xpos; give another --tag",
        ),
        (["--column", "form"], "--column form: is pos, xpos, lemma, head or deprel"),
    ],
)
def test_errors_are_one_line(failing, release, options, message):
    assert message in failing("ud", release / "release", *options)
