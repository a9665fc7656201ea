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

#: Bytes of a `.keras` file's config.json. It holds the vocabularies: two million words
#: of fastText, written as JSON escapes, take 120 MB.
MODEL_CONFIG_BYTES = 2**28
#: How many times its compressed size a member of a `.keras` file may have, above
#: `MODEL_SMALL_BYTES`. Keras stores members as they are; recompressed they shrink by 2
#: to 10.
MODEL_EXPANSION = 100
MODEL_SMALL_BYTES = 2**24
#: A layer's units, or an embedding's size. The largest of the papers is 512.
MODEL_UNITS = 2**16
#: Layers, positions of a window or context, affixes, characters, columns: each is a
#: part of the graph, which takes time to build. The most in the papers are 11 layers.
MODEL_PARTS = 128
#: Hypotheses of a beam, steps of truncated backpropagation, characters of an affix; of
#: a metric whatever it counts.
MODEL_STEPS = 2**10
#: Any other number among the settings: TensorFlow's integers have 64 bits.
NUMBER = 2**63 - 1
#: Weights of a model: 8 GB. The three million words of GoogleNews with vectors of 300
#: have 0.9 thousand million.
MODEL_WEIGHTS = 2**31
