"""The biaffine parser: sentences in, tags and trees out."""

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from keras_tagging import training
from keras_tagging.data.trees import trees_of
from keras_tagging.encoding.label_columns import LabelColumn, vocabulary_of
from keras_tagging.kinds.joint import OUTPUTS, Joint
from keras_tagging.kinds.parsing import counts_of, tables_of
from keras_tagging.layers.transition_scorer import KerasEngine
from keras_tagging.models.fit import weights_of_tokens
from keras_tagging.models.labels import count_relations, refuse_unknown_relations
from keras_tagging.models.report import figures_alone
from keras_tagging.models.tagger import decoding
from keras_tagging.models.tagger.tagger import Tagger
from keras_tagging.transitions.arborescence import best_heads
from keras_tagging.transitions.arc_labels import best_labels
from keras_tagging.transitions.search import NumPy
from keras_tagging.utils.tables import any_strings

#: what `predict` gives of trees
DISTRIBUTIONS = {"head": "all_head_probabilities", "deprel": "all_deprel_probabilities"}


class Parsed(Joint):
    """The answers of a biaffine parser with Keras, or of an ensemble of them."""

    counting_options = ("punctuation", "subtypes")
    report_options = (*counting_options, "tables")

    @property
    def soft_labels(self):
        """The labels of `predict` by column; those of heads are numbers of words."""
        return self.tags | {"head": (), "deprel": self.labels}

    def predictions(self, sentences, *calls):
        """Probabilities for each sentence: a dict of arrays.

        Those of each column of tags, `(tokens, labels)`; under "head" those of ROOT and
        of each word as the head, `(tokens, tokens + 1)`; under "deprel" those of the
        labels of the arcs of the tree.
        """
        names = {
            c.name: c.output_names["all_probabilities"] for c in self.label_columns
        }
        names |= DISTRIBUTIONS

        def rows(sentence, outputs):
            arrays = {k: np.asarray(outputs[name]) for k, name in names.items()}
            arrays["head"] = arrays["head"][:, : len(sentence) + 1]
            return arrays

        return self.decode(sentences, [*names.values()], rows, 1, *calls)

    def empty_output(self, name):
        if name in DISTRIBUTIONS.values():
            return np.zeros((0, 1 if "head" in name else len(self.labels)), "float32")
        return super().empty_output(name)

    def output_arrays(self, outputs, names):
        trees = {*OUTPUTS, *DISTRIBUTIONS.values()} & {*names}
        tags = [name for name in names if name not in trees]
        arrays = dict(zip(tags, super().output_arrays(outputs, tags), strict=True))
        arrays |= self._tree_arrays(outputs, trees)
        return [arrays[name] for name in names]

    def _tree_arrays(self, outputs, names) -> dict[str, np.ndarray]:
        if not names:
            return {}
        scores = np.asarray(outputs["heads"], "float32")
        heads = best_heads(NumPy(), scores, np.asarray(outputs["lengths"]))
        labels = ops.convert_to_numpy(self.label_scores(outputs, heads.astype("int32")))
        best = best_labels(NumPy(), labels, heads, self.labels)
        arrays = {"heads": heads, "deprels": np.array(self.labels, object)[best]}
        rows = {"head": (scores, heads), "deprel": (labels, best)}
        for name, (logits, chosen) in rows.items():
            if {f"{name}_probabilities", DISTRIBUTIONS[name]} & names:
                shares = decoding.softmax(logits)
                places = np.maximum(chosen, 0)[..., None]
                chosen = np.take_along_axis(shares, places, -1)[..., 0]
                arrays |= {f"{name}_probabilities": chosen, DISTRIBUTIONS[name]: shares}
        return arrays

    # Figures

    @any_strings()
    def report(self, sentences, *, punctuation="keep", subtypes=False, tables=False):
        """Figures and tables: see `Parser.report`."""
        counting = {"punctuation": punctuation, "subtypes": subtypes}
        report = figures_alone(self, sentences, **counting)
        if tables:
            scores = self.scores(self.annotated(sentences), **counting)
            report.tables.update(tables_of(scores))
        return report

    def counts(self, sentences, figures, **options):
        """The counts behind figures: see `Parser.counts`."""
        return counts_of(self.scores(self.annotated(sentences), **options), figures)


class BiaffineModel(Tagger):
    """A tagger of columns, which may be none, that also scores the heads of words.

    The base of models with the network of `BiaffineNetwork`: of biaffine parsers, and
    of CCG parsers, whose sentences have heads without labels.
    """

    @property
    def column_names(self):
        """The columns of tags that it learns."""
        return self.settings.task.tags or ()

    @property
    def beam_width(self):
        raise AttributeError(f"a {self.kind} has no beam")

    def _new_network(self):
        return super()._new_network(self.vocabularies.get("labels", ()))

    # Training

    def objectives(self):
        return {**super().objectives(), "weighted_metrics": None}

    def targets(self, sentences):
        """The ids of the columns that it learns, of all tokens: `(tokens, columns)`."""
        sentences = [sentence for sentence in sentences if len(sentence)]
        columns = self.distilled_columns(sentences)
        return np.stack([column.targets(sentences) for column in columns], 1)

    def token_weights(self, sentences, sample_weight, class_weight):
        if class_weight:
            raise ValueError("class_weight is for a tagger of one column")
        return weights_of_tokens(sentences, sample_weight)

    @property
    def learnt_columns(self):
        return *self.column_names, "head"

    def distilled_columns(self, sentences):
        """The columns of tags, and heads, which are numbers of words."""
        numbers = range(1 + max(map(len, sentences), default=0))
        return [*self.label_columns, LabelColumn("head", [*map(str, numbers)])]

    def batch_loss(self, compiled, y, y_pred, sample_weight):
        """The sum of the losses of tags, heads and labels, each with its weight.

        Labels are those of arcs from the gold heads, or from the teacher's best ones
        where there are none.
        """
        soft = y if isinstance(y, dict) else None
        gold = y if soft is None else soft["gold"]
        network, first = self.settings.network, y_pred.get("first", {})
        terms = []

        def add(i, logits, loss, weight):
            # a copy: on PyTorch, Keras multiplies it in place by the logits' mask
            value = loss(gold[..., i], logits, 1.0 * sample_weight)
            terms.append((i, logits, value, weight))

        for i, column in enumerate(self.label_columns):
            weight = self.settings.task.weights[i]
            add(i, decoding.logits_of(y_pred[column.name]), self.loss, weight)
            if column.name in first:
                weight *= network.first_weight
                add(i, first[column.name], self.loss, weight)
        # heads are not smoothed: their logits have the padding of the batch, too
        plain, weight = training.TagLoss(), network.tree_weight
        count = len(self.label_columns)
        add(count, y_pred["heads"], plain, weight)
        if "dependents" in y_pred:
            heads = gold[..., count]
            if soft is not None:
                best = ops.cast(soft["ids"][:, :, count, 0], heads.dtype)
                heads = ops.where(heads < 0, best, heads)
            add(count + 1, self.label_scores(y_pred, heads), plain, weight)
        return self.joined_loss(terms, soft, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The loss alone: figures are those of the development sentences."""
        return self.get_metrics_result()


@keras.saving.register_keras_serializable("keras_tagging")
class BiaffineParser(Parsed, BiaffineModel):
    """A graph-based dependency parser that also tags, and takes sentences.

    :func:`keras_tagging.build` makes biaffine parsers. The `network` gives logits of
    tags, of each word as the head of each other, and of the labels of arcs; the tree is
    the best one with one root (`transitions.arborescence`), and its labels are the best
    ones of its arcs with one subject and one object for each head
    (`transitions.arc_labels`). Trees may have crossing arcs.

    It is a `Tagger` of the columns `tags`, which may be none, and its `figures` begin
    with those of trees: see `Parser`.

    Args:
        architecture, settings: see `SentenceModel`.
        **kwargs: arguments of `Tagger`.
    """

    @property
    def default_monitor(self) -> str:
        """See `SentenceModel`."""
        return self.settings.task.monitor or super().default_monitor

    @property
    def inventories(self) -> tuple[str, ...]:
        return *map(vocabulary_of, self.column_names), "labels"

    @property
    def labels(self) -> list[str]:
        """The dependency labels, in the order of the network's outputs."""
        self._require_network()
        return list(self.vocabularies["labels"])

    def count_other_labels(self, sentences):
        return {"labels": count_relations(trees_of(sentences))}

    # Training

    def annotated(self, sentences):
        """The sentences, after a check of their tags and trees."""
        sentences = super().annotated(sentences)
        trees_of(sentences)
        return sentences

    def check_development(self, sentences):
        super().check_development(sentences)
        refuse_unknown_relations(sentences, self.labels)

    @property
    def learnt_columns(self):
        return *super().learnt_columns, "deprel"

    def distilled_columns(self, sentences):
        """The columns of tags, heads, which are numbers of words, and labels."""
        deprels = LabelColumn("deprel", self.labels)
        return [*super().distilled_columns(sentences), deprels]

    def label_scores(self, outputs, heads):
        """The logits of the labels of arcs: see `ArcLabels.scores`."""
        vectors = outputs["dependents"], outputs["label_heads"]
        return self.network.get_layer("arc_labels").scores(*vectors, heads)

    # Serving

    def described(self, top_k: int = 5) -> dict[str, object]:
        return super().described(top_k) | {"labels": self.labels}

    def serving(self, top_k):
        """The function from ids and their mask to the outputs that `export` lists."""

        def answer(tokens, real):
            outputs = self.call(tokens)
            heads = best_heads(KerasEngine(), outputs["heads"], outputs["lengths"])
            labels = self.label_scores(outputs, heads)
            best = best_labels(KerasEngine(), labels, heads, self.labels)
            deprels = tf.gather(tf.constant(self.labels, tf.string), best)
            made = {
                "heads": tf.where(real, tf.cast(heads, tf.int32), -1),
                "deprels": tf.where(real, deprels, ""),
            }
            pairs = {"head": (outputs["heads"], heads), "deprel": (labels, best)}
            for name, (logits, chosen) in pairs.items():
                rows, chosen = tf.nn.softmax(logits), tf.maximum(chosen, 0)
                shares = tf.gather(rows, chosen, batch_dims=2)
                made[f"{name}_probabilities"] = tf.where(real, shares, 0.0)
            return self.served(outputs, real, top_k) | made

        return answer
