"""The tables, as parameters of tests."""

import pytest

from keras_tagging.experiments.papers import PAPERS, Settings

#: all but those of hyper-parameters
TABLES = [
    pytest.param(table, id=f"{paper}-{number}")
    for paper, module in PAPERS.items()
    for number, table in module.TABLES.items()
    if not isinstance(table, Settings)
]
OURS = [
    pytest.param(row, id=f"{case.id}-{row.name}")
    for case in TABLES
    for row in case.values[0].rows
    if row.architecture
]
