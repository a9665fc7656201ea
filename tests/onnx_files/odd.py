"""Odd words and sentences, and what the SavedModel's answer to them is here."""

import json
import random

import numpy as np
import onnx
from conftest import TINY, WORDS_ONLY, computing_once, random_sentences, randomize
from onnxruntime import InferenceSession

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.architectures import ARCHITECTURES
from keras_tagging.data.normalisation import to_nfc
from keras_tagging.runtime.session import session_options

# A string, made at once: every process that collects tests imports this.
PLANES = np.r_[1:0xD800, 0xE000:0x110000].astype("<u4").tobytes().decode("utf-32-le")
SIGMAS = ["Σ", "σ", "ς", "α", "Α", ".", "'", "·", "\u0301", "\u034f", " ", "1", "ʰ", "ͅ"]
WORDS = [
    *("", " ", "x", "\\", "\\/", "a\\/", "WIFE\\/Mother", "a\nb", "\r\n", "\u200b"),
    *("É", "éa", "ẞ", "ß", "İ", "İi", "ı", "Ĳ", "Ǆ", "ǅ", "Ω", "K", "Å", "ﬀ", "ŉ"),
    *"ΟΔΟΣ ΣΑΣ ΑΣ. Σ Дом ДОМ 日本語 ٣4 １２ １,０００ Ⅷ".split(),
    *("1,000.5", "3\\/4", "-0.3", ".5", "1989-90", "10-year", "\u22127", "1.", "$5"),
    *("👩‍👩‍👧", "e\u0301", "\U0010ffff", "\U0001d400", "𐐀", "\x00", "a\x00B", "I", "J"),
    "x" * 100_000,
    "É" * 5000,
    "e" + "\u0301" * 90,
]


def words(count, seed=0):
    """Words of characters from all planes, and from those that are most alike."""
    rng = random.Random(seed)
    pools = [PLANES, SIGMAS, "aZéÉ09٣.,\\/-ßẞİIıΣ\n ", PLANES[:0x600]]
    drawn = [
        "".join(rng.choices(pools[i % 4], k=rng.randint(1, 9))) for i in range(count)
    ]
    return WORDS + drawn


def sentences(count=300, seed=0):
    """Odd ones, empty ones, long ones, and ordinary ones between them."""
    rng = random.Random(seed)
    pool = words(400, seed)
    known = [s.tokens for s in random_sentences(count, seed)]
    found = [[], ["the"] * 200, ["x"]]
    for i in range(count - len(found)):
        drawn = rng.choices(pool, k=rng.randint(0, 8))
        found.append(known[i] if i % 3 else [*drawn, *known[i]])
    return [
        Sentence(tokens, None, {"pos": [token[-1:] for token in tokens]})
        for tokens in found
    ]


def tagger(name, train, tables=WORDS_ONLY, **options):
    """A tiny tagger with random weights, which reads words alone by default.

    Of all tables of the defaults the text takes most of an export.
    """
    known = ARCHITECTURES[name].keywords
    given = TINY | {"num_layers": 2} | tables | options
    given = {k: v for k, v in given.items() if k in known or k in ("seed", "recipe")}
    model = keras_tagging.build(name, **given)
    model.adapt(train)
    return randomize(model)


def session_of(xp):
    """A session of the graph that an array library has built."""
    made = xp.builder.model("graph").SerializeToString()
    return InferenceSession(made, session_options(), ["CPUExecutionProvider"])


def changed(source, folder, change):
    """A copy of an ONNX file with another content."""
    made = onnx.load(source)
    change(made)
    path = folder / "changed.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def describing(**changes):
    """A change: the file says something else of itself."""

    def change(made):
        [prop] = made.metadata_props
        prop.value = json.dumps({**json.loads(prop.value), **changes})

    return change


def request(given, columns=(), junk=""):
    """What an ONNX file is given for sentences."""
    lengths = np.array([len(s) for s in given], "int32")
    width = lengths.max(initial=0)

    def padded(rows):
        rows = [[*row, *[junk] * (width - len(row))] for row in rows]
        return np.array(rows, object).reshape(len(rows), width)

    # a request brings NFC
    strings = {"tokens": padded([[*map(to_nfc, s.tokens)] for s in given])}
    strings |= {name: padded([s.columns[name] for s in given]) for name in columns}
    return {**strings, "lengths": lengths}


def assert_same(found, model, given):
    """The answers of `keras_tagging.runtime` beside those of the model."""
    with computing_once(model):
        tags, rows = model.tag(given), model.predict(given)
    assert found.tag(given) == tags
    for ours, theirs in zip(found.predict(given), rows, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
