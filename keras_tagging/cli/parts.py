"""The training of a pipeline: train pipeline."""

from dataclasses import dataclass, replace
from pathlib import Path

from keras_tagging.architectures import architecture
from keras_tagging.cli.checks import LANGUAGE, check_plan
from keras_tagging.cli.fitting import SINGLE, Data, Fitting, told
from keras_tagging.cli.loading import holds_derivations, kinds_reading
from keras_tagging.cli.options import pairs, refuse
from keras_tagging.cli.output import scores_table, summary
from keras_tagging.cli.progress import PipelineProgress
from keras_tagging.cli.talk import say
from keras_tagging.pipelines import run_files
from keras_tagging.pipelines.plan import PipelinePlan
from keras_tagging.runtime.pipeline import CCG_PARSERS, ENTITIES, PARTS
from keras_tagging.utils.startup import start_program
from keras_tagging.vectors.languages import TRAINABLE, words_of_run


@dataclass(frozen=True)
class Chosen:
    """Which parts a pipeline gets.

    Args:
        parts, entities, segmenter: as in the command.
    """

    parts: str | None = None
    entities: str | None = None
    segmenter: str | None = None

    def named(self, corpus, derived: bool) -> tuple[str, ...]:
        """The parts to train.

        Args:
            corpus: that they learn from.
            derived: whether it has derivations.

        Raises:
            ValueError: if a part has nothing to learn from.
        """
        if self.parts is None:
            named = CCG_PARSERS[:1] if derived else PARTS
            if self.segmenter is not None:
                named = tuple(name for name in named if name != "segmenter")
        else:
            named = tuple(self.parts.split(","))
        if self.entities is not None:
            named += (ENTITIES,)
        elif ENTITIES in named:
            raise ValueError(
                f"--parts {self.parts}: give the corpus of the entities, --entities"
            )
        if derived and "segmenter" in named:
            raise ValueError(
                f"{corpus} has derivations, and no text to learn a segmenter from: "
                "leave that part out, or take that of another model, --segmenter en"
            )
        if {*CCG_PARSERS} & {*named} and not derived:
            raise ValueError(
                f"{corpus} has no derivations, from which a CCG parser learns: give "
                ".auto files"
            )
        return named


def train_parts(
    out: Path,
    source: Data,
    chosen: Chosen,
    recipe: str,
    settings: list[str] | None,
    fitting: Fitting,
) -> None:
    """Train the parts of a pipeline in a folder, and print its figures from text."""
    own = ("monitor", "tensorboard", "devices")
    refuse(SINGLE, {name: getattr(fitting, name) for name in own})
    if run_files.is_finished(out) and not fitting.force:
        run_files.end_run(out)
        raise ValueError(
            f"{out} holds a finished pipeline: choose another --out, or give --force"
        )
    language = pairs("--set", settings).get(LANGUAGE)
    settings = [text for text in settings or () if not text.startswith(f"{LANGUAGE}=")]
    by_part = settings_by_part(settings)
    derived = holds_derivations(source.corpus, source.reading.format)
    named = chosen.named(source.corpus, derived)
    plan = PipelinePlan(named, settings=by_part, recipe=recipe, seed=fitting.seed)
    again = fitting.force or not fitting.resume
    going_on = not again and (out / run_files.OPTIONS).exists()
    if not going_on:
        check_plan(plan, language)
    wanted = kinds_reading(plan.parts)
    default = None if derived else "conllu"
    data = source.load(fitting.seed, chosen.entities, default=default, **wanted)
    start_program()
    from keras_tagging.pipelines import train_pipeline

    words = words_of_run(out, going_on, recipe, language, data.language)
    plan = replace(plan, words=words)
    say(summary(data))
    if known := plan.taken():
        trains = [f"--set {part}.{TRAINABLE}=True" for part in plan.frozen()]
        say(told(words, known, " ".join(trains) or None))
    if not data.dev:
        say("No development sentences (see --dev-share): the last epochs are kept")
    with PipelineProgress(plan.stages(data, fitting.epochs)) as bars:
        own = {"again": again, "segmenter": chosen.segmenter}
        pipeline = train_pipeline(data, out, plan, bars, **own, **fitting.limits)
    for split, sentences in data.splits():
        if split != "train":
            say(f"\n{split}\n{scores_table(pipeline.scores(sentences))}")
    say(f"\nWritten to {out}. Next:\n  keras-tagging annotate {out} FILE")


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
                f"--set {name}: name the part of the pipeline, --set tagger.{name}=... "
                f"({LANGUAGE}= alone is of all parts)"
            )
        if key == "architecture":
            architecture(str(value))  # raises if there is none
        chosen.setdefault(part, {})[key] = value
    return chosen
