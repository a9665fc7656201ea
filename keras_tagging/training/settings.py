"""The settings of training, each checked by its owner. No Keras here."""

from dataclasses import dataclass
from typing import Literal

from keras_tagging.utils.checks import Checked, NonNegative, Positive, Rate, Share


@dataclass(frozen=True, kw_only=True)
class OptimizerSettings(Checked):
    """The arguments of `compile`: see `training.compile_arguments`.

    Args:
        optimizer: "sgd", "adam", "adamw" or "adadelta" (Zeiler 2012), which needs a
            `learning_rate` of 1.
        learning_rate: the rate of the first epoch.
        momentum: the momentum of "sgd"; 0 with the others.
        clipnorm: the limit for the norm of the whole gradient; None for no limit.
        label_smoothing: the share of the gold probability distributed over all tags.
        weight_average: momentum of a moving average of the weights, such as 0.999; of
            n batches at most n / (n + 10), so that it forgets the first weights. The
            average is evaluated after each epoch and saved in the place of the weights.
            0 for no average, as in the papers.
        jit_compile: whether to use XLA, which compiles again for every sentence length;
            always on with JAX.
    """

    optimizer: Literal["sgd", "adam", "adamw", "adadelta"] = "sgd"
    learning_rate: Rate = 0.01
    momentum: Rate = 0.0
    clipnorm: Rate | None = None
    label_smoothing: Share = 0.0
    weight_average: Share = 0.0
    jit_compile: bool = False


@dataclass(frozen=True, kw_only=True)
class FitSettings(Checked):
    """The defaults of `fit`.

    Args:
        batch_size: sentences a batch; 1 is online learning.
        token_budget: padded tokens a batch, if `batch_size` is None.
        epochs: passes over the training sentences.
        unknown_rate: probability with which a word seen once becomes unknown.
        word_dropout: alpha; a word seen n times becomes unknown with the probability
            alpha / (alpha + n) (Kiperwasser & Goldberg 2016, section 4), 0.25 there.
        embedding_dropout: probability with which any word becomes unknown, whatever its
            frequency; its pretrained vector stays.
        decay: "linear" (the learning rate falls to 0 over the epochs),
            "warmup-stable-decay" (it changes with each batch: `WarmupStableDecay`),
            "halve" (it is halved when the development error hardly changes:
            `HalvingDecay`) or None.
        l2: lambda of the penalty ``lambda/2 |theta|^2`` on all weights, once an epoch:
            each batch has a part in proportion to its tokens.
    """

    batch_size: Positive | None = None
    token_budget: Positive | None = None
    epochs: NonNegative = 10
    unknown_rate: Share = 0.0
    word_dropout: Rate = 0.0
    embedding_dropout: Share = 0.0
    decay: Literal["linear", "warmup-stable-decay", "halve"] | None = None
    l2: Rate = 0.0
