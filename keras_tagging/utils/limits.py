"""All limits on data from outside the program.

A file, a request or a saved model may come from a stranger or be damaged. Each limit is
far above the sizes of real corpora, vectors and models, and far below those that would
fill the memory or take minutes. Beyond a limit, the reader raises its usual error with
the file, the line and the remedy; it never truncates anything silently.

This module imports nothing, so that every room can read it.
"""

# Text

# Length of a line, and of all lines of a sentence, in bytes of a file or characters of
# a text stream. The longest lines of real corpora, CCG derivations, have 70,000. No
# reader takes more than 600 MB for a line of this length, whatever is in it.
SENTENCE_CHARACTERS = 10_000_000
# Tokens of a sentence. Real ones have a few hundred; a corpus without blank lines is a
# single sentence.
SENTENCE_TOKENS = 100_000
# Brackets of the tree or derivation of a sentence, those of its tokens included
TREE_NODES = 5 * SENTENCE_TOKENS
# Columns of a row. Feature files of CRFs have a hundred.
COLUMNS = 10_000
# Characters of a token. A longer one is not a word but some embedded file.
TOKEN_CHARACTERS = 1_000_000
# Tokens and characters of a sentence of raw text: a longer one is cut behind its last
# token that fits. The longest of UD English EWT has 159 tokens.
SEGMENT_TOKENS = 1_000
SEGMENT_CHARACTERS = 20_000
# White space in a row: more is the end of a paragraph, whatever it is.
WHITE_CHARACTERS = 1_000
# Characters of the identifier of a document or sentence, which each of its sentences
# repeats.
IDENTIFIER_CHARACTERS = 1_000
# Combining marks in a row. Unicode's stream-safe format allows 30, and texts decorated
# for fun have fewer than 70; the time to normalise them grows with the square.
COMBINING_MARKS = 100
# Entities of a document in brat's format, which are sorted before it is read
ANNOTATIONS = 1_000_000
# Digits of an integer, such as a head or an index.
INTEGER_DIGITS = 9
# Characters of a CCG category. CCGbank's longest has 219.
CATEGORY_CHARACTERS = 500
# Arguments that composition takes along. CCGbank's derivations need two, rarely three.
COMPOSED_ARGUMENTS = 3
# Words of a tree or derivation that is drawn: a drawing grows with their square.
DRAWN_WORDS = 500
# Characters of a derivation drawn as text, the blanks included: one of so many words
# has half of them.
DRAWN_CHARACTERS = 20_000_000
# Words of a sentence that a chart is made for: its time grows with their cube.
CHART_WORDS = 150
# Steps of the search for the derivation of a sentence: some seconds.
AGENDA = 1_000_000
# Rules of a grammar; that of EWT as CCG has a thousand, CCGbank's some 5,000.
GRAMMAR_RULES = 100_000
# Numbers in a table of its rules that a shift-reduce parser has: 4 bytes each.
RULE_TABLE = 1 << 24

# Compressed files and archives

# The bytes that any compressed file may expand to, and the expansion allowed beyond
# that. Treebanks expand 5 times from gzip and 20 times from xz.
EXPANDED_BYTES = 1 << 26
EXPANSION = 250

# Word vectors

#: Dimension of vectors that a file announces. Word vectors have 25 to 1,024.
VECTOR_DIMENSION = 10_000
#: Bytes of a line of text vectors: 10,000 values of 100 characters. Files that are not
#: text may have no line ends at all.
VECTOR_LINE = 2**20
#: Bytes of a word. Even in unsplit text, words have a few hundred bytes at most.
VECTOR_WORD = 2**16
#: Characters of the longest piece of a word in a fastText model; its default is 6.
VECTOR_PIECE = 64
#: Bytes that any compressed file of vectors may expand to, and the expansion allowed
#: beyond that. Numbers written as text shrink to a third; only a zip bomb shrinks to a
#: hundredth. Words with a single value take thirteen times their bytes.
VECTOR_CONTENT = 2**25
VECTOR_EXPANSION = 100

#: Bytes of vectors of gensim-data; the largest have 1.7 GB.
VECTOR_DOWNLOAD = 2**32

#: Prefixes of the path of a word class; each has an embedding for every class.
CLASS_PREFIXES = 16
#: Features of a token whose ids an ONNX file reads.
TOKEN_FEATURES = 1000

# Saved models and runs

# JSON that the package has written: results, tags of a parser's training sentences.
# For 20 million tokens they take 150 MB, and twenty times as much memory when parsed.
JSON_BYTES = 256 << 20

# Bytes of the header of an `.npz` file, in UTF-32: the figures of 10,000 epochs.
HEADER_BYTES = 64 << 20

# Epochs of a run; the longest one in the papers has 500.
EPOCHS = 10**6
#: Bytes of a `.keras` file's config.json. It holds the vocabularies: two million words
#: of fastText, written as JSON escapes, take 120 MB.
MODEL_CONFIG_BYTES = 2**28
#: The expansion allowed for a member of a `.keras` file above `MODEL_SMALL_BYTES`.
#: Keras does not compress members; if recompressed, they shrink by 2 to 10.
MODEL_EXPANSION = 100
MODEL_SMALL_BYTES = 2**24
#: A layer's units, or an embedding's size. The largest of the papers is 512.
MODEL_UNITS = 2**16
#: Layers, positions of a window or context, affixes, characters, columns: each is a
#: part of the graph, which takes time to build. The most in the papers are 11 layers.
MODEL_PARTS = 128
#: Hypotheses of a beam, steps of truncated backpropagation, characters of an affix, and
#: the numbers in the configuration of a metric.
MODEL_STEPS = 2**10
#: Any other number among the settings: TensorFlow's integers have 64 bits.
NUMBER = 2**63 - 1
#: Members of an ensemble, each a file and a part of the graph.
ENSEMBLE_MEMBERS = 32
#: Bytes of the card of an installed model.
CARD_BYTES = 2**20
#: Weights of a model: 8 GB. GoogleNews, with three million words and 300 dimensions,
#: has 0.9 billion.
MODEL_WEIGHTS = 2**31

# ONNX files

#: Bytes of an ONNX file: it is one message of protobuf, which has at most 2 GiB.
ONNX_BYTES = 2**31 - 1
#: Bytes of all arrays of all ONNX files that a process runs, weights included. A batch
#: of the largest models of the papers takes some hundred million.
ONNX_MEMORY = 2**33
#: Entries of an axis whose size the file names: words, labels, units.
ONNX_AXIS = 10**8
#: Graphs inside of graphs, such as the bodies of loops and branches; ours have two.
ONNX_DEPTH = 5

# The service

#: Bytes of a request's body, or 100 for each token that is allowed, if that is more.
SERVICE_BYTES = 2**20
SERVICE_TOKEN_BYTES = 100
#: Characters of a text for a pipeline, for each token that is allowed in a request:
#: in English as many tokens.
SERVICE_TOKEN_CHARACTERS = 5
#: Characters of a token, or of a value of a column, in a request.
SERVICE_TOKEN_LENGTH = 1_000
#: Bytes of all requests together that are being read or wait. Beyond it the next one is
#: asked to come back later.
SERVICE_WAITING_BYTES = 2**26
#: Connections at the same time, and requests that are not answered.
SERVICE_CONNECTIONS = 1_000
#: Sentences of a request, those without tokens included.
SERVICE_SENTENCES = 1_000
#: Tokens of a part of a request that is run in parts, which a parser takes a tenth of
#: a second for. A sentence with more runs apart; the longest of UD English EWT has 159.
SERVICE_PART_TOKENS = 250
#: Seconds in which the head of a request must have arrived, and its body.
SERVICE_HEAD_SECONDS = 10
SERVICE_READ_SECONDS = 20
#: Seconds from a request to its answer; a worker that takes longer for one batch is
#: ended and replaced.
SERVICE_SECONDS = 60
#: Seconds from a request to the last byte of its answer that its client has taken.
SERVICE_ANSWER_SECONDS = 120
#: Seconds that requests in flight are given when the service is stopped: all ends
#: within the 30 that orchestrators usually wait.
SERVICE_STOP_SECONDS = 25
