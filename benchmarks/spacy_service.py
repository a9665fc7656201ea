"""spaCy in FastAPI, which answers at `/annotate` as the service does.

    peers/bin/python benchmarks/spacy_service.py en_core_web_sm [--port 8001]

It runs in an environment that has `spacy`, the package of the model, `fastapi` and
`uvicorn`, and prints its address and process for `service_load.py --peer`. The model
reads words and trees: its entities are off.
"""

import argparse
import os

import spacy
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Asked(BaseModel):
    """A text. `model` is what our service has it for."""

    text: str
    model: str = ""


def as_json(sentence) -> dict:
    """A sentence as `/annotate` answers it."""
    first = sentence.start
    tokens = [
        {
            "text": token.text,
            "start": token.idx,
            "end": token.idx + len(token),
            "words": [
                {
                    "id": token.i - first + 1,
                    "text": token.text,
                    "upos": token.pos_,
                    "xpos": token.tag_,
                    "feats": str(token.morph) or "_",
                    "lemma": token.lemma_,
                    "head": 0 if token.head == token else token.head.i - first + 1,
                    "deprel": token.dep_,
                }
            ],
        }
        for token in sentence
    ]
    place = {"start": sentence.start_char, "end": sentence.end_char}
    return {"text": sentence.text, **place, "tokens": tokens, "spans": []}


def service(name: str) -> FastAPI:
    nlp, app = spacy.load(name, exclude=["ner"]), FastAPI()

    @app.post("/annotate")
    def annotate(asked: Asked):
        return {"sentences": [*map(as_json, nlp(asked.text).sents)]}

    return app


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8001)
    args = parser.parse_args()
    print(f"http://127.0.0.1:{args.port}, process {os.getpid()}", flush=True)
    uvicorn.run(service(args.model), port=args.port, access_log=False)


if __name__ == "__main__":
    main()
