// CoNLL-U, as `annotate --output conllu` writes it (keras_tagging/data/annotation.py).

import { auto } from "./derivation.js";

const FIELDS = ["lemma", "upos", "xpos", "feats", "head", "deprel"];
const NO_ATTRIBUTES = new Set(["id", "text", ...FIELDS, "ner", "predicted_tag", "tag",
                               "probabilities"]);
const ESCAPES = { " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p", "\\": "\\\\" };
const SPACE = /[\t-\r\x1c-\x20\x85\p{Z}]+/gu;  // what Python takes for it
const NOT_PRINTED = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
const BLANK_LINE = /\n[^\S\n]*\n/u;

const oneLine = (text) => NOT_PRINTED.test(text) ? text.replace(SPACE, " ") : text;
const escaped = (value) => value.replace(/[ \t\r\n|\\]/g, (character) => ESCAPES[character]);

function spaces(after) {
  if (after === undefined || after === " ") return [];
  return [after ? `SpacesAfter=${escaped(after)}` : "SpaceAfter=No"];
}

/** What CoNLL-U has no field for. */
function attributes(word) {
  const found = "ner" in word && !["O", "_"].includes(word.ner) ? [`NER=${escaped(word.ner)}`] : [];
  if ("tag" in word) found.push(`Tag=${escaped(word.tag)}`);
  for (const [name, value] of Object.entries(word)) {
    if (NO_ATTRIBUTES.has(name)) continue;
    found.push(`${name.charAt(0).toUpperCase()}${name.slice(1)}=${escaped(String(value))}`);
  }
  return found;
}

function row(id, form, fields, misc) {
  return [id, oneLine(form), ...fields, "_", misc.join("|") || "_"].join("\t");
}

function rows(token, after) {
  const about = "start" in token ? [...spaces(after), `TokenRange=${token.start}:${token.end}`] : [];
  const several = token.words.length > 1;
  const found = token.words.map((word) => {
    const known = { xpos: word.predicted_tag, ...word };
    const fields = FIELDS.map((name) => known[name] === "" ? "_" : known[name] ?? "_");
    return row(word.id, word.text, fields, [...attributes(word), ...(several ? [] : about)]);
  });
  if (!several) return found;
  const ids = `${token.words[0].id}-${token.words.at(-1).id}`;
  return [row(ids, token.text, FIELDS.map(() => "_"), about), ...found];
}

/**
 * @param sentences - as `/annotate` answers
 * @param text - what they were found in; offsets count its code points
 */
export function conllu(sentences, text) {
  const document = [...text];
  const between = (start, end) => document.slice(start, end).join("");
  const lines = [];
  let before = "";
  sentences.forEach((sentence, i) => {
    const next = sentences[i + 1], known = "start" in sentence;
    const after = known ? between(sentence.end, next?.start) : "";
    if (known && i === 0) lines.push("# newdoc");
    if (known && (i === 0 || BLANK_LINE.test(before))) lines.push("# newpar");
    lines.push(`# sent_id = ${i + 1}`);
    if (known) lines.push(`# text = ${oneLine(sentence.text)}`);
    if (sentence.derivation) lines.push(`# auto = ${auto(sentence.derivation)}`);
    sentence.tokens.forEach((token, k) => {
      const following = sentence.tokens[k + 1];
      lines.push(...rows(token, following ? between(token.end, following.start) : after));
    });
    lines.push("");
    before = after;
  });
  return lines.map((line) => `${line}\n`).join("");
}
