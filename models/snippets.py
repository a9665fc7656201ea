"""Take English sentences out of the source archive of vaderSentiment: text for `en`.

    pip download --no-deps --no-binary :all: vaderSentiment==3.3.2
    python models/snippets.py vaderSentiment-3.3.2.tar.gz > snippets.txt

Hutto and Gilbert (2014) collected 23,703 snippets: reviews of products and films,
newspaper editorials and tweets, much like the English Web Treebank. The archive is
under the MIT licence. Each snippet becomes a paragraph; the scores are left out. No
text is part of a model or of this repository: `teacher.py` annotates it, and `pupil.py`
learns from that.
"""

import argparse
import html
import io
import tarfile
from pathlib import Path

INNER = "hutto_ICWSM_2014.tar.gz"
SOURCES = ("amazonReview", "movieReview", "nytEditorial", "tweets")


def snippets(archive: Path):
    """The texts of the archive in the archive, source by source."""
    with tarfile.open(archive) as outer:
        [name] = (x for x in outer.getnames() if x.endswith(f"/{INNER}"))
        inner = io.BytesIO(outer.extractfile(name).read())
    with tarfile.open(fileobj=inner) as files:
        for source in SOURCES:
            [name] = (
                x
                for x in files.getnames()
                if x.rpartition("/")[2].startswith(source)
                and x.endswith("_GroundTruth.txt")
            )
            content = files.extractfile(name).read().decode("utf-8", "replace")
            for line in content.split("\n"):
                columns = line.rstrip("\r").split("\t")
                if len(columns) > 2:  # a number, a score, the text
                    yield html.unescape(columns[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", type=Path)
    print("\n\n".join(snippets(parser.parse_args().archive)))


if __name__ == "__main__":
    main()
