"""The command that `make demo` runs: the whole package on the embedded corpus."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.cli.output import figures, levels_table, progress, summary
from keras_tagging.models.files.run_files import lock_run
from keras_tagging.utils.startup import start_program

# "visits" and "attack" may be nouns or verbs, and "that" has several categories.
SENTENCE = "The teacher that she visits knows that the guards attack it ."


def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(metavar="DIR")] = Path("demo-model"),
    epochs: Annotated[int, typer.Option(min=1)] = 8,
) -> None:
    """Train on the embedded corpus, evaluate, tag and export: run by `make demo`.

    Examples:
        keras-tagging demo --out demo-model

    Args:
        out: Where to write.
        epochs: Passes over the training sentences.
    """
    context.with_resource(lock_run(out))
    start_program()
    import tensorflow as tf

    import keras_tagging
    from keras_tagging.models.files.run_folder import save_run

    corpus = keras_tagging.load_corpus("demo")
    print(summary(corpus))
    model = keras_tagging.build("bigru", seed=0)
    model.fit(
        corpus.train,
        validation_data=corpus.dev,
        epochs=epochs,
        log=out / "training.csv",
        verbose=progress(),
    )
    print(f"\n{figures(save_run(model, corpus, out))}")
    print("\nSeveral tags a word: all with p >= beta * max p (development sentences)\n")
    print(levels_table(model.multi_tagging(corpus.dev)))

    tokens = SENTENCE.split()
    [tags] = model.tag([tokens])
    model.export(out / "served")
    serve = tf.saved_model.load(str(out / "served")).signatures["serving_default"]
    served = serve(tokens=tf.constant([tokens]), lengths=tf.constant([len(tokens)]))
    served = [tag.decode() for tag in served["tags"].numpy()[0]]
    if served != tags:
        raise RuntimeError(f"the SavedModel tags {served}, the model {tags}")
    print("\nA sentence, tagged by the model and, alike, by the exported SavedModel:\n")
    width = max(map(len, tokens))
    for token, tag in zip(tokens, tags, strict=True):
        print(f"  {token:{width}}  {tag}")

    program = Path(sys.executable).with_name("keras-tagging")
    print(
        f"\nWritten to {out}: model.keras, metadata.json, training.csv and served/. "
        "Next:\n"
        f"  echo '{SENTENCE}' | {program} tag {out} --beta 0.01\n"
        f"  {program} evaluate {out} --corpus demo --per-tag\n"
        f"  {program} --help"
    )
