"""CCG parsers that ONNX Runtime runs.

The file of one with a chart has the scores, and NumPy the search; that of one by moves
has both.
"""

from keras_tagging.ccg.grammar import Grammar
from keras_tagging.ccg.parsing import Search, search_of
from keras_tagging.kinds.deriving import (
    HEADS,
    TRAIN_ANEW,
    DerivingByChart,
    DerivingByMoves,
    MoveSearch,
)
from keras_tagging.runtime.models import OnnxModel, OnnxTagger


class OnnxDeriver(OnnxModel):
    """Shared by both; `search_kind` is the search that the file describes."""

    search_kind = Search

    def __init__(self, session, described, threads=1):
        super().__init__(session, described, threads)
        self.grammar = Grammar.from_dict(described.get("grammar"))
        self.search = search_of(described.get("search"), self.search_kind)


class OnnxCCGParser(DerivingByChart, OnnxDeriver, OnnxTagger):
    """A CCG parser, as `CCGParser`: see there."""

    @classmethod
    def lists(cls, described):
        if not isinstance(described.get("tags"), dict):
            raise ValueError(TRAIN_ANEW)
        return super().lists(described)

    def _possible(self, name, array, real):
        if name in HEADS:
            return array.shape[2] == array.shape[1] + 1
        return super()._possible(name, array, real)


class OnnxShiftReduceParser(DerivingByMoves, OnnxDeriver):
    """A CCG parser by moves, as `ShiftReduceParser`: see there."""

    search_kind = MoveSearch

    def __init__(self, session, described, threads=1):
        super().__init__(session, described, threads)
        self.tags = self.labels
        self._inventories = dict.fromkeys(("tags", "tag_scores"), frozenset(self.tags))

    def derive(self, sentences, *, beta=None, nbest=None):
        """Find the derivations of sentences: see `ShiftReduceParser.derive`.

        Args:
            sentences: as there.
            beta: None: the search is in the file.
            nbest: give so many derivations, if the search of the file has so many.

        Raises:
            ValueError: for a `beta`, or an `nbest` below 1.
        """
        if beta is not None:
            raise ValueError(
                "an ONNX file has its search in it: another beta (beta=, --beta) needs "
                "the Keras model, or its export with that beta (model.beta = ...)"
            )
        return super().derive(sentences, nbest=nbest)

    def _possible(self, name, array, real):
        if name == "moves":
            return self.decoder.possible(array, real)
        if name == "move_scores":
            return array.shape[2] == self.search.beam_width
        return super()._possible(name, array, real)
