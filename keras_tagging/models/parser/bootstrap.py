"""Recurrent parsers that start from a trained feed-forward one."""

import numpy as np
from keras import ops

from keras_tagging.models.tagger.jackknife import copied

PAPER_NAMES = {"s": "j"}  # the paper's names of gates that the cells name otherwise
OF_TAGS = ("tagger", "tagger_epochs", "folds")  # settings for predicted tags


def bootstrap(parser, ffn, gates="all") -> None:
    r"""Initialise a recurrent parser with the weights of a feed-forward parser.

    Sections 4, 7 and 8 of Elkaref & Bohnet (2017), :cite:`elkaref2017`: the embeddings,
    the input weights and biases of the gates, :math:`W_x \to W_{x*}` and
    :math:`b_h \to b_*`, and the output weights :math:`W_h`. Weights that multiply
    :math:`h_{t-1}`, and gates that are not named, keep their initial values. The 1 in
    the forget gate's equation is added to the copied bias. An encoder (section 6) is
    copied too. `parser.metadata["bootstrap"]` records the source and the gates.

    Args:
        parser: an untrained recurrent `Parser`. Without vocabularies, it takes those of
            the feed-forward parser, with its treatment of tags and non-projective
            trees.
        ffn: a trained "ffn-parser" with the same sizes.
        gates: "all", or a list of names: i, j, f, o (LSTM), r, z, h (GRU), h (Elman).

    Raises:
        ValueError: if the parsers do not fit each other, `parser` is trained or `ffn`
            is not, or there is no such gate.
    """
    if ffn.architecture != "ffn-parser" or not ffn.scorer:
        raise ValueError("a parser starts from a trained ffn-parser: give one")
    if parser.scorer and int(parser.optimizer.iterations):
        raise ValueError("this parser has been trained: bootstrap comes before fit")
    fits = parser.settings["system"] == ffn.settings["system"]
    if fits and not parser.scorer:
        parser.take_over(ffn)
    if not fits or parser.vocabularies != ffn.vocabularies:
        raise ValueError(
            "the parsers differ in vocabularies or moves: adapt neither, or both, and "
            "build both with the same system="
        )
    if ffn.tagger and not parser.tagger:
        parser.set_tagger(copied(ffn.tagger))
        taken = {name: ffn.settings[name] for name in OF_TAGS}
        parser.settings = parser.settings.replaced(**taken)
        parser.jackknifed = ffn.jackknifed
    cell, source = parser.scorer.cell, ffn.scorer.cell
    gate_names = [PAPER_NAMES.get(gate, gate) for gate in cell.gates]
    chosen = gate_names if gates == "all" else gates
    if unknown := set(chosen) - set(gate_names):
        raise ValueError(
            f"no gate {', '.join(sorted(unknown))}: known are {', '.join(gate_names)}"
        )
    names = ["boundary", "output_kernel"]
    if parser.scorer.system.num_labels:
        names.append("label_embeddings")
    networks = parser.network.weights, ffn.network.weights
    pairs = list(zip(*networks, strict=True))
    pairs += [
        (getattr(parser.scorer, name), getattr(ffn.scorer, name)) for name in names
    ]
    if any(target.shape != value.shape for target, value in pairs):
        raise ValueError("the parsers differ in size: give both the same sizes")
    for target, value in pairs:
        target.assign(value)
    for name, constant in (("kernel", 0.0), ("bias", 1.0)):
        value = ops.convert_to_numpy(getattr(source, name))
        variable = getattr(cell, name)
        blocks = np.split(
            np.array(ops.convert_to_numpy(variable)), len(cell.gates), axis=-1
        )
        for i, gate in enumerate(gate_names):
            if gate in chosen:
                added = constant * getattr(cell, "forget_bias", 0.0) * (gate == "f")
                blocks[i] = value + added
        variable.assign(np.concatenate(blocks, axis=-1))
    parser.metadata["bootstrap"] = {
        "gates": [gate for gate in gate_names if gate in chosen],
        "seed": ffn.seed,
        "training_sentences": ffn.metadata.get("training_sentences"),
    }
