"""A pipeline for French: see `card.json`, and `keras_tagging.load("fr")`."""
