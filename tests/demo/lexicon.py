r"""The CCG lexicon of the demo corpus, written by hand.

`LEXICON` maps a word class, the name by which `demo_grammar` calls it, to its
entries. A word may stand in any number of classes, with another category in each:
that is what makes the corpus worth tagging. To add a word, add it to a list; words
at the front of a list are frequent, words at its end rare or unseen in training.
Categories are written as in CCGbank, features included.

The three tables:

* `WORDS`: lists of lemmas, so that one list can serve several classes.
* `CLASSES`: `class  category  POS  words`, where `@name` stands for a list.
* `FRAMES`: `frame  category  verbs`. Each frame gives the classes `frame.sg` and
  `frame.pl` (finite, by the number of the subject), `.b`, `.pt`, `.ng` and, where
  its last argument is an object, the passive `.pss`. The first S of the category
  receives the feature of the form: `(S\NP)/NP` becomes `(S[ng]\NP)/NP`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Entry(NamedTuple):
    word: str
    category: str
    pos: str


def _compounds(first: str, second: str) -> str:
    return " ".join(a + b for b in second.split() for a in first.split())


WORDS = {
    # Nouns. The first ones of several lists are also verbs or adjectives.
    "person": """patient official doctor criminal guard judge professional teacher
        man woman child guide student native coach neighbor farmer writer nurse
        lawyer sailor soldier baker king queen singer poet actor painter driver
        pilot tourist visitor worker manager scientist prisoner gardener
        journalist musician librarian engineer politician biologist chemist""",
    "thing": """plan offer order record meal drink picture box gift guitar car
        machine ring bridge chair coat bicycle computer ticket cake camera basket
        lamp mirror carpet blanket bottle statue diamond engine wagon sculpture""",
    "info": """report question answer book letter story film study note article
        promise poem novel message song speech essay document memoir biography""",
    "place": """garden kitchen station museum park school village office library
        hotel market church factory hospital castle harbor restaurant forest
        theater laboratory monastery courtyard cathedral""",
    "event": """visit talk walk dance call meeting concert attack game war trip
        party lecture wedding election ceremony festival conference""",
    "idea": """hope need fear claim love decision idea problem freedom
        situation condition collection reaction explanation darkness
        invention discussion movement agreement weakness permission investment
        donation regulation treatment kindness celebration punishment selection
        sadness translation prediction happiness correction arrangement madness
        calculation illness foundation confession settlement reduction employment
        protection judgment loneliness illustration adjustment imitation rotation
        awareness publication replacement devotion statement hesitation fitness
        operation achievement vibration commitment demonstration entertainment
        objection improvement liberation politeness extension refinement""",
    "instrument": """hammer telescope knife fork brush rope shovel needle lens
        spoon stick microscope screwdriver""",
    "property": """beard hat scar tail handle roof mustache limp collar label
        balcony temper""",
    "material": "stone paper city school metal garden glass summer village plastic",
    "unit": "day week month year hour minute decade",
    # Adjectives and adverbs.
    "adjective": """patient official green criminal professional young old native
        big small new famous tall rich strange happy clever quiet modern careful
        beautiful dangerous expensive generous nervous curious wonderful faithful
        hopeful peaceful jealous cheerful serious powerful ambitious grateful
        massive attractive reliable fashionable restless joyful furious harmless
        cautious helpful gorgeous painful envious aggressive comfortable fearless
        ridiculous graceful creative adorable thoughtful poisonous hopeless
        spacious impressive valuable delicious playful notable careless humorous
        protective remarkable doubtful vigorous endless productive skillful
        mysterious thankless luxurious shameful decorative capable glorious
        tasteless forgetful victorious breathless courageous""",
    "both": "hard fast late early",
    "manner": """quickly slowly quietly carefully happily gladly suddenly easily
        secretly loudly bravely calmly nervously eagerly politely kindly proudly
        cleverly gently curiously sadly angrily smoothly generously warmly coldly
        cautiously foolishly cheerfully rudely openly wisely skillfully peacefully
        awkwardly firmly furiously lazily gracefully silently thoughtfully swiftly
        boldly patiently neatly faithfully clumsily harshly joyfully elegantly
        solemnly greedily briskly merrily rapidly painfully fiercely seriously
        jealously dutifully restlessly vigorously recklessly honestly modestly""",
    "frequency": "often never always usually rarely sometimes",
    "time": "yesterday today tomorrow recently tonight soon again",
    "sentential": """perhaps fortunately sadly however obviously curiously
        surprisingly apparently unfortunately honestly happily certainly
        evidently remarkably presumably incidentally""",
    "degree": "very quite rather extremely surprisingly really remarkably",
    # Names; some are other words when they begin a sentence.
    "first": """Mary Will John Rose Mark May Anna Bill Peter Grant Susan Hope Paul
        Chase Laura Frank Emma Daniel Olga Henry Clara Victor Alice Martin Ruth
        Oscar Helen Simon Julia Hugo Irene Felix Nora Edgar Vera Leon Sylvia Amos
        Greta Boris Wanda Cyril Thelma Otis Freda Silas Edith Rufus Agnes""",
    "surname": _compounds(
        "Berg Lind Hart Wal Stein Cald Mor Win Fair Hol Ash Brad Nor Gold Thorn "
        "Eller Ros Ham Sil Kirk Dal Wether Pem Land Fen Car Whit Haver Lang Os",
        "man son ton er field well wood berg worth by more stone ley smith kin "
        "mann shaw",
    ),
    "city": "Paris London "
    + _compounds(
        "Ash Mill Oak Wood Stan Brook Red Clif Hamp East Wick Glen Marl Fox",
        "ford ville burg ham port mouth dale",
    ),
    "weekday": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "number": "two three 20 four 15 five ten "
    + " ".join(str(17 * k % 991 + 9) for k in range(1, 300))
    + " "
    + " ".join(f"{3 * k},{(37 * k) % 10}00" for k in range(1, 100)),
    "years": " ".join(str(1900 + 37 * k % 121) for k in range(1, 121)),
}

NOUNS = "person thing info place event idea instrument property unit".split()
AUXILIARIES = "be.np be.adj be.ng be.pss have do".split()

CLASSES = r"""
det.sg     NP[nb]/N   DT    the the the the a a a this that every each
det.pl     NP[nb]/N   DT    the the the these those some all
the        NP[nb]/N   DT    the
poss       NP[nb]/N   PRP$  her her her his his their its
poss.s     (NP[nb]/N)\NP  POS  's
he         NP         PRP   she he it
they       NP         PRP   they we you
him        NP         PRP   her her her him him it them us you
this       NP         DT    this
these      NP         DT    these those
some       NP/PP      DT    some all many most
first      N          NNP   @first
first.mod  N/N        NNP   @first
surname    N          NNP   @surname
title      N/N        NNP   Mr. Mrs. Dr. Captain
city       N          NNP   @city
weekday    N          NNP   @weekday
weekday.mod  N/N      NNP   @weekday
daypart    N          NN    morning evening afternoon summer winter
year       N          CD    @years
number     N/N        CD    @number
around     (N/N)/(N/N)  IN  about around over
adj        N/N        JJ    @adjective @both
adj.pred   S[adj]\NP  JJ    @adjective @both
adj.of     (S[adj]\NP)/PP  JJ  proud jealous afraid capable
adj.to     (S[adj]\NP)/(S[to]\NP)  JJ  happy afraid ready eager free careful
adj.em     (S[adj]\NP)/S[em]  JJ  happy sure afraid proud certain
material   N/N        NN    @material
manner.post  (S\NP)\(S\NP)  RB  @both @manner
manner.pre   (S\NP)/(S\NP)  RB  @manner
time.post  (S\NP)\(S\NP)  RB  @time there
time.init  S/S        RB    @time
sentential S/S        RB    @sentential
frequency  (S\NP)/(S\NP)  RB  @frequency
degree     (N/N)/(N/N)  RB  @degree
degree.pred  (S[adj]\NP)/(S[adj]\NP)  RB  @degree
degree.adv ((S\NP)\(S\NP))/((S\NP)\(S\NP))  RB  @degree
not        (S\NP)\(S\NP)  RB  not
modal      (S[dcl]\NP)/(S[b]\NP)  MD  will may can must would should could
modal.q    (S[q]/(S[b]\NP))/NP    MD  will may can must would should could
to         (S[to]\NP)/(S[b]\NP)   TO  to
there      NP[thr]    EX    there
be.there.sg  (S[dcl]\NP[thr])/NP  VBZ  is is
be.there.pl  (S[dcl]\NP[thr])/NP  VBP  are are
that       S[em]/S[dcl]   IN  that
whether    S[qem]/S[dcl]  IN  whether if
who.subj   (NP\NP)/(S[dcl]\NP)  WP  who who that
who.obj    (NP\NP)/(S[dcl]/NP)  WP  who that
which.subj (NP\NP)/(S[dcl]\NP)  WDT  that that which
which.obj  (NP\NP)/(S[dcl]/NP)  WDT  that that which
whose      ((NP\NP)/(S[dcl]\NP))/N  WP$  whose
what.free.subj  NP/(S[dcl]\NP)  WP  what
what.free.obj   NP/(S[dcl]/NP)  WP  what
what.subj  S[wq]/(S[dcl]\NP)  WP  who what what
what.obj   S[wq]/(S[q]/NP)    WP  who what what
which.q.subj  (S[wq]/(S[dcl]\NP))/N  WDT  which what
which.q.obj   (S[wq]/(S[q]/NP))/N    WDT  which what
when.q     S[wq]/S[q]  WRB  when where why how
because    ((S\NP)\(S\NP))/S[dcl]  IN  before because when after while since if where
because.init  (S/S)/S[dcl]  IN  before when after because while if since although
before.ng  ((S\NP)\(S\NP))/(S[ng]\NP)  IN  before after while
before.ng.init  (S/S)/(S[ng]\NP)  IN  before after while
before     ((S\NP)\(S\NP))/NP  IN  before after since during until
before.init  (S/S)/NP  IN  before after since during
in.np      (NP\NP)/NP  IN  in at near behind outside
in.vp      ((S\NP)\(S\NP))/NP  IN  in at near behind outside
in.pp      PP/NP       IN  in into behind
in.init    (S/S)/NP    IN  in at near behind outside
in.time    ((S\NP)\(S\NP))/NP  IN  in
in.time.init  (S/S)/NP  IN  in
on.time    ((S\NP)\(S\NP))/NP  IN  on
on.time.init  (S/S)/NP  IN  on
for.time   ((S\NP)\(S\NP))/NP  IN  for for in
with.np    (NP\NP)/NP  IN  with
with.vp    ((S\NP)\(S\NP))/NP  IN  with
from.np    (NP\NP)/NP  IN  from
of.np      (NP\NP)/NP  IN  of
of.pp      PP/NP       IN  of
about.np   (NP\NP)/NP  IN  about on
by         ((S\NP)\(S\NP))/NP  IN  by
pp.on      PP/NP       IN  on
pp.of      PP/NP       IN  of
pp.about   PP/NP       IN  about
pp.at      PP/NP       IN  at
pp.to      PP/NP       TO  to
pp.for     PP/NP       IN  for
pp.with    PP/NP       IN  with
pp.from    PP/NP       IN  from
and        conj        CC  and and or
but        conj        CC  but and
comma      ,           ,   ,
period     .           .   .
question   .           .   ?
"""

FRAMES = r"""
intr      S\NP           read eat sing write leave play talk walk study drive plan work
    dance wait hope pay answer agree sleep arrive laugh rise wake smile
trans     (S\NP)/NP      read visit see write eat sing leave answer order study know
    help find drive buy offer show fear need question love record play like guard
ditr      ((S\NP)/NP)/NP give send offer show read teach buy pay
dative    ((S\NP)/PP)/NP give send offer show read explain
np_about  ((S\NP)/PP)/NP ask tell teach warn
put       ((S\NP)/PP)/NP put keep store
on        (S\NP)/PP      rely depend insist focus
of        (S\NP)/PP      think dream hear
about     (S\NP)/PP      talk think write read worry ask
at        (S\NP)/PP      look laugh smile shout
to        (S\NP)/PP      talk listen write belong read
for       (S\NP)/PP      wait work pay vote ask hope
with      (S\NP)/PP      agree argue work dance talk
from      (S\NP)/PP      suffer escape hear
em        (S\NP)/S[em]   say know think believe hope see claim fear
dcl       (S\NP)/S[dcl]  think say know believe hope claim
qem       (S\NP)/S[qem]  ask wonder know see
tell      ((S\NP)/S[em])/NP  tell promise show warn
want      (S\NP)/(S[to]\NP)  want hope plan try need like expect offer
force     ((S\NP)/(S[to]\NP))/NP  ask want force help tell teach expect
start     (S\NP)/(S[ng]\NP)  start stop enjoy like love
own       (S\NP)/NP      have have have own
become    (S\NP)/NP      become remain
be.np     (S\NP)/NP      be
seem      (S\NP)/(S[adj]\NP)  seem become remain feel
be.adj    (S\NP)/(S[adj]\NP)  be
be.ng     (S\NP)/(S[ng]\NP)   be
be.pss    (S\NP)/(S[pss]\NP)  be
have      (S\NP)/(S[pt]\NP)   have
do        (S\NP)/(S[b]\NP)    do
"""

_IRREGULAR_VERBS = """
see sees saw seen, find finds found found, know knows knew known, eat eats ate eaten,
read reads read read, write writes wrote written, sing sings sang sung,
leave leaves left left, drive drives drove driven, buy buys bought bought,
show shows showed shown, send sends sent sent, teach teaches taught taught,
pay pays paid paid, tell tells told told, give gives gave given, lend lends lent lent,
put puts put put putting, keep keeps kept kept, think thinks thought thought,
hear hears heard heard, say says said said, sleep sleeps slept slept,
rise rises rose risen, fall falls fell fallen, wake wakes woke woken,
plan plans planned planned planning, stop stops stopped stopped stopping,
become becomes became become, feel feels felt felt, have has had had,
do does did done, be is was been being
"""
IRREGULAR_VERBS = {row.split()[0]: row.split() for row in _IRREGULAR_VERBS.split(",")}
PLURALS = {"man": "men", "woman": "women", "child": "children", "knife": "knives"}


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in "aeou"


def _with_s(word: str) -> str:
    if _ends_in_consonant_y(word):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "sh", "ch")) else "s")


def _verb_forms(base: str) -> list[str]:
    """Base, third person, past, past participle, -ing form."""
    stem = base.removesuffix("e")
    past = base[:-1] + "ied" if _ends_in_consonant_y(base) else stem + "ed"
    ing = (base if base.endswith("ee") else stem) + "ing"
    regular = [base, _with_s(base), past, past, ing]
    irregular = IRREGULAR_VERBS.get(base, [])
    return irregular + regular[len(irregular) :]


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of a table; a line that begins with a space continues its row."""
    for row in re.split(r"\n(?! )", text.strip()):
        name, *fields = row.split()
        yield name, fields


def _words(names: list[str]) -> list[str]:
    listed = (WORDS[n[1:]] if n.startswith("@") else n for n in names)
    return [word for words in listed for word in words.split()]


def _inflected(category: str, verbs: list[str]) -> dict[str, list[Entry]]:
    """The entries of each form of the verbs of one frame."""
    forms = {form: [] for form in ("sg", "pl", "b", "pt", "ng", "pss")}

    def add(form, word, feature, pos):
        marked = category.replace("S", f"S[{feature}]", 1)
        if feature == "pss":
            marked = marked.removeprefix("(").removesuffix("/NP").removesuffix(")")
        forms[form].append(Entry(word, marked, pos))

    for verb in verbs:
        base, third, past, participle, ing = _verb_forms(verb)
        add("sg", third, "dcl", "VBZ")
        add("sg", past, "dcl", "VBD")
        add("pl", "are" if verb == "be" else base, "dcl", "VBP")
        add("pl", "were" if verb == "be" else past, "dcl", "VBD")
        add("b", base, "b", "VB")
        add("pt", participle, "pt", "VBN")
        add("ng", ing, "ng", "VBG")
        if category.endswith("/NP"):
            add("pss", participle, "pss", "VBN")
    return forms


def _inverted(entry: Entry) -> Entry:
    r"""The auxiliary of a question: (S[dcl]\NP)/X becomes (S[q]/X)/NP."""
    complement = entry.category.removeprefix(r"(S[dcl]\NP)/")
    return entry._replace(category=f"(S[q]/{complement})/NP")


def _read_lexicon() -> dict[str, list[Entry]]:
    lexicon = {}
    for name, (category, pos, *words) in _rows(CLASSES):
        lexicon[name] = [Entry(word, category, pos) for word in _words(words)]
    for noun in NOUNS:
        words = _words(["@" + noun])
        lexicon[noun + ".sg"] = [Entry(word, "N", "NN") for word in words]
        plurals = [PLURALS.get(word, _with_s(word)) for word in words]
        lexicon[noun + ".pl"] = [Entry(word, "N", "NNS") for word in plurals]
    for frame, (category, *verbs) in _rows(FRAMES):
        for form, entries in _inflected(category, verbs).items():
            lexicon[f"{frame}.{form}"] = entries
            if frame in AUXILIARIES and form in ("sg", "pl"):
                inverted = [_inverted(entry) for entry in entries]
                lexicon[f"{frame}.q.{form}"] = inverted
    return lexicon


LEXICON = _read_lexicon()
