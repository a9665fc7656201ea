"""Whether a transition system does what `TransitionSystem` says, by brute force.

Random legal moves of sentences of up to 8 words, together in one batch, must end within
`steps` in a tree with one root. States, features and results have their shapes and
ranges; a parsed sentence stays as it is; an illegal move is no error; a sentence parsed
alone gets the same tree.
"""

from types import SimpleNamespace

import numpy as np

from keras_tagging.data.trees import check_tree, is_projective

#: the functions that NumPy, `keras.ops` and an ONNX graph share, and a system may use
FUNCTIONS = (
    *("where", "stack", "concatenate", "take", "reshape", "expand_dims", "tile"),
    *("arange", "zeros", "ones_like", "zeros_like", "minimum", "maximum", "max", "any"),
    *("sum", "mod", "floor_divide", "shape", "take_along_axis"),
)
XP = SimpleNamespace(**{name: getattr(np, name) for name in FUNCTIONS})
LABELS = 5
LENGTHS = np.repeat(np.arange(9, dtype="int32"), 40)


def check(system, seed=0):
    rng = np.random.default_rng(seed)
    trees, walks = walk(system, rng)
    for i in range(0, len(LENGTHS), 20):
        alone = follow(system, LENGTHS[i : i + 1], walks[:, :, i : i + 1])
        assert alone[0][0].tolist() == trees[i]
    stray(system, rng)


def frozen(state, system, batch, width):
    """The state, whose shapes are those of `fields`, and which cannot be written to."""
    assert state._fields == system.fields._fields
    for x, shape in zip(state, system.fields, strict=True):
        assert x.shape == (batch, *(width if n is None else n for n in shape))
        assert x.dtype.kind == "i"
        x.flags.writeable = False
    return state


def walk(system, rng):
    """The heads that random moves end in, and the moves `(2, steps, batch)`."""
    batch, width = len(LENGTHS), int(LENGTHS.max()) + 4
    most = np.broadcast_to(system.steps(LENGTHS), LENGTHS.shape)
    state = frozen(system.initial(LENGTHS, width, XP), system, batch, width)
    walks = []
    for step in range(int(most.max()) + 1):
        legal = system.legal(state, XP)
        assert legal.shape == (batch, len(system.actions)) and legal.dtype == bool
        going = legal.any(1)
        assert not (going & (step >= most)).any()
        assert not system.fixed_steps or (going == (step < most)).all()
        read(system, state, LENGTHS[:, None] + 1)
        moves = drawn(system, legal | ~going[:, None], rng)
        after = frozen(system.advance(state, *moves, XP), system, batch, width)
        for shape, one, other in zip(system.fields, state, after, strict=True):
            first = int(shape[:1] == (None,))  # row 0 of a table may change
            same = (one == other)[:, first:] if first else one == other
            assert same[~going].all()
        if system.cases is not None:
            root = system.cases.root[system.cases.of(state, XP), moves[0]]
            before, heads = (system.result(x, XP)[0] for x in (state, after))
            made = (heads != before) & (heads >= 0) & (moves[1] > 0)[:, None]
            rows = made.any(1)
            assert (root == (made & (heads == 0)).any(1))[rows].all()
        walks.append(moves)
        state = after
    heads, labels = system.result(state, XP)
    assert heads.shape == labels.shape == (batch, width - 2)
    words = np.arange(width - 2) < LENGTHS[:, None]
    assert ((labels >= 1) & (labels <= LABELS))[words].all()
    assert (heads[~words] == -1).all() and not labels[~words].any()
    trees = [row[:n].tolist() for row, n in zip(heads, LENGTHS, strict=True)]
    for tree in trees:
        check_tree(tree)
        assert is_projective(tree)
    return trees, np.array(walks).swapaxes(0, 1)


def read(system, state, last):
    """Nodes are at most the last one of each sentence."""
    for x, size, most in zip(
        system.features(state, XP),
        (system.num_nodes, system.num_labels),
        (last, LABELS),
        strict=True,
    ):
        assert x.shape == (len(state[0]), size) and x.dtype.kind == "i"
        assert ((x >= 0) & (x <= most)).all()


def drawn(system, may, rng):
    """An action of each sentence, and its label."""
    labelled = np.array([action.labels is not None for action in system.actions])
    actions = np.where(may, rng.random(may.shape), -1).argmax(1).astype("int32")
    labels = rng.integers(1, LABELS + 1, len(may)) * labelled[actions]
    return actions, labels.astype("int32")


def follow(system, lengths, moves):
    """The result of moves, in the narrowest table."""
    width = int(lengths.max()) + 2
    state = system.initial(lengths, width, XP)
    for actions, labels in zip(*moves, strict=True):
        state = system.advance(state, actions, labels, XP)
        frozen(state, system, len(lengths), width)
    return system.result(state, XP)


def stray(system, rng):
    """Moves that are not legal, as hypotheses that are out of the race make them."""
    width = int(LENGTHS.max()) + 2
    state = system.initial(LENGTHS, width, XP)
    for _ in range(int(np.max(system.steps(LENGTHS)))):
        read(system, state, width - 1)  # they may read any row of the table
        moves = drawn(system, np.ones_like(system.legal(state, XP)), rng)
        state = system.advance(state, *moves, XP)
