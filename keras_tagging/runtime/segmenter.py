"""A segmenter that ONNX Runtime runs."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from keras_tagging.data.sentence import Sentence
from keras_tagging.encoding.vocabulary import CLUSTER
from keras_tagging.kinds import Output
from keras_tagging.runtime.models import Evaluated
from keras_tagging.segmenting.characters import CharacterFeatures
from keras_tagging.segmenting.multiword import MultiwordSplitter
from keras_tagging.segmenting.segmentation import LABELS, Segmentation
from keras_tagging.utils import limits

#: the vocabularies of a segmenter that a file has
LISTS = ("character", "multiword", "usual_multiword")
#: others, of a network that reads where words stand, or their classes
WORDS = ("lexicon", CLUSTER)
# Padded symbols in one call of a file, at most: a recurrent layer keeps some 2 KB for
# each, and with more of them takes no less time.
CALL_SYMBOLS = 1 << 13


class OnnxSegmenter(Evaluated):
    """A segmenter, as `Segmenter`: see there.

    Args:
        session: of ONNX Runtime.
        described: what the file says of itself.
        threads: parts of a batch that are run at the same time.

    Attributes:
        architecture: by which it was built.

    Raises:
        ValueError: if a multiword token has no words, or the network does not read the
            characters of the description.
    """

    kind, input_columns = "segmenter", ()

    @staticmethod
    def lists(described: dict) -> dict[str, list[str]]:
        """The lists of strings that the description has.

        Raises:
            ValueError: if it lacks something else.
        """
        spaces, context = described.get("spaces"), described.get("context")
        fits = type(spaces) is bool and type(context) is int
        if not fits or not 0 <= context <= limits.SEGMENT_CHARACTERS:
            raise ValueError("does not say which spaces and how much context it reads")
        names = (*LISTS, *(name for name in WORDS if name in described))
        return {name: described.get(name) for name in names}

    @staticmethod
    def inputs(described: dict) -> dict[str, tuple[str, int]]:
        """The type and the number of axes of each input of a file."""
        return {"ids": ("tensor(int32)", 3)}

    @staticmethod
    def outputs(described: dict) -> dict[str, Output]:
        """The outputs of a file, with characters in place of tokens."""
        return {"logits": Output("float", 0.0, ranked=True)}

    def __init__(self, session, described: dict, threads: int = 1):
        self._threads = threads
        self.session = session
        self.architecture = str(described.get("architecture"))
        features = CharacterFeatures()
        words = {name: described.get(name, []) for name in WORDS}
        features.set_vocabularies({"character": described["character"], **words})
        self.segmentation = Segmentation(
            features,
            MultiwordSplitter(*(described[name] for name in LISTS[1:])),
            described["spaces"],
            described["context"],
            self._logits,
        )
        last_ids = [size - 1 for size in features.sizes.values()]
        try:
            self._run(np.array([[last_ids]], "int32"))
        except OSError as error:
            raise ValueError("does not read the characters that it lists") from error

    def segment(
        self, text: str | Iterable[str], lines: bool = False
    ) -> Iterator[Sentence]:
        """Find the sentences of a text, one by one: see `Segmenter.segment`."""
        return self.segmentation.segment(text, lines)

    def segment_each(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """The sentences of each text: see `Segmenter.segment_each`."""
        return self.segmentation.segment_each(texts)

    def measured(self, sentences: Iterable[Sentence]) -> dict[str, float]:
        """The figures on gold sentences with surfaces, as of `Segmenter.evaluate`."""
        from keras_tagging.kinds.figures import segment_figures  # half a second

        return segment_figures(self.segmentation, sentences)

    def _logits(self, ids: np.ndarray) -> np.ndarray:
        """The logits `(windows, time, labels)` for ids `(windows, time, features)`."""
        rows = max(1, CALL_SYMBOLS // max(1, ids.shape[1]))
        count = max(-(-len(ids) // rows), min(self._threads, len(ids)))
        parts = np.array_split(ids, max(1, count))
        if min(self._threads, count) < 2:
            return np.concatenate([*map(self._run, parts)])
        with ThreadPoolExecutor(min(self._threads, count)) as pool:
            return np.concatenate([*pool.map(self._run, parts)])

    def _run(self, ids):
        logits = self.session.answers(["logits"], {"ids": ids})["logits"]
        if logits.shape != (*ids.shape[:2], len(LABELS)):
            raise self.session.wrong("does not give logits for each character")
        return logits
