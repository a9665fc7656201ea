"""CCG parsers that ONNX Runtime runs: the file has the scores, NumPy the search."""

from keras_tagging.ccg.grammar import Grammar
from keras_tagging.ccg.parsing import Search, search_of
from keras_tagging.kinds.derivations import Deriving
from keras_tagging.runtime.models import OnnxModel


class OnnxCCGParser(Deriving, OnnxModel):
    """A CCG parser, as `CCGParser`: see there."""

    def __init__(self, session, described, threads=1):
        super().__init__(session, described, threads)
        self.tags = self.labels
        self.grammar = Grammar.from_dict(described.get("grammar"))
        self.search: Search = search_of(described.get("search"))
        known = frozenset(self.tags)
        self._inventories = {"tags": known, "tag_scores": known}

    def _possible(self, name, array, real):
        if name == "head_scores":
            return array.shape[2] == array.shape[1] + 1
        return super()._possible(name, array, real)
