"""The features of a token in plain Python, written from the papers' descriptions.

No regular expression and no TensorFlow: characters are looked at one by one.
"""

import unicodedata

HIDDEN = {"SOFT HYPHEN", "ZERO WIDTH SPACE", "LEFT-TO-RIGHT MARK"}
HIDDEN |= {"RIGHT-TO-LEFT MARK", "WORD JOINER", "ZERO WIDTH NO-BREAK SPACE"}


def clean(token):
    """A token as bytes or str, with what has no UTF-8 form replaced.

    It has letters for ligatures, and nothing that a reader does not see.
    """
    if not isinstance(token, bytes):
        token = token.encode("utf-8", "replace")
    form, token = "", token.decode("utf-8", "replace")
    for c in token:
        ligature = "\ufb00" <= c <= "\ufb06"
        shown = unicodedata.normalize("NFKC", c) if ligature else c
        form += "" if unicodedata.name(c, "") in HIDDEN else shown
    return form.strip("\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}") or token


def is_digit(c):
    return unicodedata.category(c) == "Nd"


def zero_digit_runs(text):
    out = ""
    in_run = False
    for c in text:
        if not is_digit(c):
            out += c
        elif not in_run:
            out += "0"
        in_run = is_digit(c)
    return out


def after_backslash(text):
    """What follows the last backslash that something follows; then a slash goes."""
    at = text.rfind("\\", 0, len(text) - 1)
    if at < 0:
        return text
    rest = text[at + 1 :]
    return rest[1:] if len(rest) > 1 and rest[0] == "/" else rest


def lower_case(text):
    return text.split("\0")[0].lower()  # TensorFlow's lower stops at NUL


def is_number(text):
    """Digits; single separators between digits; before them a sign, then a point."""
    text = text.replace("\\/", "/") if "\\/" in text else text
    if text[:1] in ("-", "+", "\u2212"):
        text = text[1:]
    if text[:1] == ".":
        text = text[1:]
    for c in ",:/-\u00a0\u202f":
        text = text.replace(c, ".")
    groups = text.split(".")
    return all(group and all(map(is_digit, group)) for group in groups)


class Spellings:
    """Which words training has without a capital, and which with one inside."""

    def __init__(self, sentences):
        self.without_capital, self.capital_inside = set(), set()
        for sentence in sentences:
            for position, token in enumerate(sentence):
                if not is_capital(token):
                    self.without_capital.add(clean(token))
                elif position > 0:
                    self.capital_inside.add(clean(token))

    def lowers(self, token):
        is_known = lower_case(clean(token)) in self.without_capital
        return (
            is_capital(token) and is_known and clean(token) not in self.capital_inside
        )


def normal_form(token, normalise, spellings=None):
    lower = lower_case(clean(token))
    if normalise == "dinarelli":
        text = lower if spellings.lowers(token) else clean(token)
        return "NUM" if is_number(text) else text
    if normalise == "kadari":
        return after_backslash(zero_digit_runs(lower))
    if normalise == "wu":
        return "".join("9" if is_digit(c) else c for c in lower)
    return lower


def suffix(token, n):
    text = clean(token)
    return text[max(len(text) - n, 0) :]


def prefix(token, n):
    return clean(token)[:n]


def first(token, i):
    text = clean(token)
    return text[i] if i < len(text) else ""


def last(token, i):
    text = clean(token)
    return text[len(text) - 1 - i] if i < len(text) else ""


def is_capital(token):
    text = clean(token)
    return bool(text) and unicodedata.category(text[0]) == "Lu"


def shape(token):
    out = ""
    for c in clean(token):
        category = unicodedata.category(c)
        if category == "Lu":
            kind = "X"
        elif category in ("Ll", "Lt", "Lm", "Lo"):
            kind = "x"
        elif category == "Nd":
            kind = "0"
        else:
            out += c
            continue
        # a literal X, x or 0 cannot stand here: these characters have kinds
        if not out.endswith(kind):
            out += kind
    return out


def strings(token, names, normalise, characters_of="raw", spellings=None):
    """The string that each column looks up, by the column's name."""
    normal = normal_form(token, normalise, spellings)
    spelling = token if characters_of == "raw" else normal
    found = {}
    for name in names:
        kind = name.rstrip("0123456789")
        n = int(name[len(kind) :] or 0)
        if kind in ("word", "vector"):
            found[name] = normal
        elif kind == "capital":
            found[name] = is_capital(token)
        elif kind == "shape":
            found[name] = shape(token)
        elif kind in ("first", "last"):
            found[name] = {"first": first, "last": last}[kind](spelling, n)
        else:
            found[name] = {"suffix": suffix, "prefix": prefix}[kind](token, n)
    return found
