"""Text to symbols to labels to sentences: where tokens and sentences end."""
