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

#: Values of one vector that a file announces. Word vectors have 25 to 1,024.
VECTOR_DIMENSION = 10_000
#: Bytes of a line of text vectors: 10,000 values of 100 characters. Files that are no
#: text may have no line ends at all.
VECTOR_LINE = 2**20
#: Bytes of a word. Words are a few hundred bytes at most where nobody split the text.
VECTOR_WORD = 2**16
#: Characters of the longest piece of a word in a fastText model; its default is 6.
VECTOR_PIECE = 64
#: Bytes that a compressed file of vectors may hold: so many, and so many times its own
#: size. Numbers written as text shrink to a third; only a bomb shrinks to a hundredth.
VECTOR_CONTENT = 2**28
VECTOR_EXPANSION = 100

# Saved models and runs
