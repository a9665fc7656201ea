"""Measuring the systems of a published table: see `keras-tagging reproduce`.

`jobs` says what there is to run. `work` runs one job in a process of its own,
and `run` starts these processes. `store` keeps the results, and `report` compares them
with the published figures.
"""

from keras_tagging.experiments.reproduction.store import read_results

__all__ = ["read_results"]
