"""The figures of `metrics.attachment`, by loops over words."""


def share(hits):
    return sum(hits) / len(hits) if hits else float("nan")


def by_loops(rows, subtypes, counts):
    """Overall figures, and those by sentence, relation, length and distance.

    Args:
        rows: (sentence, length, position, form, xpos, head, deprel, predicted head,
            predicted deprel) of each word.
        subtypes: whether they are compared.
        counts: whether a word counts, from form and xpos.
    """
    rows = [row for row in rows if counts(row[3], row[4])]
    if not subtypes:
        rows = [
            (*row[:6], row[6].split(":")[0], row[7], row[8].split(":")[0])
            for row in rows
        ]

    def bin_of(position, head):
        distance = abs(position - head)
        if head == 0:
            return "root"
        if distance < 3:
            return "2" if distance == 2 else "1"
        return "3-6" if distance < 7 else "7+"

    def correct(row, labelled):
        return row[5] == row[7] and (row[6] == row[8] or not labelled)

    relations, distances, lengths = {}, {}, {}
    for name in {row[6] for row in rows} | {row[8] for row in rows}:
        gold = [row for row in rows if row[6] == name]
        predicted = [row for row in rows if row[8] == name]
        relations[name] = [
            len(gold),
            len(predicted),
            sum(correct(row, True) for row in gold),
            share([correct(row, True) for row in predicted]),
            share([correct(row, True) for row in gold]),
            share([correct(row, True) for row in gold + predicted]),
            share([correct(row, False) for row in gold]),
        ]
    for name in ("root", "1", "2", "3-6", "7+"):
        gold = [row for row in rows if bin_of(row[2], row[5]) == name]
        predicted = [row for row in rows if bin_of(row[2], row[7]) == name]
        distances[name] = [len(gold), len(predicted)] + [
            share([correct(row, labelled) for row in side])
            for labelled in (False, True)
            for side in (predicted, gold)
        ]
    for first in range(1, 200, 10):
        some = [row for row in rows if first <= row[1] < first + 10]
        lengths[f"{first}-{first + 9}"] = [
            len(some),
            *(share([correct(row, labelled) for row in some]) for labelled in (0, 1)),
        ]
    by_sentence = {}
    for row in rows:
        counted = by_sentence.setdefault(row[0], [0, 0, 0])
        for i, hit in enumerate((True, correct(row, False), correct(row, True))):
            counted[i] += hit
    overall = [
        share([correct(row, False) for row in rows]),
        share([correct(row, True) for row in rows]),
        share([row[6] == row[8] for row in rows]),
        share([c[0] == c[1] for c in by_sentence.values()]),
        share([c[0] == c[2] for c in by_sentence.values()]),
    ]
    return overall, by_sentence, relations, lengths, distances
