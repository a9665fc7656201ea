"""GloVe vectors of English: see `card.json`, and `load_vectors("glove-6b-50")`."""
