"""One set of vectors, as every format has it."""

import struct

import numpy as np

WORDS = ["the", "Über", "1.5", "a\u00a0b"]
MATRIX = np.array(
    [[0.5, -1, 0.25], [1e-3, 2, 3], [0, 0, -4], [7, 8, 9]], dtype=np.float32
)
ROWS = [
    " ".join([word, *map(str, row)]) for word, row in zip(WORDS, MATRIX, strict=True)
]
GLOVE = "\n".join(ROWS) + "\n"
WORD2VEC = f"4 3\n{GLOVE}"
FASTTEXT = "4 3\n" + "".join(f"{row} \n" for row in ROWS)
BINARY = b"4 3\n" + b"".join(
    word.encode() + b" " + struct.pack("<3f", *row) + b"\n"
    for word, row in zip(WORDS, MATRIX, strict=True)
)
CONTENTS = {
    "glove": GLOVE.encode(),
    "glove-crlf": GLOVE.replace("\n", "\r\n").encode(),
    "glove-no-last-newline": GLOVE.rstrip().encode(),
    "word2vec": WORD2VEC.encode(),
    "word2vec-blank-end": (WORD2VEC + "\n").encode(),
    "fasttext": FASTTEXT.encode(),
    "binary": BINARY,
    "binary-no-newlines": BINARY.replace(b"\n", b"").replace(b"4 3", b"4 3\n", 1),
}


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_are(vectors, rows):
    """Whether these are the rows of the example, in this order."""
    assert vectors.words == [WORDS[row] for row in rows]
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_array_equal(vectors.matrix, MATRIX[rows])
