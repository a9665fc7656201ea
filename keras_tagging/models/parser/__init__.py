"""Dependency parsers: moves, training, and trees."""
