"""Measuring the systems of a published table: see `keras-tagging reproduce`.

`plan` says what there is to run, and `run` runs each job in a process of its own.
`store` keeps the results, and `report` compares them with the published figures.
"""

from keras_tagging.experiments.reproduction.store import read_results

__all__ = ["read_results"]
