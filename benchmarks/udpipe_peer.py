"""UDPipe 1, trained and run in an environment of its own: for raw_text.py.

    python udpipe_peer.py train train.conllu dev.conllu model.udpipe
    python udpipe_peer.py annotate model.udpipe text.txt annotated.conllu

It needs ufal.udpipe. Each prints a line of JSON with the seconds that it took, those of
loading the model left out. Training takes an hour and a half and cannot be resumed; a
part at a time, it can::

    python udpipe_peer.py train ... 1.udpipe --tagger none --parser none
    python udpipe_peer.py train ... 2.udpipe --tokenizer from_model=file:1.udpipe \
        --parser none
    python udpipe_peer.py train ... en.udpipe --tokenizer from_model=file:2.udpipe \
        --tagger from_model=file:2.udpipe

Text without spaces needs `tokenize_url=0` in `--tokenizer`: otherwise UDPipe takes
what stands around a full stop for the address of a site, and its words are not found.
A model of a tokenizer alone annotates with `--only-tokens`.
"""

import argparse
import json
import time
from pathlib import Path

from ufal import udpipe

#: UDPipe's own settings for treebanks, without vectors
TOKENIZER = "epochs=100;batch_size=50;learning_rate=0.005;dropout=0.1;early_stopping=1"
TAGGER = "models=2"
PARSER = "iterations=30;embedding_upostag=20;embedding_feats=20;embedding_xpostag=0;"
PARSER += "embedding_form=50;embedding_lemma=0;embedding_deprel=20;learning_rate=0.01;"
PARSER += "l2=0.5;hidden_layer=200;batch_size=10;transition_system=projective;"
PARSER += "transition_oracle=dynamic;structured_interval=8"


def sentences(path):
    error = udpipe.ProcessingError()
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(Path(path).read_text("utf-8"))
    found, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        found.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise SystemExit(error.message)
    return found


def train(args):
    given = sentences(args.train), sentences(args.dev)
    error = udpipe.ProcessingError()
    start = time.perf_counter()
    settings = (args.tokenizer, args.tagger, args.parser)
    model = udpipe.Trainer.train("morphodita_parsito", *given, *settings, error)
    if error.occurred():
        raise SystemExit(error.message)
    seconds = time.perf_counter() - start
    Path(args.model).write_bytes(model)
    print(json.dumps({"seconds": seconds, "bytes": len(model)}))


def annotate(args):
    model = udpipe.Model.load(args.model)
    default = udpipe.Pipeline.DEFAULT
    further = udpipe.Pipeline.NONE if args.only_tokens else default
    pipeline = udpipe.Pipeline(model, "tokenize", further, further, "conllu")
    error = udpipe.ProcessingError()
    text = Path(args.text).read_text("utf-8")
    start, cpu = time.perf_counter(), time.process_time()
    found = pipeline.process(text, error)
    if error.occurred():
        raise SystemExit(error.message)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    Path(args.out).write_text(found, "utf-8")
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("train")
    for name in ("train", "dev", "model"):
        command.add_argument(name)
    command.add_argument("--tokenizer", default=TOKENIZER)
    command.add_argument("--tagger", default=TAGGER)
    command.add_argument("--parser", default=PARSER)
    command.set_defaults(function=train)
    command = commands.add_parser("annotate")
    for name in ("model", "text", "out"):
        command.add_argument(name)
    command.add_argument("--only-tokens", action="store_true")
    command.set_defaults(function=annotate)
    args = parser.parse_args()
    args.function(args)


if __name__ == "__main__":
    main()
