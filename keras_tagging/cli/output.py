"""The output of the program: tables of figures, tagged sentences."""

import json
import shlex
import sys
from collections.abc import Iterable

from keras_tagging.data import Corpus

AXES = ("batch", "time", "k")  # of a SavedModel's inputs and outputs


def progress() -> int:
    """`verbose` of Keras: a progress bar on a terminal, a line an epoch elsewhere."""
    return 1 if sys.stdout.isatty() else 2


def summary(corpus: Corpus) -> str:
    """The name, format and sizes of a corpus, and the files of each split."""
    sizes = (
        f"{len(part):,} {name} ({sum(map(len, part)):,} tokens)"
        for name, part in corpus.splits()
    )
    lines = [f"{corpus.name} ({corpus.format}): sentences {', '.join(sizes)}"]
    for name, files in corpus.files.items():
        if files and files != [corpus.name]:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            lines.append(f"  {name}: {files[0]}{more}")
    return "\n".join(lines)


def untrainable(model) -> str | None:
    """A line about the non-projective trees of a parser's training sentences."""
    nonprojective = model.metadata.get("nonprojective", {})
    count = nonprojective.get("sentences")
    if not count:
        return None
    treatment = nonprojective["treatment"]
    return f"{count:,} training sentences are not projective: {treatment}"


def next_commands(
    out, where: str | None, options, format: str | None, use: str = "tag"
) -> str:
    """Commands to try next with a trained model.

    Args:
        out: the folder of the model.
        where: a corpus to evaluate it on, if there is one.
        options, format: how to read that corpus.
        use: the command that applies the model.
    """
    lines = []
    options = list(options or ())
    reading, columns = (
        [f"--option {shlex.quote(pair)}" for pair in pairs]
        for pairs in (options, [o for o in options if o.startswith("columns=")])
    )
    if where:
        parts = [where, *reading]
        parts += [f"--format {format}"] if format else []
        lines = [f"  keras-tagging evaluate {out} --corpus {' '.join(parts)}"]
    lines.append(" ".join([f"  keras-tagging {use} {out} FILE", *columns]))
    return "\n".join([*lines, f"  keras-tagging export {out} {out}/served"])


def records(table) -> list[dict]:
    """The rows of a table for JSON."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


def percentages(table, columns: Iterable[str], **kwargs) -> str:
    """A table as text, with the named columns in per cent."""
    columns = [name for name in columns if name in table]
    table = table.assign(**{name: 100 * table[name] for name in columns})
    table = table.rename(columns={name: f"{name} %" for name in columns})
    kwargs = {"index": False, "float_format": "{:.2f}".format, "na_rep": "-"} | kwargs
    return table.to_string(**kwargs)


def figures(scores: dict[str, dict]) -> str:
    """The output of `evaluate` for each split, as text."""
    import pandas as pd

    table = pd.DataFrame(scores).T.astype(float)
    loss = {"loss": "{:.4f}".format}
    return percentages(table, set(table) - {"loss"}, index=True, formatters=loss)


def levels_table(table) -> str:
    """The output of `Tagger.multi_tagging` as text."""
    return percentages(table, ["word", "sent"], formatters={"beta": "{:g}".format})


def signature(folder) -> str:
    """The inputs and outputs of a SavedModel."""
    import tensorflow as tf

    def listed(specs):
        return ", ".join(
            f"{name} ({', '.join(AXES[: len(spec.shape)])}) {spec.dtype.name}"
            for name, spec in sorted(specs.items())
        )

    served = tf.saved_model.load(folder).signatures["serving_default"]
    _, takes = served.structured_input_signature
    return f"takes {listed(takes)}\ngives {listed(served.structured_outputs)}"


def onnx_signature(file) -> str:
    """What an ONNX file takes and gives."""
    import onnx

    def listed(values):
        return ", ".join(
            f"{value.name} ({', '.join(axis.dim_param for axis in shape.dim)}) "
            + onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower()
            for value in sorted(values, key=lambda value: value.name)
            if (shape := value.type.tensor_type.shape)
        )

    graph = onnx.load(file, load_external_data=False).graph
    return f"takes {listed(graph.input)}\ngives {listed(graph.output)}"


# One sentence of `tag`, for each --output


def _ranked(entry) -> list[tuple[str, float]]:
    """The tags of a token with their probabilities, best first."""
    return [entry] if isinstance(entry, tuple) else entry


def as_conll(tokens: list[str], tags: list) -> str:
    _check(tokens, "\t\n")
    if tags and not isinstance(tags[0], str):
        tags = ["\t".join(f"{t}\t{p:.4g}" for t, p in _ranked(entry)) for entry in tags]
    return "".join(f"{w}\t{t}\n" for w, t in zip(tokens, tags, strict=True)) + "\n"


def as_text(tokens: list[str], tags: list) -> str:
    _check(tokens, " \t\n")
    return " ".join(f"{w}|{t}" for w, t in zip(tokens, tags, strict=True)) + "\n"


def as_jsonl(tokens: list[str], tags: list) -> str:
    fields = {"tokens": tokens, "tags": tags}
    if tags and isinstance(tags[0], tuple):
        fields["tags"], fields["probabilities"] = zip(*tags, strict=True)
    elif tags and isinstance(tags[0], list):
        fields["tags"] = [[t for t, _ in entry] for entry in tags]
        fields["probabilities"] = [[p for _, p in entry] for entry in tags]
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _check(tokens: list[str], separators: str) -> None:
    text = "".join(tokens)
    if not all(tokens) or any(character in text for character in separators):
        raise ValueError(
            f"{tokens[:20]!r} does not fit this format: use --output jsonl"
        )


WRITERS = {"conll": as_conll, "text": as_text, "jsonl": as_jsonl}
