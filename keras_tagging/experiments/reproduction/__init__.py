"""Measuring the systems of a published table: see `keras-tagging reproduce`.

`jobs` lists the jobs of a table. `work` runs one job in a process of its own; `engines`
and `ray_engine` start these processes, and `schedule` decides when. `store` keeps the
results, and `report` compares them with the published figures.
"""

from keras_tagging.experiments.reproduction.store import read_results

__all__ = ["read_results"]
