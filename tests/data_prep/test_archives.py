import gzip
import tarfile

import pytest
from hostile.test_archives import opened, tar_of, zip_of

from keras_tagging.data import CorpusError
from preparing import archives
from preparing.archives import members

FILES = {
    "disc/README": b"not this",
    "disc/b/10/x.mrg": b"three",
    "disc/b/2.mrg": b"four",
    "disc/b/.hidden.mrg": b"not this",
    "disc/a/Y.MRG": b"one",
    "disc/a/z.mrg.gz": gzip.compress(b"two"),
    "disc/a/w.pos": b"not this",
}
FOUND = {
    "disc/a/Y.MRG": b"one",
    "disc/a/z.mrg.gz": b"two",
    "disc/b/10/x.mrg": b"three",
    "disc/b/2.mrg": b"four",
}


def folder_of(path, files):
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


MAKERS = [
    (folder_of, "disc.d"),
    (zip_of, "disc.zip"),
    (zip_of, "DISC.ZIP"),
    *((tar_of, f"disc.{end}") for end in ("tar", "tgz", "tar.gz", "tar.bz2", "tar.xz")),
]


@pytest.mark.parametrize("maker, name", MAKERS, ids=[name for _, name in MAKERS])
def test_members_are_the_same_however_they_are_packed(tmp_path, maker, name):
    source = maker(tmp_path / name, FILES)
    found = list(members(source, ".mrg"))
    assert list(opened(found).items()) == list(FOUND.items())
    assert [m.name for m in found] == [f"{source}/{inside}" for inside in FOUND]
    both = opened(members(str(source), (".pos", ".MRG")))
    assert set(both) == {*FOUND, "disc/a/w.pos"}
    # in any order, and several at a time
    first, last = found[-1].open(), found[0].open()
    assert (first.read(2), last.read(2), first.read()) == (b"fo", b"on", b"ur")
    first.close(), last.close()


def test_nothing_is_extracted(tmp_path):
    absolute = tmp_path.parent / f"{tmp_path.name}.mrg"
    files = {"../../up.mrg": b"a", str(absolute): b"b", "C:\\c.mrg": b"c"}
    for source in (
        zip_of(tmp_path / "a.zip", files),
        tar_of(tmp_path / "a.tgz", files),
    ):
        before = sorted(tmp_path.parent.rglob("*"))
        found = opened(members(source, ".mrg"))
        assert sorted(found.values()) == [b"a", b"b", b"c"]
        assert "../../up.mrg" in found
        assert sorted(tmp_path.parent.rglob("*")) == before
    assert not absolute.exists()


def test_links_and_forks_are_left_out(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("passwd.mrg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("real.mrg"))
    assert list(opened(members(tmp_path / "a.tar", ".mrg"))) == ["real.mrg"]
    files = {"a.mrg": b"a", "__MACOSX/a.mrg": b"fork"}
    source = zip_of(tmp_path / "a.zip", files)
    assert list(opened(members(source, ".mrg"))) == ["a.mrg"]


@pytest.mark.parametrize("name", ["lone.mrg", "lone.txt", "lone.txt.gz"])
def test_a_single_file_is_a_member_whatever_its_name(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"x") if name.endswith(".gz") else b"x")
    [member] = members(path, ".mrg")
    assert (member.name, member.inside) == (str(path), name)
    assert opened([member]) == {name: b"x"}


def test_a_large_tar_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "IN_MEMORY", 1000)
    files = {f"{i}.mrg": bytes([i]) * 3000 for i in range(5)}
    found = list(members(tar_of(tmp_path / "a.tgz", files), ".mrg"))
    assert opened(found) == files
    assert opened(reversed(found)) == files


def test_a_tar_cut_off_between_two_members_is_truncated(tmp_path):
    source = tar_of(tmp_path / "a.tar", {"1.mrg": b"x" * 512, "2.mrg": b"y" * 512})
    source.write_bytes(source.read_bytes()[:1024])
    with pytest.raises(CorpusError, match="no end of the archive"):
        list(members(source, ".mrg"))


@pytest.mark.parametrize("name", ["text.zip", "text.tgz", "text.tar", "text.tar.xz"])
def test_what_is_no_archive_is_told(tmp_path, name):
    (tmp_path / name).write_text("<html>404</html>")
    with pytest.raises(CorpusError, match=f"{name}: cannot be read: "):
        list(members(tmp_path / name, ".mrg"))


def test_what_is_not_there_is_told(tmp_path):
    with pytest.raises(CorpusError, match="nowhere: there is no such file or folder"):
        list(members(tmp_path / "nowhere", ".mrg"))
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(CorpusError, match="no file whose name ends in .mrg or .pos "):
        list(members(tmp_path, (".mrg", ".pos")))
