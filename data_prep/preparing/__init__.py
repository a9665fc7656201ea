"""What the scripts beside it share: readers of licensed corpora, splits, archives."""
