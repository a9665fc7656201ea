"""CCG categories of English: see `card.json`, and `keras_tagging.load("en-ccg")`."""
