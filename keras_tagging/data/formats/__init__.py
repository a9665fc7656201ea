"""A file for each family of corpus formats."""
