"""The analysis of a model's errors, whatever its kind."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from keras_tagging import kinds
from keras_tagging.data.sentence import Sentence
from keras_tagging.experiments.analysis.plots import curves
from keras_tagging.experiments.analysis.sections import Analysis, Section
from keras_tagging.utils.frames import AnyStrings


@AnyStrings()
def analyse(
    model,
    sentences: Iterable[Sentence],
    train: Iterable[Sentence] | None = None,
    *,
    log=None,
    title: str = "Error analysis",
    punctuation: str = "keep",
    subtypes: bool = False,
) -> Analysis:
    """Analyse the errors of a tagger, parser or CCG parser.

    The model reads the sentences once. For each token, only the predicted tag and its
    probability are kept, or the predicted arc.

    Args:
        model: a `Tagger`, `Parser` or `CCGParser` with vocabularies.
        sentences: sentences with gold tags, trees, or derivations.
        train: the sentences that the model was trained on, for the tables by frequency
            in training; without them, these tables are left out.
        log: the figures of all epochs: the file of `fit(log=...)`, the history that
            `fit` returned, or a table.
        title: the title of the report.
        punctuation, subtypes: for parsers, see `metrics.attachment_scores`.

    Returns:
        An `Analysis`.

    Raises:
        ValueError: if there is no token, or the annotation is missing.

    Example:
        >>> from keras_tagging import build, load_corpus
        >>> from keras_tagging.experiments.analysis import analyse
        >>> corpus = load_corpus("demo")
        >>> model = build("bigru", units=4, num_layers=1, seed=1)
        >>> model.adapt(corpus.train)
        >>> analysis = analyse(model, corpus.test[:20], corpus.train)
        >>> list(analysis.by_label_frequency["training"])
        ['unseen', '1-9', '10+ (all)', '10-99', '100-999', '1000+']
    """
    train = None if train is None else list(train)
    counting = {"punctuation": punctuation, "subtypes": subtypes}
    counting = {k: v for k, v in counting.items() if k in model.report_options}
    kind = kinds.of(model)
    if kind.analysis is None:
        raise ValueError(
            f"there is no analysis of a {kind}: see its report, or evaluate"
        )
    find = kind.at("analysis")
    analysis = find(model, sentences, train or None, title, **counting)
    _add_curves(analysis, log, model.default_monitor)
    return analysis


def _add_curves(analysis: Analysis, log, monitor: str) -> None:
    if log is None or (isinstance(log, str | Path) and not Path(log).is_file()):
        analysis.missing["learning_curves"] = "there is no log of the training"
        return
    if isinstance(log, str | Path):
        try:
            table = pd.read_csv(log)
            if len(table.select_dtypes("number").columns) < len(table.columns):
                raise ValueError("not all of it is numbers")
        except ValueError as error:
            what = " ".join(str(error).split())
            analysis.missing["learning_curves"] = f"{log} is damaged: {what}"
            warning = f"{log} is damaged, so there are no learning curves"
            analysis.warnings.append(warning)
            return
    else:
        table = pd.DataFrame(getattr(log, "history", log))
    if "epoch" not in table:
        table.insert(0, "epoch", range(1, len(table) + 1))
    text = "The figures of all epochs"
    if monitor in table and table[monitor].notna().any():
        best = table.loc[table[monitor].idxmax(), "epoch"]
        text += f"; {monitor} is highest in epoch {best:g}, marked in the plots"
    analysis.sections.append(
        Section(
            "learning_curves",
            "Learning curves",
            f"{text}. Figures that begin with val_ were measured on the development "
            "sentences; the others in training, with dropout.",
            table,
            lambda figure, table: curves(figure, table, monitor),
        )
    )
