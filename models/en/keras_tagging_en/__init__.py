"""A pipeline for English: see `card.json`, and `keras_tagging.load("en")`."""
