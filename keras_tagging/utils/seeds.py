"""Seeds drawn from one seed."""

import numpy as np


def seeds(seed):
    """Endless seeds, one for each table, kernel and dropout of a network.

    Args:
        seed: int, not negative. The same seed gives the same sequence.

    Yields:
        Ints below 2**30, so that `cells.initializers.reseed` can count up from them.
    """
    sequence = np.random.SeedSequence(seed)
    while True:
        (child,) = sequence.spawn(1)
        yield int(child.generate_state(1)[0]) % 2**30
