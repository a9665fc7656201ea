"""Limits on archives, pickles and XML, in addition to those of `keras_tagging`."""

# Archives

# Bytes of an unpacked archive; a release of Universal Dependencies has 6 GB.
ARCHIVE_BYTES = 1 << 34
# Members of an archive. Python takes 50 microseconds to list each; a release of
# Universal Dependencies has 3,000, the Penn Treebank with all its forms 25,000.
ARCHIVE_MEMBERS = 100_000
# Bytes of a long name or of extended attributes in a `.tar`, which are read as a whole.
TAR_HEADER_BYTES = 1 << 20

# Pickles, which a separate process turns into JSON
# Bytes of a pickle, and of its JSON; the pickle of ATIS has 4 MB.
PICKLE_BYTES = 1 << 25
PICKLE_MEMORY = 1 << 29  # bytes of the process
PICKLE_SECONDS = 20

# XML

# Depth of nested elements
XML_DEPTH = 200
# Bytes of one tag, comment or declaration: the parser rereads it with each block.
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
