"""Texts that a segmenter learns from beside its treebanks: mail, lists, abbreviations.

`texts/LANGUAGE.toml` has kinds of texts as templates, beside those of `any.toml`, and
lists of words to fill them with. Everything else is taken from a treebank: sentences,
phrases, names. A template says where each token and each sentence ends, so that all
texts are gold. Half of the kinds are kept back, and half of the words of each list, to
measure with what no model has learnt. The treebank itself is laid out anew: its lines
wrapped, a sentence or a paragraph a line. `texts/LANGUAGE/` has texts of many genres
that were written by hand.

Same treebank, seed and part, same texts.
"""

import random
import re
import string
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from keras_tagging import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.segmenting.multiword import (
    MultiwordSplitter,
    analyses_of,
    usual_of,
)

HERE = Path(__file__).parent / "texts"
#: in a text that is made: no blank between tokens, the end of a sentence before a blank
#: or before nothing, the end of a line inside of a sentence, and a blank that keeps one
GLUE, END, GLUED_END, LINE, KEEPING = "\x02", "\x03", "\x05", "\x04", "\x06"
SIGNS = str.maketrans("~|&^", GLUE + END + GLUED_END + LINE)
#: a token of several words begins with it
SEVERAL = "\x01"
#: in a text that was written by hand: behind a sentence, and between two tokens
MARKS = str.maketrans("¦¬", END + GLUE)
#: an English word that is two
CLITIC = re.compile("(?:n['’]t|['’](?:s|re|ve|ll|d|m)|s['’])$", re.IGNORECASE)
#: a line before that of a name, in mail
CLOSING = re.compile(
    f"(?im)^(?:best|cheers|kind|love|regards|sincerely|thank|warm|yours).{{0,25}},{END}$"
)
GAPS = re.compile(f"([ \t\n{GLUE}{END}{GLUED_END}{LINE}{KEEPING}]+)")
FINAL = re.compile("[.?!…:;,)\"'’”»]$|[\U0001f000-\U0001ffff]$")
#: "-", "*" and so on, for training and for what is kept back
TICKS = (["-", "•", "*", "+", "▪"], ["–", "·", "◦", "●", "‣"])
HOSTS = (["com", "org", "de", "io", "gov"], ["net", "edu", "uk", "fr", "info"])
FILES = (
    ["txt", "pdf", "py", "jpg", "html", "csv", "js", "zip", "conf", "rar", "odp"],
    ["md", "docx", "cpp", "png", "json", "xlsx", "mp3", "log", "yml", "bak", "psd"],
)
COINS = (["$", "€"], ["£", "¥"])
#: sentences of a paragraph, where a treebank has longer ones
PARAGRAPH = 12
CALLS = ["!", "?", "!!", "...", "…", "?!"]
EMOJI = (
    ["😀", "👍🏽", "🇫🇷", "❤️", ":)", ":-("],
    ["🎉", "👩‍👩‍👧", "🇯🇵", "✌🏿", ";)", ":D"],
)


class Treebank:
    """Sentences, phrases and names of a treebank, as pieces of texts.

    Args:
        sentences: with trees and surfaces.
    """

    def __init__(self, sentences: Sequence[Sentence]):
        self.split = MultiwordSplitter(analyses_of(sentences), usual_of(sentences))
        self.vocabulary = {word.lower() for x in sentences for word in x.tokens}
        self.paragraphs: list[list[str]] = [[]]
        self.sentences, self.clauses, self.phrases = [], [], []
        self.names: list[tuple[str, str]] = []
        for sentence in sentences:
            piece = self._piece(sentence)
            if set(piece) & set(GLUE + END + GLUED_END + LINE + "\n\t") - {GLUE}:
                continue
            self.paragraphs[-1].append(piece)
            after = sentence.surface.after or "\n\n"
            if "\n\n" in after or len(self.paragraphs[-1]) == PARAGRAPH:
                self.paragraphs.append([])
            first, *rest = re.split(f"{GLUE}(?=[.?!]$)", piece)
            if 3 < len(sentence) < 25 and rest and piece[0].isupper():
                self.sentences.append(piece)
                self.clauses.append(first)
            self._add_phrases(sentence, piece)
        self.paragraphs = [x for x in self.paragraphs if x]

    def _piece(self, sentence: Sentence) -> str:
        surface, parts = sentence.surface, []
        gaps = [*surface.spaces_after[:-1], ""]
        for token, count, gap in zip(surface.tokens, surface.words, gaps, strict=True):
            token = SEVERAL * (count > 1) + token
            parts += token.replace(" ", "\u00a0"), " " if gap else GLUE
        return "".join(parts[:-1])

    def _add_phrases(self, sentence: Sentence, piece: str) -> None:
        if max(sentence.surface.words) > 1:
            return  # words are tokens, then
        tokens = re.split(f"[ {GLUE}]", piece)
        gaps = [*re.findall(f"[ {GLUE}]", piece), ""]
        columns = (sentence.columns[name] for name in ("head", "deprel", "pos"))
        heads, deprels, tags = columns
        heads = [*map(int, heads)]
        last = list(range(len(tokens)))
        first = last.copy()
        for _ in range(6):
            for word, head in enumerate(heads):
                if head:
                    first[head - 1] = min(first[head - 1], first[word])
                    last[head - 1] = max(last[head - 1], last[word])
        for word, (tag, deprel) in enumerate(zip(tags, deprels, strict=True)):
            a, b = first[word], last[word] + 1
            is_plain = "PUNCT" not in tags[a:b] and "ADP" not in tags[a : a + 1]
            if tag == "NOUN" and b - a < 6 and is_plain:
                pairs = zip(tokens[a:b], gaps[a:b], strict=True)
                self.phrases.append(
                    "".join(x for p in pairs for x in p).rstrip(" \x02")
                )
            head = heads[word] - 1
            if deprel.startswith("flat") and tag == tags[head] == "PROPN":
                pair = tokens[head], tokens[word]
                if all(x.istitle() and x.isalpha() for x in pair):
                    self.names.append(pair)


def capital(piece: str) -> str:
    start = len(SEVERAL) if piece.startswith(SEVERAL) else 0
    return piece[:start] + piece[start : start + 1].upper() + piece[start + 1 :]


class Filling:
    """What the fields of a template become: a new piece each time.

    Args:
        rng: what is drawn with.
        treebank: the sentences.
        lists: of words, by name.
        kept: whether the words are those that are kept back; None for all words.
    """

    def __init__(self, rng, treebank: Treebank, lists: dict, kept: bool | None):
        self.rng, self.treebank, self.kept = rng, treebank, kept
        part = slice(None) if kept is None else slice(kept, None, 2)
        self.lists = {k: words[part] or words for k, words in lists.items()}
        self.names = {name for pair in treebank.names for name in pair}
        self.ticks = {}

    def __getitem__(self, name: str) -> str:
        if hasattr(self, name):
            return getattr(self, name)()
        if name.isupper():
            return self[name.lower()].upper()
        return self.expanded(self.rng.choice(self.lists[name]))

    def expanded(self, template: str) -> str:
        """A template with pieces in the place of its fields."""
        fields = string.Formatter().parse(template.translate(SIGNS))
        return "".join(
            text + (self[name] if name else "") for text, name, _, _ in fields
        )

    def drawn(self, halves) -> str:
        words = sum(halves, []) if self.kept is None else halves[self.kept]
        return self.rng.choice(words)

    def sent(self):
        return self.rng.choice(self.treebank.sentences)

    def clause(self):
        piece = self.rng.choice(self.treebank.clauses)
        first = re.split(f"[ {GLUE}]", piece)[0]
        if first in self.names or not first[1:].islower():
            return piece
        return first.lower() + piece[len(first) :]

    def Clause(self):  # noqa: N802
        return capital(self.clause())

    def np(self):
        return self.rng.choice(self.treebank.phrases)

    def Np(self):  # noqa: N802
        return capital(self.np())

    def Title(self):  # noqa: N802
        parts = GAPS.split(self.np())
        return "".join(capital(part) for part in parts)

    def TITLE(self):  # noqa: N802
        return self.np().upper()

    def lower(self):
        return self.sent().lower()

    def cut(self):
        """A word that somebody shortened."""
        while True:
            word = self.rng.choice(GAPS.split(self.np()))
            short = re.match(r"[^\W\d_]{2,4}?[^\W\d_aeiouyàéèêîôû](?=\w{2})", word)
            if short and short[0].lower() not in self.treebank.vocabulary:
                return self.rng.choice([short[0], capital(short[0])]) + "."

    def poem(self):
        """Two sentences, over several lines of free verse."""
        parts = GAPS.split(self.sent() + END + self.sent())
        every = self.rng.randint(3, 6)
        blanks = [i for i, part in enumerate(parts) if part in (" ", END)]
        for place in blanks[every::every]:
            parts[place] = LINE if parts[place] == " " else "\n"
            if self.rng.random() < 0.3:
                parts[place + 1] = capital(parts[place + 1])
        return "".join(parts)

    def wrapped(self):
        pieces = [self.sent() for _ in range(self.rng.randint(2, 4))]
        width = self.ticks.setdefault("width", self.rng.randint(55, 80))
        return wrapped(END.join(pieces), width)

    def first(self):
        return self.rng.choice(self.treebank.names)[0]

    def last(self):
        return self.rng.choice(self.treebank.names)[1]

    def initial(self):
        return f"{self.letter()}."

    def letter(self):
        return self.rng.choice(string.ascii_uppercase)

    def small(self):
        return self.rng.choice(string.ascii_lowercase[:6])

    def n(self):
        return str(self.rng.choice([1, 10, 100, 1000]) * self.rng.randint(1, 30))

    def day(self):
        return str(self.rng.randint(1, 31))

    def year(self):
        return str(self.rng.randint(1800, 2030))

    def dec(self):
        marks = self.lists.get("decimal_marks", ["."])
        value = f"{self.rng.randint(0, 400)}.{self.rng.randint(0, 99)}"
        return value.replace(".", self.rng.choice(marks))

    def coin(self):
        return self.drawn(COINS)

    def date(self):
        d, m, y = self.rng.randint(1, 28), self.rng.randint(1, 12), self.year()
        forms = [f"{m}/{d}/{y}", f"{y}-{m:02}-{d:02}", f"{d:02}.{m:02}.{y}", f"{d}/{m}"]
        forms += [f"{self['month']} {d}{GLUE}, {y}", f"{d} {self['month']} {y}"]
        return self.rng.choice(forms)

    def clock(self):
        return f"{self.rng.randint(0, 23)}:{self.rng.randint(0, 59):02}"

    def word(self):
        words = [x for x in GAPS.split(self.np().lower()) if x.isalpha()] or ["note"]
        return self.rng.choice(words)

    def stem(self):
        words = [self.word() for _ in range(self.rng.randint(1, 2))]
        return self.rng.choice("_-").join(words) + self.rng.choice(["", "", "2"])

    def file(self):
        return f"{self.stem()}.{self.drawn(FILES)}"

    def host(self):
        return f"{self.last().lower()}.{self.drawn(HOSTS)}"

    def url(self):
        tail = self.rng.choice(["", "/", f"/{self.stem()}", f"/{self.file()}?id=3"])
        head = self.rng.choice(["http://", "https://", "www.", "https://www.", ""])
        return head + self.host() + tail

    def mail(self):
        joint = self.rng.choice([".", "_", "", "+"])
        return f"{self.first()}{joint}{self.last()}@{self.host()}".lower()

    def path(self):
        names = [self.stem() for _ in range(self.rng.randint(1, 3))]
        if self.rng.random() < 0.5:
            return f"C:\\{self.stem()}\\" + "\\".join([*names, self.file()])
        head = self.rng.choice(["/", "~/", "./", "../"])
        return head + "/".join([*names, self.rng.choice([self.stem(), self.file()])])

    def ip(self):
        parts = [str(self.rng.randint(0, 255)) for _ in range(4)]
        return ".".join(parts) + self.rng.choice(["", ":8080", ":80"])

    def version(self):
        numbers = self.rng.choices(range(20), k=self.rng.randint(2, 3))
        return self.rng.choice(["", "v", "V"]) + ".".join(map(str, numbers))

    def code(self):
        a, b = self.stem().replace("-", "_"), self.stem().replace("-", "_")
        forms = [f"{a}()", f"{a}.{b}()", f"{a}_{b}", f"--{a}", f"${a.upper()}"]
        forms += [f"{a}.{b.capitalize()}", f"{a}.{b}.{a}"]
        return self.rng.choice([*forms, "C++", "C#", "node.js", ".NET", f"{a}::{b}"])

    def phone(self):
        a, b = self.rng.randint(200, 999), self.rng.randint(1000, 9999)
        forms = [f"{a}-555-{b}", f"(~{a}~) 555-{b}", f"{a}.555.{b}", f"+1 {a} 555 {b}"]
        return self.rng.choice(forms).translate(SIGNS)

    def mark(self):
        return self.rng.choice(CALLS)

    def emoji(self):
        return self.drawn(EMOJI)

    def hash(self):
        return "#" + self.stem().replace("-", "").replace("_", "")

    def handle(self):
        return "@" + self.stem().replace("-", "_")

    def bar(self):
        return "|"

    def tick(self):
        """The same mark in all of a text."""
        return self.ticks.setdefault("tick", self.drawn(TICKS))

    def dot(self):
        return self.ticks.setdefault("dot", self.drawn((["."], [")"])))


def wrapped(piece: str, width: int) -> str:
    """A piece with lines of a width, as an editor makes them."""
    column, parts = 0, GAPS.split(piece)
    for place in range(0, len(parts), 2):
        size = len(parts[place])
        # the word goes on as long as there is no blank
        for gap, token in zip(
            parts[place + 1 :: 2], parts[place + 2 :: 2], strict=False
        ):
            if gap not in (GLUE, GLUED_END):
                break
            size += len(token)
        gap = parts[place - 1] if place else ""
        if gap in (" ", END) and column + 1 + size > width:
            parts[place - 1] = LINE if gap == " " else "\n"
            column = 0
        elif gap in (" ", END):
            column += 1
        elif "\n" in gap or gap == LINE:
            column = 0
        column += len(parts[place])
    return "".join(parts)


def filled(template: str, filling: Filling) -> str:
    """A text of a template."""
    filling.ticks = {}
    parts = re.split(f"([{END}{GLUED_END}\n]+)", filling.expanded(template))
    for place in range(0, len(parts), 2):
        gap = parts[place + 1] if place + 1 < len(parts) else ""
        part = parts[place]
        if part and END in gap and not FINAL.search(part):
            part += GLUE + "."
        elif END in gap:  # as treebanks have it: "at 2 p.m" and its full stop
            part = re.sub(r"(\w)\.$", rf"\1{GLUE}.", part)
        if FINAL.search(part) or filling.rng.random() < 0.5:
            part = capital(part)
        parts[place] = part
    return "".join(parts)


def noisy(text: str, rng: random.Random) -> str:
    """A text as another program or person writes it."""
    kind = rng.randrange(8)
    if kind == 0:
        for mark in "“”":
            text = re.sub('"', mark, text, count=1)
        return text.replace("'", "’")
    if kind == 1:
        return text.translate(str.maketrans("“”’‘", "\"\"''"))
    if kind == 2:
        return unicodedata.normalize("NFD", text)
    if kind == 3:  # soft hyphens
        return re.sub(
            f"(?<![{SEVERAL}\\w])([a-z]{{3,5}})(?=[a-z]{{3,}})", "\\1\u00ad", text
        )
    if kind == 4:  # a character without width behind words
        return re.sub(
            "(?<=[a-z])(?= )", lambda m: "\u200b" * (rng.random() < 0.3), text
        )
    if kind == 5:
        return re.sub(" (?=[a-z])", lambda m: rng.choice(f" {KEEPING}"), text)
    if kind == 6:
        return text.upper()
    return text.lower()


def sentences_of(text: str, treebank: Treebank, rng: random.Random) -> list[Sentence]:
    """The sentences of a text that was made."""
    wide = rng.random() < 0.1
    sentences, tokens, words, spans, counts, start = [], "", [], [], [], 0
    parts = [*GAPS.split(text.strip(" \n\t" + LINE + END)), "\n\n"]
    for token, gap in zip(parts[::2], parts[1::2], strict=True):
        if token:
            several = token.startswith(SEVERAL)
            token = token.removeprefix(SEVERAL)
            own = treebank.split(token, several)
            spans.append((len(tokens), len(tokens) + len(token)))
            tokens += token
            words += own
            counts.append(len(own))
        space = re.sub(f"[{GLUE}{GLUED_END}]", "", gap).replace(LINE, "\n")
        space = space.replace(END, "  " if wide else " ").replace(KEEPING, "\u00a0")
        if set(gap) & {END, GLUED_END, "\n"} and words:
            surface = Surface(tokens, spans, counts, start, space)
            sentences.append(Sentence(words, surface=surface))
            start += len(tokens) + len(space)
            tokens, words, spans, counts = "", [], [], []
        elif words:
            tokens += space
    return sentences


def written(
    treebank: Treebank, language: str, part: str, joined: bool = False
) -> Iterator[list[Sentence]]:
    """The texts that were written by hand: those of `texts/LANGUAGE/PART*.txt`.

    A line with `%%%` stands before each. `¦` ends a sentence, and `¬` a token before
    another one without a blank. With `joined` these are the mails alone, with blanks in
    the place of line ends, as programs and treebanks have them.
    """
    rng = random.Random("written")
    files = sorted((HERE / language).glob(f"{part}*.txt"))
    content = "".join(file.read_text("utf-8") for file in files).translate(MARKS)
    for text in re.split("(?m)^%%%.*\n", content)[1:]:
        if joined:
            if not CLOSING.search(text):
                continue
            text = re.sub(f"(?<={END})\n(?=[^\\s>])", " ", text)
            text = re.sub(
                f"(?<={END})\n\n(?=[^\\s>])", lambda _: rng.choice([" ", "\n\n"]), text
            )
        text = re.sub(f"{END}(?=\\S)", GLUED_END, text)
        text = re.sub(f"{END} *\n", f"{END}\n", text)
        text = re.sub(f"(?<![{END}\n])\n(?!\n)", LINE, text)
        text = re.sub(f"{END}(?=\n)", "", text).replace(f"{END} ", END)
        parts = GAPS.split(text)
        for place in range(0, len(parts), 2):
            parts[place] = SEVERAL * bool(CLITIC.search(parts[place])) + parts[place]
        yield sentences_of("".join(parts), treebank, rng)


def described(language: str) -> dict[str, dict]:
    """The lists of a language, and the kinds to be learnt and to be kept back."""
    files = (HERE / f"{name}.toml" for name in ("any", language))
    common, its = (tomllib.loads(file.read_text("utf-8")) for file in files)
    return {part: common[part] | its[part] for part in common}


def made(
    treebank: Treebank,
    language: str,
    kept: bool,
    count: int,
    seed: int,
    all_words: bool = False,
) -> dict[str, list[list[Sentence]]]:
    """Texts of each kind.

    Args:
        treebank: what they are made from.
        language: of the templates.
        kept: whether of the kinds that are kept back.
        count: texts of a kind.
        seed: of all draws.
        all_words: whether with both halves of each list.

    Returns:
        By the name of the kind its texts, each a list of sentences.
    """
    parts = described(language)
    texts = defaultdict(list)
    for name, templates in parts["kept" if kept else "learnt"].items():
        rng = random.Random(f"{seed} {name}")
        half = None if all_words else kept
        filling = Filling(rng, treebank, parts["lists"], half)
        for number in range(count):
            text = filled(templates[number % len(templates)], filling)
            if rng.random() < 0.15:
                text = noisy(text, rng)
            texts[name].append(sentences_of(text, treebank, rng))
    return texts


def laid_out(treebank: Treebank, seed: int) -> Iterator[list[Sentence]]:
    """The paragraphs of a treebank, each few of them as a text with other lines."""
    rng = random.Random(f"{seed} layout")
    rest = treebank.paragraphs
    while rest:
        count = rng.randint(1, 6)
        paragraphs, rest = rest[:count], rest[count:]
        way = rng.random()
        width = rng.randint(45, 90)
        between = rng.choice(["\n\n", "\n\n", "\n"])
        if way < 0.45:
            parts = [wrapped(END.join(pieces), width) for pieces in paragraphs]
        elif way < 0.65:  # a line is a sentence
            parts = ["\n".join(pieces) for pieces in paragraphs]
        else:  # a line is a paragraph
            parts = [END.join(pieces) for pieces in paragraphs]
            between = "\n" if way < 0.9 else "\n\n"
        text = between.join(parts)
        if rng.random() < 0.1 or way > 0.9:
            text = noisy(text, rng)
        yield sentences_of(text, treebank, rng)


def wrapped_sentences(treebank: Treebank, seed: int) -> Iterator[Sentence]:
    """A treebank as texts whose lines have up to 60 to 80 characters, all as many."""
    rng = random.Random(f"{seed} wrapped")
    for start in range(0, len(treebank.paragraphs), 20):
        width = rng.randint(60, 80)
        paragraphs = treebank.paragraphs[start : start + 20]
        text = "\n\n".join(wrapped(END.join(pieces), width) for pieces in paragraphs)
        yield from sentences_of(text, treebank, rng)
