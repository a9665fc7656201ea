"""The choice of the files of a corpus for training, development and testing."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from keras_tagging.corpora.loading import SPLIT_WORDS
from keras_tagging.data import CorpusError, Sentence
from keras_tagging.data.sentence import SPLITS
from preparing.archives import Member


def split_files(source, members: Iterable[Member]) -> dict[str, Member]:
    """The file of each split, by its name, or else by the name of its folder.

    `load_corpus` uses the same words for the files of a folder. Files whose names
    differ only in such a word are a family. If several files are the same split, the
    family that has the other splits too wins; a split that it lacks comes from another
    family. A file called eval is for testing if there is none called test.

    Args:
        source: the source of the files, for messages.
        members: the files.

    Raises:
        CorpusError: if there is no training file, or several are equally good.
    """
    members = list(members)
    families: dict[str, dict[str, dict[str, Member]]] = defaultdict(dict)
    for member in members:
        name = member.inside.lower().removesuffix(".gz")
        words = re.split("([^a-z0-9]+)", name)
        places = [i for i, word in enumerate(words) if word in SPLIT_WORDS]
        if places:
            split = SPLIT_WORDS[words[places[-1]]]
            words[places[-1]] = "*"
            # A file and the same one compressed are one.
            files = families["".join(words)].setdefault(split, {})
            files.setdefault(name, member)
    if not any("test" in family for family in families.values()):
        for family in families.values():
            if "eval" in family:
                family["test"] = family["eval"]
    chosen = {}
    for split in SPLITS:
        having = [family for family in families.values() if split in family]
        ranks = [[other in family for other in SPLITS] for family in having]
        best = [
            member
            for family, rank in zip(having, ranks, strict=True)
            if rank == max(ranks)
            for member in family[split].values()
        ]
        if len(best) > 1:
            names = ", ".join(member.inside for member in best[:5])
            what = f"{names} could each be the {split} file"
            raise CorpusError(f"{source}: {what}; name the folder of one of them")
        if best:
            chosen[split] = best[0]
    if "train" not in chosen:
        names = ", ".join(member.inside for member in members[:5])
        what = f"no file is named train or the like (found: {names})"
        raise CorpusError(f"{source}: {what}; name its folder, or rename the files")
    return chosen


def in_tenths(sentences: Sequence[Sentence]) -> dict[str, Sequence[Sentence]]:
    """Split sentences as Candito and others divide the French Treebank.

    The first tenth is for testing, the second for development, the rest for training:
    1235, 1235 and 9881 of 12351 sentences.
    """
    tenth = round(len(sentences) / 10)
    return {
        "train": sentences[2 * tenth :],
        "dev": sentences[tenth : 2 * tenth],
        "test": sentences[:tenth],
    }
