"""The errors of a model in tables: in Python, or as one HTML page."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from keras_tagging import kinds
from keras_tagging.ccg.grammar import normal
from keras_tagging.data.named_columns import annotated
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.encoding.vocabulary import count_vocabulary
from keras_tagging.kinds.deriving import gold_tags, with_derivations
from keras_tagging.metrics import chunk_scores, looks_like_chunks
from keras_tagging.metrics.derivations import F1_FIGURES, derivation_counts, scores_of
from keras_tagging.models.tagger.figures import unknown_tags
from keras_tagging.utils.atomic import write_text
from keras_tagging.utils.tables import any_strings

#: what is to be said of the tables
TEXTS = {
    "overall": "Intervals are Wilson's, at 95 %, as if tokens were independent.",
    "by_word_frequency": "How often the word, in the normal form that the model reads, "
    "occurs in training. Unknown words are not in the vocabulary of training.",
    "worst_sentences": "Gold and predicted labels stand in brackets after the word.",
}
FREQUENCIES = {0: "0", 1: "1", 2: "2-9", 10: "10-99", 100: "100-999", 1000: "1000+"}
WORDS = 3  # of a confusion
STYLE = """\
body { max-width: 70rem; margin: 2rem auto; font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; }
th, td { padding: .2rem .6rem; text-align: left; vertical-align: top; }
tr + tr { border-top: 1px solid #d9dce0; }"""


@dataclass(eq=False, repr=False)
class Analysis:
    """The result of :func:`analyse`. A notebook displays it as HTML.

    Args:
        title: the title of the page.
        facts: a description of the model and the sentences, by name.
        tables: the tables by name, also as attributes, such as `analysis.confusions`;
            shares are fractions.
        warnings: reasons to doubt some table.
    """

    title: str
    facts: dict[str, object]
    tables: dict[str, pd.DataFrame]
    warnings: list[str] = field(default_factory=list)

    def __getattr__(self, name):
        # copying and unpickling look up methods before there are any fields
        if name.startswith("_") or name not in self.tables:
            raise AttributeError(f"Analysis has no {name!r}, only its tables")
        return self.tables[name]

    @any_strings()
    def _repr_html_(self, rows: int = 10) -> str:
        facts = (f"{name}: {fact}" for name, fact in self.facts.items())
        parts = [f"<p>{escape(text)}</p>" for text in (*facts, *self.warnings)]
        for name, table in self.tables.items():
            shown = _in_per_cent(table.head(rows))
            parts.append(f"<h2>{name.replace('_', ' ').capitalize()}</h2>")
            parts.append(f"<p>{TEXTS.get(name, '')}</p>")
            parts.append(shown.to_html(index=False, na_rep="\N{EN DASH}", border=0))
            if len(table) > rows:
                parts.append(f"<p>The first {rows} of {len(table):,} rows.</p>")
        return "\n".join(parts)

    def to_html(self, path: str | Path, rows: int = 25) -> Path:
        """Write one HTML file that needs no other file and no network.

        Args:
            path: the path of the file; it is replaced if it exists.
            rows: the number of rows to show of each table.
        """
        title = escape(self.title)
        text = (
            f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
            f"<title>{title}</title>\n<style>\n{STYLE}\n</style>\n"
            f"<h1>{title}</h1>\n{self._repr_html_(rows)}\n</html>\n"
        )
        write_text(Path(path), text, errors="replace")
        return Path(path)


def _in_per_cent(table: pd.DataFrame) -> pd.DataFrame:
    """The table with its floats, which are shares, in per cent."""
    shares = table.select_dtypes("float").columns
    table = table.assign(**{name: (100 * table[name]).round(2) for name in shares})
    return table.rename(columns={name: f"{name} %" for name in shares})


@any_strings()
def analyse(
    model,
    sentences: Iterable[Sentence],
    train: Iterable[Sentence] | None = None,
    *,
    title: str = "Error analysis",
    punctuation: str = "keep",
    subtypes: bool = False,
) -> Analysis:
    """Analyse the errors of a tagger, parser or CCG parser.

    The model reads the sentences once. For each token, only the predicted label is
    kept, or the predicted arc.

    Args:
        model: a `Tagger`, `Parser` or `CCGParser` with vocabularies.
        sentences: sentences with gold tags, trees, or derivations.
        train: the sentences that the model was trained on, for the table by frequency
            in training; without them, it is left out.
        title: the title of the page.
        punctuation, subtypes: for parsers, see `metrics.attachment_scores`.

    Returns:
        An `Analysis`: the figures overall, confusions, shares of right tokens by gold
        label, word frequency and sentence length, and the worst sentences.

    Raises:
        ValueError: if there is no token, or the annotation is missing.

    Example:
        >>> from keras_tagging import build, load_corpus
        >>> from keras_tagging.experiments.analysis import analyse
        >>> corpus = load_corpus("demo")
        >>> model = build("bigru", units=4, num_layers=1, suffixes=(), seed=1)
        >>> model.adapt(corpus.train)
        >>> analysis = analyse(model, corpus.test[:20], corpus.train)
        >>> list(analysis.by_word_frequency["training"])
        ['unknown', '1', '2-9', '10-99', '100-999', '1000+']
    """
    kind = kinds.of(model)
    if kind.analysis is None:
        raise ValueError(
            f"there is no analysis of a {kind}: see its report, or evaluate"
        )
    counting = {"punctuation": punctuation, "subtypes": subtypes}
    counting = {k: v for k, v in counting.items() if k in model.report_options}
    if kind.learns == "tags":
        model = model.column(None)
    sentences, train = list(sentences), list(train or ())
    if not any(map(len, sentences)):
        raise ValueError("there is nothing to analyse: the sentences have no tokens")
    tokens, figures = kind.at("analysis")(model, sentences, **counting)
    if not len(tokens):
        raise ValueError("there is nothing to analyse: no token counts")
    facts = {
        "Model": f"{model.architecture}, {model.size}, seed {model.seed}",
        "Trained on": model.metadata.get("corpus", {}).get("name", "?"),
        "Sentences": f"{len(sentences):,} with {sum(map(len, sentences)):,} tokens",
        **counting,
    }
    tables = {
        "overall": overall(figures),
        "confusions": confusions(tokens),
        "by_label": shares_by(tokens, "gold", tokens["gold"].to_numpy()),
        "by_sentence_length": by_length(tokens),
        "worst_sentences": worst(tokens),
    }
    analysis = Analysis(title, facts, tables)
    if warning := tokens.attrs.get("warning"):
        analysis.warnings.append(warning)
    if train:
        counts = Counter(word_forms(model, as_sentences(train)))
        tables["by_word_frequency"] = by_word_frequency(model, tokens, counts)
        expected = count_vocabulary(counts, model.settings.features.word_min_count)
        words = model.features.vocabularies.get("word")
        if words is not None and words[: len(expected)] != expected:
            analysis.warnings.append(
                "the model was trained on other sentences than the training sentences "
                "here, which the table by frequency uses"
            )
    return analysis


# The predictions of each kind of model: a row a token, and the figures overall. Bool
# columns say whether a token is right; the last one decides what is an error.


def tagged_tokens(model, sentences) -> tuple[pd.DataFrame, list[tuple]]:
    """The predicted tags, and the figures of `evaluate`."""
    sentences = annotated(sentences)
    tokens = places(model, sentences)
    tags = model.tag(sentences)
    tokens["gold"] = [tag for s in sentences for tag in s.tags]
    tokens["predicted"] = [tag for sentence in tags for tag in sentence]
    tokens["accuracy"] = right = tokens["gold"] == tokens["predicted"]
    whole = right.groupby(tokens["sentence"]).all()
    figures = [("accuracy", right.mean(), len(right))]
    if reads_words(model):
        unknown = right[~tokens["form"].isin(model.known_words())]
        figures.append(("oov_accuracy", unknown.mean(), len(unknown)))
    figures.append(("sentence_accuracy", whole.mean(), len(whole)))
    if looks_like_chunks(model.tags):
        chunks = chunk_scores([s.tags for s in sentences], tags)
        names = ("precision", "recall", "f1")
        figures += [(name, getattr(chunks, name), 0) for name in names]
    tokens.attrs["warning"] = unknown_tags(model.label_columns[0], sentences)
    return tokens, figures


def parsed_tokens(model, sentences, **counting) -> tuple[pd.DataFrame, list[tuple]]:
    """The predicted relations of the tokens that count, and the attachment scores."""
    sentences = model.prepare_input(as_sentences(sentences))
    scores = model.scores(sentences, **counting)
    tokens = places(model, sentences)
    starts = np.cumsum(scores.lengths) - scores.lengths
    tokens = tokens.iloc[starts[scores.sentences] + scores.positions - 1]
    names = np.array(scores.names, object)
    tokens = tokens.assign(
        gold=names[scores.gold_labels],
        predicted=names[scores.labels],
        uas=scores.right_heads,
        las=scores.right_arcs,
    )
    whole = int(np.count_nonzero(scores.by_sentence[:, 0]))
    totals = dict.fromkeys(("uas", "las", "label_accuracy"), scores.words)
    totals |= dict.fromkeys(("ucm", "lcm"), whole)
    figures = [(name, getattr(scores, name), n) for name, n in totals.items()]
    return tokens.reset_index(drop=True), figures


def derived_tokens(model, sentences) -> tuple[pd.DataFrame, list[tuple]]:
    """The categories in derivations, and the figures of these.

    A token is right before the search if the network's best category is.
    """
    sentences = [s for s in with_derivations(model.annotated(sentences)) if len(s)]
    tokens = places(model, sentences)
    tags = np.array(model.categories, object)
    needed, derive = model.decoding()
    names = [*dict.fromkeys([*needed, *model.of_words])]

    def both(sentence, outputs):
        best = tags[model.rows(outputs, model.of_words)[0].argmax(-1)]
        return derive(sentence, outputs).derivation, best

    rows = model.decode(sentences, names, both, entries=len(tags))
    derivations = [derivation for derivation, _ in rows]
    leaves = (leaf for derivation in derivations for leaf in derivation.leaves)
    best = np.array([normal(tag) for _, tags in rows for tag in tags], object)
    tokens["gold"] = [normal(tag) for s in sentences for tag in gold_tags(s)]
    tokens["predicted"] = [normal(leaf.category) for leaf in leaves]
    tokens["network"] = tokens["gold"].to_numpy() == best
    tokens["derivation"] = tokens["gold"] == tokens["predicted"]
    figures = [("accuracy", tokens["network"].mean(), len(tokens))]
    counts = derivation_counts([s.derivation for s in sentences], derivations)
    for name, value in scores_of(counts)._asdict().items():
        # an F1 is no share of counts, and has no interval
        total = 0 if name in F1_FIGURES else int(counts[name][:, 0].sum())
        figures.append((name, value, total))
    return tokens, figures


def places(model, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Sentence, from 1, its length, word and its normal form of all tokens."""
    lengths = [len(sentence) for sentence in sentences]
    return pd.DataFrame(
        {
            "sentence": np.repeat(np.arange(len(lengths)) + 1, lengths),
            "length": np.repeat(lengths, lengths),
            "word": [word for s in sentences for word in s.tokens],
            "form": word_forms(model, sentences),
        }
    )


def word_forms(model, sentences: Sequence[Sentence]) -> list[str]:
    """The normal forms of all words; as written if the model reads no words."""
    words = flat_strings(sentences)["tokens"]
    return model.features.normal_forms(words) if reads_words(model) else words


def reads_words(model) -> bool:
    return "word" in model.features.names


# Tables


def overall(figures: Iterable[tuple]) -> pd.DataFrame:
    """Figures with an interval.

    Args:
        figures: name, value, and the number of tokens or sentences of which it is a
            share; 0 if it is no such share.
    """
    rows = [
        (name, value, *wilson(round(value * total) if total else 0, total), total)
        for name, value, total in figures
    ]
    return pd.DataFrame(rows, columns=["figure", "value", "low", "high", "of"])


def wilson(right: int, total: int) -> tuple[float, float]:
    """The 95 % interval of Wilson (1927) for a share; nan if there is no token."""
    if not total:
        return float("nan"), float("nan")
    interval = binomtest(int(right), int(total)).proportion_ci(0.95, "wilson")
    return float(interval.low), float(interval.high)


def shares_by(tokens: pd.DataFrame, key: str, groups) -> pd.DataFrame:
    """The share of right tokens in each group.

    Args:
        tokens: the tokens with bool columns.
        key: the name of the groups' column in the result.
        groups: the group of each token: a `Categorical`, whose categories become the
            rows; or any other values, whose rows are in order of frequency.

    Returns:
        A table with the columns `key`, `tokens`, the bool ones as shares, and `low` and
        `high`, the interval of the last of them.
    """
    grouped = tokens.select_dtypes("bool").groupby(groups, observed=True, sort=True)
    right, total = grouped.sum(), grouped.size()
    table = right.div(total, axis=0)
    table.insert(0, "tokens", total)
    ends = [wilson(*pair) for pair in zip(right.iloc[:, -1], total, strict=True)]
    table["low"], table["high"] = zip(*ends, strict=True)
    if not isinstance(groups, pd.Categorical):
        table = table.sort_values("tokens", ascending=False, kind="stable")
    table.index = pd.Index(table.index.astype(object), name=key)
    return table.reset_index()


def by_word_frequency(model, tokens: pd.DataFrame, counts: Counter) -> pd.DataFrame:
    """The figures by the frequency of the word in training.

    Args:
        counts: how often each normal form occurs in the training sentences. Words that
            the model does not know are in the first row, whatever their frequency.
    """
    words = model.known_words() if reads_words(model) else set(counts)
    frequency = [counts[f] if f in words else -1 for f in tokens["form"]]
    edges = [-1, *FREQUENCIES, np.inf]
    names = ["unknown", *FREQUENCIES.values()]
    groups = pd.cut(frequency, edges, right=False, labels=names)
    return shares_by(tokens, "training", groups)


def by_length(tokens: pd.DataFrame) -> pd.DataFrame:
    """The figures by the length of the sentence, in bins of McDonald & Nivre (2007).

    With the share of sentences without an error.
    """
    errors = tokens.select_dtypes("bool").columns[-1]
    edges = range(1, tokens["length"].max() + 11, 10)
    names = [f"{start}-{start + 9}" for start in edges[:-1]]
    bins = {"bins": edges, "right": False, "labels": names}
    table = shares_by(tokens, "length", pd.cut(tokens["length"].array, **bins))
    whole = tokens.groupby("sentence").agg({"length": "first", errors: "all"})
    lengths = pd.cut(whole["length"].array, **bins)
    groups = whole[errors].groupby(lengths, observed=True)
    table.insert(1, "sentences", groups.size().to_numpy())
    return table.assign(without_error=groups.mean().to_numpy())


def confusions(tokens: pd.DataFrame) -> pd.DataFrame:
    """Kinds of wrong labels, the most frequent first, with words of most of them."""
    keys = ["gold", "predicted"]
    wrong = tokens[tokens["gold"] != tokens["predicted"]].groupby(keys)["word"]
    table = wrong.size().sort_values(ascending=False, kind="stable")
    words = wrong.agg(lambda w: ", ".join(w.value_counts(sort=True).index[:WORDS]))
    table = table.reset_index(name="count")
    gold = tokens["gold"].value_counts()
    table["share_of_errors"] = table["count"] / table["count"].sum()
    table["share_of_gold"] = table["count"] / table["gold"].map(gold).astype(float)
    return table.join(words.rename("words"), on=keys)


def worst(tokens: pd.DataFrame) -> pd.DataFrame:
    """The sentences with errors, those with most of them first."""
    right = tokens[tokens.select_dtypes("bool").columns[-1]]
    labels = tokens["gold"] + " \N{RIGHTWARDS ARROW} " + tokens["predicted"]
    text = tokens["word"].where(right, tokens["word"] + " [" + labels + "]")
    parts = tokens[["sentence"]].assign(tokens=right, errors=~right, text=text)
    how = {"tokens": "size", "errors": "sum", "text": " ".join}
    table = parts.groupby("sentence").agg(how).reset_index()
    order = {"ascending": False, "kind": "stable", "ignore_index": True}
    return table[table["errors"] > 0].sort_values("errors", **order)
