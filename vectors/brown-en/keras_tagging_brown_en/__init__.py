"""Brown clusters of English: see `card.json`, and `word_classes="brown-en"`."""
