"""Measuring the systems of a published table: see `keras-tagging reproduce`.

`jobs` says what a table asks for, `work` does one job of it in a process of its own,
`engines` and `ray_engine` start these, `schedule` decides when, `store` keeps what they
find, `report` puts it beside the published figures.
"""

from keras_tagging.experiments.reproduction.store import read_results

__all__ = ["read_results"]
