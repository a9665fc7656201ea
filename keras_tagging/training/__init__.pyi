# See `keras_tagging/__init__.pyi`.

from .callbacks import HalvingDecay as HalvingDecay
from .callbacks import mode_of as mode_of
from .context_embeddings import cbow_embeddings as cbow_embeddings
from .context_embeddings import window_embeddings as window_embeddings
from .devices import check_alike as check_alike
from .devices import devices_of_batches as devices_of_batches
from .devices import own_rows as own_rows
from .devices import share_batches as share_batches
from .objectives import TagLoss as TagLoss
from .objectives import TokenAccuracy as TokenAccuracy
from .objectives import TokenCrossEntropy as TokenCrossEntropy
from .objectives import compile_arguments as compile_arguments
from .objectives import mean_soft_cross_entropy as mean_soft_cross_entropy
from .objectives import measured_targets as measured_targets
from .objectives import soft_cross_entropy as soft_cross_entropy
from .resume import Resume as Resume
