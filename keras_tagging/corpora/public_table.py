"""The table of the public corpora: where each comes from, and under which licence.

Every file comes from a fixed commit or release. Its SHA-256 is given, or, where it is
None, recorded when the file is downloaded for the first time and checked from then on;
its size is an estimate then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

GITHUB = "https://raw.githubusercontent.com"
UD = f"{GITHUB}/UniversalDependencies"


@dataclass(frozen=True, slots=True)
class File:
    """One file of a corpus: its name, its SHA-256 or None, and its size in bytes."""

    name: str
    sha256: str | None
    size: int


@dataclass(frozen=True)
class PublicCorpus:
    """A corpus that can be downloaded.

    Args:
        title: what it is, in a line.
        base: the URL of the folder that holds the files; with `archive`, of that.
        files: for each split its file.
        licence, citation: as they are to be shown.
        folder: where KERAS_TAGGING_DATA may hold the files, besides the corpus' name.
        format, options: how to read it.
        archive: the name of the `.zip` the files come in, if they do, and
        inside: their folder in it.
    """

    title: str
    base: str
    files: dict[str, File]
    licence: str
    citation: str
    folder: str
    format: str
    options: Mapping = field(default_factory=dict)
    archive: str | None = None
    inside: str = ""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())


def _pmb(language: str, name: str, **files: File) -> PublicCorpus:
    folder = f"4.0.0/{language}/gold"
    commit = "190838f9adea2af616eb76156d2e66c8565a6c6e"
    return PublicCorpus(
        title=f"Parallel Meaning Bank 4.0.0, {name}, gold CCG categories",
        base=f"{GITHUB}/RikVN/DRS_parsing/{commit}/parsing/layer_data/{folder}",
        files=files,
        licence="MIT (the repository); texts in the public domain or Creative Commons",
        citation="Abzianidze et al. (2017), The Parallel Meaning Bank: Towards a "
        "Multilingual Corpus of Translations Annotated with Compositional Meaning "
        "Representations, EACL",
        folder=f"pmb-ccg/{folder}",
        format="conll",
        options={"tag_column": 4},
    )


PUBLIC: dict[str, PublicCorpus] = {
    "ud-en-ewt": PublicCorpus(
        title="Universal Dependencies 2.16, English Web Treebank",
        base=f"{UD}/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb",
        files={
            "train": File(
                "en_ewt-ud-train.conllu",
                "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
                14203025,
            ),
            "dev": File(
                "en_ewt-ud-dev.conllu",
                "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
                1805545,
            ),
            "test": File(
                "en_ewt-ud-test.conllu",
                "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
                1804515,
            ),
        },
        licence="CC BY-SA 4.0",
        citation="Silveira et al. (2014), A Gold Standard Dependency Corpus for "
        "English, LREC",
        folder="ud-english-ewt",
        format="conllu",
    ),
    "ud-fr-sequoia": PublicCorpus(
        title="Universal Dependencies 2.16, French Sequoia",
        base=f"{UD}/UD_French-Sequoia/f5b049600c89d2cf15ebbec860f75d703884d32b",
        files={
            "train": File(
                "fr_sequoia-ud-train.conllu",
                "56424954edf9d20a4d1184e37bfe931fb7c64da82bf2a587b4f35b828d79d767",
                3246253,
            ),
            "dev": File(
                "fr_sequoia-ud-dev.conllu",
                "a5138dc5e8886484c2f8919e97113f56b9e4329e5cf2a999c021d6ee45e8b45d",
                643734,
            ),
            "test": File(
                "fr_sequoia-ud-test.conllu",
                "a650e7a223fe191009ded17cedae740659449be20354bd68205c376de4ddef2d",
                644731,
            ),
        },
        licence="LGPL-LR",
        citation="Candito & Seddah (2012), Le corpus Sequoia : annotation syntaxique "
        "et exploitation pour l'adaptation d'analyseur par pont lexical, TALN",
        folder="ud-french-sequoia",
        format="conllu",
    ),
    "ud-fr-gsd": PublicCorpus(
        title="Universal Dependencies 2.16, French GSD",
        base=f"{UD}/UD_French-GSD/r2.16",
        files={
            "train": File("fr_gsd-ud-train.conllu", None, 23_000_000),
            "dev": File("fr_gsd-ud-dev.conllu", None, 2_300_000),
            "test": File("fr_gsd-ud-test.conllu", None, 650_000),
        },
        licence="CC BY-SA 4.0",
        citation="Guillaume, de Marneffe & Perrier (2019), Conversion et améliorations "
        "de corpus du français annotés en Universal Dependencies, TAL 60(2)",
        folder="ud-french-gsd",
        format="conllu",
    ),
    "pmb-en": _pmb(
        "en",
        "English",
        train=File(
            "train.conll",
            "cdbb6035a71112ad1c0e1707b9a16f7180cc78fe6e5d308f9240ec2da22a3f7a",
            3086378,
        ),
        dev=File(
            "dev.conll",
            "ac2abf3c55607a13efea523d258854633b1225d6173031e69bf56023adafc761",
            454715,
        ),
        test=File(
            "test.conll",
            "1c6c137292ad2cb6750fa2fd22655bb17eb71aa282b9e15b88ba0a11217c83c9",
            419272,
        ),
    ),
    "pmb-de": _pmb(
        "de",
        "German",
        train=File(
            "train.conll",
            "ff09288b3ed4e20e85d576d15ff24f3741d7c1c9c873088355910f676d9aab69",
            681180,
        ),
        dev=File(
            "dev.conll",
            "adb7f60e5f264ca61c27b3ba6953feacc2bd19f34ce261a33a1118e26422f0dd",
            215856,
        ),
        test=File(
            "test.conll",
            "3d9324f7ca3db8be4cc76bf7aacc70a500de9e78a4be7461e51273897a27a3cf",
            216778,
        ),
    ),
    "pmb-it": _pmb(
        "it",
        "Italian",
        train=File(
            "train.conll",
            "6ea6e5a0afef0c0eb63c1b024c98c2bed351c975cef387b446488d8600ec7fa3",
            256109,
        ),
        dev=File(
            "dev.conll",
            "d524de98f2f082ae3ec9b5ed3d768563989de7c4ac3e595e468f2b097d8131c0",
            195404,
        ),
        test=File(
            "test.conll",
            "43a7d1d9b3d329f08c2cd9a9b0efb8fdde34dca9e4a63a142e8739e1e0b9414c",
            171885,
        ),
    ),
    "pmb-nl": _pmb(
        "nl",
        "Dutch",
        train=File(
            "train.conll",
            "32db8c787c6fa088258bcef4763614c8e52f1181a894cdc22cd4cb504a09de3d",
            214828,
        ),
        dev=File(
            "dev.conll",
            "c29367476926031f0a4377291e75fd6eb7c6fa52b13166aaef1155eef4341ed3",
            173807,
        ),
        test=File(
            "test.conll",
            "df33bc82875f3d87ea26a117371405a190a474a3a588ef6a5421f4145ca4d2af",
            198419,
        ),
    ),
    "atis": PublicCorpus(
        title="ATIS, slots of flight queries",
        base=f"{GITHUB}/yvchen/JointSLU/fad79658f343e98c1737fcfe563e76069b62f064/data",
        files={
            "train": File(
                "atis-2.train.iob",
                "76f33fee4bb9f8d70cbf5dcd77208c58ae97dac9343e8fe62cfb363c2256131d",
                759141,
            ),
            "dev": File(
                "atis-2.dev.iob",
                "15c1a0d952aae4c0aa64b4be7457f5d216b9404b423573a345396977986921ca",
                86524,
            ),
            "test": File(
                "atis.test.iob",
                "408f441f87b3472df42c51f5d9e4431fa2dde62409174e28277e389f4bd58821",
                144077,
            ),
        },
        licence="none stated; the text is LDC's (ATIS0, ATIS2, ATIS3): research only, "
        "not to be passed on",
        citation="Hemphill, Godfrey & Doddington (1990), The ATIS Spoken Language "
        "Systems Pilot Corpus, HLT",
        folder="atis",
        format="atis",
    ),
    "conll2000": PublicCorpus(
        title="CoNLL-2000, chunks of the Wall Street Journal",
        base=f"{GITHUB}/nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28"
        "/packages/corpora",
        files={
            "train": File(
                "train.txt",
                "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
                2842164,
            ),
            "test": File(
                "test.txt",
                "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
                639396,
            ),
        },
        licence="none stated; the text is from the Penn Treebank (LDC): research only, "
        "not to be passed on",
        citation="Tjong Kim Sang & Buchholz (2000), Introduction to the CoNLL-2000 "
        "Shared Task: Chunking, CoNLL",
        folder="conll2000",
        format="conll",
        options={"columns": {"pos": 1}},
        archive="conll2000.zip",
        inside="conll2000",
    ),
    "ccg-questions": PublicCorpus(
        title="TREC questions with gold CCG categories",
        base=f"{GITHUB}/masashi-y/ud2ccg/0ff3ce645dbe3e94a674c6236a226673a2ca3a75"
        "/questionbank/questions",
        files={
            "train": File(
                "qus_train.staggedGold",
                "f723e43f2d782dfdc76db5a5b871f5197d89d1337fc80a5f9cd196228aefde60",
                185889,
            ),
            "test": File(
                "qus_test.staggedGold",
                "462fc2616eb7e2cbc9366688da93a4696d9aa73dd63e32ab6059ccca0f934f6b",
                68171,
            ),
        },
        licence="none stated: research only",
        citation="Rimell & Clark (2008), Adapting a Lexicalized-Grammar Parser to "
        "Contrasting Domains, EMNLP",
        folder="ccg-questions",
        format="pipe",
    ),
    "ccg-genia": PublicCorpus(
        title="GENIA, biomedical abstracts with gold CCG categories; no split",
        base=f"{GITHUB}/masashi-y/ud2ccg/0ff3ce645dbe3e94a674c6236a226673a2ca3a75"
        "/biomedical",
        files={
            "train": File(
                "GENIA1000.staggedgold",
                "dd48dda492964fc3856509eec67022f74f9894d3f25ff5abc2b4e74b0c8cb89d",
                443061,
            ),
        },
        licence="none stated; the text is GENIA's: research only",
        citation="Rimell & Clark (2009), Porting a Lexicalized-Grammar Parser to the "
        "Biomedical Domain, Journal of Biomedical Informatics 42(5)",
        folder="ccg-genia",
        format="pipe",
    ),
}
