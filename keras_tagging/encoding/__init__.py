"""Strings to ids, ids to batches."""
