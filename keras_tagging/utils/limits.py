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
