"""Small treebanks, with and without spaces, from large ones: for curves by size.

    python benchmarks/cut_corpora.py ud-english-ewt ud-french-sequoia --out cut/

writes `cut/ud-english-ewt-400`, `cut/ud-english-ewt-400-joined` and so on, folders with
`train.conllu`, `dev.conllu` and `test.conllu`. The corpora are folders with the three
files in CoNLL-U, in the folder that the environment variable KERAS_TAGGING_DATA names
or any other.

Training sentences are blocks of 20 neighbours, spread evenly over the file, so that
sentences keep their neighbours and all genres have their share. The development
sentences are 400, cut in the same way; the test sentences are all. `joined` text has no
spaces between tokens nor between sentences, as Chinese has none: `SpaceAfter=No`
everywhere, and no spaces in `# text` but those inside of tokens. Paragraphs stay.
"""

import argparse
import os
from pathlib import Path

BLOCK = 20
SIZES = (100, 400, 1600)
DEV = 400
SPLITS = ("train", "dev", "test")


def sentences_of(path: Path) -> list[list[str]]:
    """The sentences of a file, each as its lines."""
    parts = path.read_text("utf-8").split("\n\n")
    return [part.strip("\n").split("\n") for part in parts if part.strip()]


def cut(sentences: list, size: int) -> list:
    """So many sentences, in blocks of neighbours, spread evenly."""
    if size >= len(sentences):
        return sentences
    blocks = -(-size // BLOCK)
    starts = [block * len(sentences) // blocks for block in range(blocks)]
    chosen = [place for start in starts for place in range(start, start + BLOCK)]
    return [sentences[place] for place in chosen[:size]]


def joined(lines: list[str]) -> list[str]:
    """A sentence without the spaces between its tokens, and behind the last one."""
    out, forms, covered = [], [], 0
    for line in lines:
        if line.startswith("#"):
            out.append(line)
            continue
        row = line.split("\t")
        first, _, last = row[0].partition("-")
        if "." not in first and int(first) > covered:  # a token of the text
            covered = int(last or first)
            forms.append(row[1])
            kept = [item for item in row[9].split("|") if not item.startswith("Space")]
            row[9] = "|".join(
                ["SpaceAfter=No", *(item for item in kept if item != "_")]
            )
        out.append("\t".join(row))
    text = "# text = " + "".join(forms)
    return [text if line.startswith("# text = ") else line for line in out]


def write(path: Path, sentences: list[list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    blocks = ("\n".join(lines) + "\n\n" for lines in sentences)
    path.write_text("".join(blocks), "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    args = parser.parse_args()
    data = Path(os.environ.get("KERAS_TAGGING_DATA", "."))
    for folder in args.corpora:
        source = folder if folder.is_dir() else data / folder
        found = {split: next(source.glob(f"*{split}.conllu")) for split in SPLITS}
        splits = {split: sentences_of(path) for split, path in found.items()}
        splits["dev"] = cut(splits["dev"], DEV)
        for size in args.sizes:
            parts = splits | {"train": cut(splits["train"], size)}
            for ending, change in (("", list), ("-joined", joined)):
                out = args.out / f"{folder.name}-{size}{ending}"
                for split, sentences in parts.items():
                    write(out / f"{split}.conllu", list(map(change, sentences)))
                print(out)


if __name__ == "__main__":
    main()
