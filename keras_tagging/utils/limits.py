"""Every limit on what comes from outside the program, in one place.

A file, a request or a saved model may come from a stranger or be damaged. Each limit
lies far above what real corpora, vectors and models hold, and far below what would
fill the memory or take minutes. Where one is passed, the reader raises its usual error
with the file, the line and the remedy; it never cuts anything short in silence.

This module imports nothing, so that every room can read it.
"""

# Text

# Compressed files and archives

# Bytes that any compressed file may expand to, and how many for each of its bytes
# beyond that. Treebanks expand 5 times from gzip and 20 times from xz.
EXPANDED_BYTES = 1 << 26
EXPANSION = 250
# Bytes of an archive when unpacked; a release of Universal Dependencies has 6 GB.
ARCHIVE_BYTES = 1 << 34
# Members of an archive, which Python takes 50 microseconds each to find; a release of
# Universal Dependencies has 3,000, the Penn Treebank with all its forms 25,000.
ARCHIVE_MEMBERS = 100_000
# Bytes of a long name or of extended attributes in a `.tar`, which are read at once.
TAR_HEADER_BYTES = 1 << 20
# Bytes that decompression of xz may need; the highest level, `xz -9`, needs 65 MiB.
XZ_MEMORY = 1 << 28

# Pickles, which a process of its own turns into JSON
# Bytes of a pickle, and of its JSON; that of ATIS has 4 MB.
PICKLE_BYTES = 1 << 25
PICKLE_MEMORY = 1 << 29  # bytes of the process
PICKLE_SECONDS = 20

# XML

# Elements inside each other
XML_DEPTH = 200
# Bytes of one tag, comment or declaration: the parser reads it anew with each block.
XML_TOKEN_BYTES = 1 << 20
# Bytes of one sentence, turn or dialogue, which becomes objects of 60 times its size.
# The longest dialogue of MEDIA has some 100 kB.
XML_ELEMENT_BYTES = 1 << 21
# Characters of all attributes of one element: each part of a compound repeats them.
XML_ATTRIBUTES = 1_000
# Different names of elements and attributes, which the parser keeps
XML_NAMES = 10_000
# Attributes declared in a DOCTYPE, which the parser goes through at each element
XML_DECLARATIONS = 1_000

# Word vectors

# Saved models and runs
