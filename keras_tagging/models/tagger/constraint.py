"""The choice between free and constrained decoding, from the training tags."""

import warnings
from collections.abc import Collection, Sequence

from keras_tagging.metrics import looks_like_chunks, nearest_scheme
from keras_tagging.models.known_labels import some


def decoding_scheme(
    constrained: bool | None,
    tags: Collection[str],
    sentences: Sequence[Sequence[str]],
) -> str | None:
    """The chunk scheme that decoding follows, or None if it is free.

    Args:
        constrained: the setting: None to constrain chunk tags if they are consistent in
            all training sentences, True to constrain them in any case, False never.
        tags: the tag inventory.
        sentences: the tags of the training sentences.

    Raises:
        ValueError: if `constrained` is True and the tags are not those of chunks.
    """
    if constrained is False:
        return None
    if not looks_like_chunks(tags):
        if constrained:
            raise ValueError(
                "constrained=True is for chunk tags such as B-NP, I-NP and O; the "
                f"training tags are {some(tags)}: leave it out"
            )
        return None
    scheme, inconsistent = nearest_scheme(sentences)
    if constrained or not inconsistent:
        return scheme
    warnings.warn(
        f"{inconsistent:,} of {len(sentences):,} training sentences have chunk tags "
        f"that break {scheme.upper()}, so decoding may break it too: give "
        "constrained=True to forbid that, constrained=False to allow it",
        stacklevel=6,  # the line that calls fit
    )
    return None
