"""Sentences with several columns of labels."""

from keras_tagging import Sentence

NAMES = ("upos", "xpos", "feats")


def columned(sentences):
    """Their tags as `pos`, their `pos` as `xpos`, and chunks of both as `feats`."""
    return [
        Sentence(
            s.tokens,
            None,
            {
                "pos": s.tags,
                "xpos": [f"{pos}x" for pos in s.columns["pos"]],
                "feats": [
                    f"{'I' if i % 3 else 'B'}-{s.tags[i - i % 3]}"
                    for i in range(len(s))
                ],
            },
        )
        for s in sentences
    ]
