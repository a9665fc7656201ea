"""Every limit on what comes from outside the program, in one place.

A file, a request or a saved model may come from a stranger or be damaged. Each limit
lies far above what real corpora, vectors and models hold, and far below what would
fill the memory or take minutes. Where one is passed, the reader raises its usual error
with the file, the line and the remedy; it never cuts anything short in silence.

This module imports nothing, so that every room can read it.
"""

# Text

# Compressed files and archives

# XML

# Word vectors

# Saved models and runs

# JSON that the package has written: results, tags of a parser's training sentences.
# Those of 20 million tokens take 150 MB; parsed they take twenty times as much memory.
JSON_BYTES = 256 << 20

# What `resume.npz` says beside its arrays, as UTF-32: the figures of 10,000 epochs.
RESUME_HEADER_BYTES = 64 << 20

# Epochs of a run; the longest one in the papers has 500.
EPOCHS = 10**6
