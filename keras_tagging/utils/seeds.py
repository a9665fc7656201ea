"""Seeds drawn from one seed."""

import numpy as np


def seeds(seed):
    """Seeds without end, one for each table, kernel and dropout of a network.

    Args:
        seed: int, not negative. Equal ones give equal seeds.

    Yields:
        Ints below 2**30, which leaves room for those that `cells.initializers.reseed`
        counts up to.
    """
    sequence = np.random.SeedSequence(seed)
    while True:
        (child,) = sequence.spawn(1)
        yield int(child.generate_state(1)[0]) % 2**30
