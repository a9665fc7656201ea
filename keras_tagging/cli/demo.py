"""The command that `make demo` runs: the whole package on the embedded corpus."""

from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.cli.output import levels_table
from keras_tagging.cli.training import train_model
from keras_tagging.cli.training_options import Data, Distillation, Fitting, Start
from keras_tagging.models.files.run_folder import lock_run

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
    fitting = Fitting(epochs=epochs, force=True)
    options = (Data("demo"), "fast", None, Start(), Distillation(), fitting)
    train_model("bigru", out, *options)
    import tensorflow as tf

    import keras_tagging

    model = keras_tagging.load(out)
    print("\nSeveral tags a word: all with p >= beta * max p (development sentences)\n")
    print(levels_table(model.multi_tagging(keras_tagging.load_corpus("demo").dev)))
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
    print(f"\necho '{SENTENCE}' | keras-tagging tag {out} --beta 0.01")
