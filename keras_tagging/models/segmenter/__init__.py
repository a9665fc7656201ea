"""The segmenter."""
