"""The tables, as parameters of tests."""

import pytest
from experiments.papers.printed import folder

from keras_tagging.experiments.papers import PAPERS, Settings

NEEDS_TEXTS = pytest.mark.skipif(
    not folder().is_dir(),
    reason="no folder papers, with their texts, beside the one that KERAS_TAGGING_DATA "
    "names",
)
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
