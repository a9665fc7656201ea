"""Results that are made up, and the page that is made of them."""

import numpy as np

from keras_tagging.experiments.papers import Column, Row, Table

TEST = Column("Test", "accuracy", "test")
TOKENS = 10


def make_table(*published, columns=(TEST,), names="ABCDEFGH", **options):
    """Rows named A, B and so on with these published figures of the last column."""
    rows = [
        Row(name, (*[None] * (len(columns) - 1), figure), "bigru", {"num_layers": 2})
        for name, figure in zip(names, published, strict=False)
    ]
    others = Row("Xu", (*[None] * (len(columns) - 1), 93.0), citation="xu2015")
    rows = (others, *rows)
    return Table("wu2016", 9, "Made up", "CCGbank", columns, rows, **options)


def result(row, seed, right, columns=(TEST,), **more):
    """The first `right` of ten tokens are right."""
    counts = np.stack([np.ones(TOKENS, int), np.arange(TOKENS) < right])
    figures = {column.name: 100 * right / TOKENS for column in columns}
    evidence = {column.name: counts.tolist() for column in columns}
    found = {"row": row, "seed": seed, "settings": {}, "figures": figures}
    found |= {"evidence": evidence, "best_epoch": 3, "epochs": 4, "seconds": 90.0}
    return {**found, "parameters": 1234, "classes": None, **more}


def make_info(table, **changes):
    reading = {"path": "demo", "dev": None, "test": None, "format": None}
    reading |= {"errors": "raise", "options": {}, "trees": False}
    return {
        "paper": table.paper,
        "table": table.number,
        "corpus": "demo",
        "reading": reading,
        "dev_share": None,
        "recipe": "paper",
        "settings": {},
        "epochs": 4,
        "embeddings": "train" if any(row.vectors for row in table.rows) else None,
        "punctuation": table.punctuation,
        "sentences": {"train": 1200, "dev": 30, "test": 20},
        "fingerprint": "0a1b",
        "versions": {"keras": "3.15.0", "python": "3.11.2"},
        "machine": "Linux, 2 cores",
        **changes,
    }


def cells(text, start):
    """The cells of the first line of a table that begins with these."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {start} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]
