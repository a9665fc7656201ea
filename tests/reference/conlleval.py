"""conlleval as a scan over one stream of lines, the way the official program works.

Written from its description, not from our code: it never builds a chunk, it
watches two tag streams for chunks that begin and end together.
"""

from collections import Counter

PREFIXES = "BIES"
# Pairs of (previous, current) prefixes between which a chunk ends and begins, for
# equal types. The first four rows are those of 2004 (IOB and IOE), the others
# came with the support for IOBES.
ENDS_2004 = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
BEGINS_2004 = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
ENDS = ENDS_2004 | {"BS", "IS", "ES", "EB", "SE", "SI", "SO", "SS", "SB"}
BEGINS = BEGINS_2004 | {"SB", "EB", "BS", "IS", "OS", "SS", "ES", "SI", "SE"}


class Stream:
    """One column of tags: what the program knows between two lines."""

    def __init__(self, ends, begins):
        self.ends, self.begins = ends, begins
        self.prefix, self.kind = "O", ""
        self.last_kind = ""

    def read(self, tag):
        """Returns whether a chunk ended before this tag, and whether one began."""
        before, self.last_kind = self.prefix, self.kind
        self.prefix, hyphen, self.kind = tag.partition("-")
        pair = before + self.prefix
        changed = self.kind != self.last_kind
        ended = pair in self.ends or (before != "O" and changed)
        began = pair in self.begins or (self.prefix != "O" and changed)
        return ended, began


def conlleval(gold, predicted, raw=False, ends=ENDS, begins=BEGINS):
    """The report as text, and (gold, found, correct) chunks by type."""
    lines = []
    for gold_tags, tags in zip(gold, predicted, strict=True):
        lines += [(g, p, True) for g, p in zip(gold_tags, tags, strict=True)]
        lines.append(("O", "O", False))  # the empty line after a sentence
    left, right = Stream(ends, begins), Stream(ends, begins)
    phrases, found, correct = Counter(), Counter(), Counter()
    tokens = same = 0
    open_and_equal = False
    for gold_tag, tag, is_token in lines:
        if raw:
            gold_tag = gold_tag if gold_tag == "O" else "B-" + gold_tag
            tag = tag if tag == "O" else "B-" + tag
        left_ended, left_began = left.read(gold_tag)
        right_ended, right_began = right.read(tag)
        if open_and_equal:
            if left_ended and right_ended:
                correct[left.last_kind] += 1
                open_and_equal = False
            elif left_ended or right_ended or left.kind != right.kind:
                open_and_equal = False
        if left_began and right_began and left.kind == right.kind:
            open_and_equal = True
        phrases[left.kind] += left_began
        found[right.kind] += right_began
        tokens += is_token
        same += is_token and gold_tag == tag
    phrases, found = +phrases, +found
    names = sorted(phrases.keys() | found.keys())
    report = (
        f"processed {tokens} tokens with {phrases.total()} phrases; "
        f"found: {found.total()} phrases; correct: {correct.total()}.\n"
    )
    if tokens:
        report += f"accuracy: {100 * same / tokens:6.2f}%; "
        report += _figures(phrases.total(), found.total(), correct.total()) + "\n"
    for name in names:
        figures = _figures(phrases[name], found[name], correct[name])
        report += f"{name:>17}: {figures}  {found[name]}\n"
    return report, {name: (phrases[name], found[name], correct[name]) for name in names}


def _figures(phrases, found, correct):
    precision = recall = score = 0.0
    if found:
        precision = 100 * correct / found
    if phrases:
        recall = 100 * correct / phrases
    if precision + recall > 0:
        score = 2 * precision * recall / (precision + recall)
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {score:6.2f}"
