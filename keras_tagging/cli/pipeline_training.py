"""`train pipeline`: all parts from one treebank."""

from collections.abc import Mapping
from pathlib import Path

from keras_tagging.architectures import architecture
from keras_tagging.cli.common import open_corpus, pairs, refuse
from keras_tagging.cli.output import summary
from keras_tagging.cli.pipelines import scores_table
from keras_tagging.corpora.loading import hold_out
from keras_tagging.runtime.folder import PIPELINE
from keras_tagging.utils.startup import start_program

#: options of train that are for a single model
SINGLE = "train pipeline trains several models, and has no"


def train_parts(
    out: Path,
    corpus: str,
    *,
    parts: str | None,
    settings: list[str] | None,
    recipe: str,
    seed: int,
    dev_share: float | None,
    force: bool,
    reading: Mapping[str, object],
    fitting: Mapping[str, object],
    others: Mapping[str, object],
) -> None:
    """Train a pipeline, and print its figures from raw text.

    Args:
        out: the folder, which this process has locked.
        parts, settings, recipe, seed, dev_share, force: as on the command line.
        reading: `format`, `option`, `dev`, `test` and `errors`.
        fitting: `epochs` and `patience`.
        others: options that a pipeline does not have.
    """
    refuse(SINGLE, others)
    if (out / PIPELINE).exists() and not force:
        raise ValueError(
            f"{out} holds a finished pipeline: choose another --out, or give --force"
        )
    chosen = settings_by_part(settings)
    start_program()
    from keras_tagging.cli.pipeline_progress import PipelineProgress
    from keras_tagging.pipelines import training
    from keras_tagging.pipelines.plan import PipelinePlan

    named = {} if parts is None else {"parts": tuple(parts.split(","))}
    plan = PipelinePlan(settings=chosen, recipe=recipe, seed=seed, **named)
    if force:
        training.remove_run(out)
    reading = {**reading, "format": reading.get("format") or "conllu"}
    wanted = {"trees": "parser" in plan.parts, "surfaces": "segmenter" in plan.parts}
    data = open_corpus(corpus, **reading, **wanted)
    if dev_share is not None:
        hold_out(data, dev_share, seed)
    print(summary(data))
    if not data.dev:
        print("No development sentences (see --dev-share): the last epochs are kept")
    stages = plan.stages(data, fitting.get("epochs"))
    with PipelineProgress(stages) as progress:
        pipeline = training.train_pipeline(data, out, plan, progress, **fitting)
    for split, sentences in data.splits():
        if split != "train":
            print(f"\n{split}\n{scores_table(pipeline.scores(sentences))}")
    print(f"\nWritten to {out}. Next:\n  keras-tagging annotate {out} FILE")


def settings_by_part(settings: list[str] | None) -> dict[str, dict]:
    """The values of --set PART.KEY=VALUE, by part.

    Raises:
        ValueError: for one without a part.
    """
    chosen: dict[str, dict] = {}
    for name, value in pairs("--set", settings).items():
        part, dot, key = name.partition(".")
        if not dot:
            raise ValueError(
                f"--set {name}: name the part of the pipeline, --set tagger.{name}=..."
            )
        if key == "architecture":
            architecture(str(value))  # raises if there is none
        chosen.setdefault(part, {})[key] = value
    return chosen
