"""Make the file of vectors of `vectors/glove-en` from GloVe's own.

    python vectors/make.py glove.6B.50d.txt.gz

GloVe sorts words by frequency, and the first 200,000 are kept, in half precision.
"""

import sys
from pathlib import Path

from keras_tagging.vectors import load_vectors, save_vectors

WORDS = 200_000
TARGET = Path(__file__).parent / "glove-en/keras_tagging_glove_en/vectors.npz"

if __name__ == "__main__":
    vectors = load_vectors(sys.argv[1], limit=WORDS, cache=False)
    save_vectors(vectors, TARGET)
    print(f"{TARGET}: {len(vectors.words):,} words, {TARGET.stat().st_size:,} bytes")
