// Sections for what a model answers: one for each sentence.

import { $, direction, make, percent, scroller } from "./elements.js";
import { drawing } from "./derivation.js";
import { tree } from "./tree.js";

export const UNSURE = .7; // below this a probability is always shown
const isUnsure = (p) => p > 0 && p < UNSURE;
const sureness = (p) => p === 0 ? "by rule" : percent(p); // a lemma that a rule made
const OPEN = 10; // sentences whose trees are drawn at once
const DRAWN = 500; // words of a derivation
// the fields of CoNLL-U by their names, and ours where they are seen at once
const TITLES = { id: "ID", text: "FORM", ner: "Entity", tag: "Tag", predicted_tag: "Tag", lemma: "LEMMA",
                 upos: "UPOS", xpos: "XPOS", feats: "FEATS", head: "HEAD", deprel: "DEPREL" };
const UPOS = new Set(("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM " +
                      "VERB X _").split(" "));

// The box beside a word: its best tags

export function hideBest() { $("best").hidden = true; }

export function placeBest() {
  const box = $("best");
  if (box.hidden || !box.anchor.isConnected) return hideBest();
  const at = box.anchor.getBoundingClientRect(), size = box.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left), document.body.clientWidth - size.width - 8);
  const below = at.bottom + 8 + size.height < innerHeight || at.top < size.height;
  box.style.left = `${left}px`;
  box.style.top = `${below ? at.bottom + 8 : at.top - size.height - 8}px`;
}

function showBest(anchor, word, tags, probabilities) {
  const table = make("table", {}, make("caption", { textContent: word, dir: "auto" }));
  tags.forEach((tag, i) => {
    const fill = make("i");
    fill.style.width = `${100 * probabilities[i]}%`;
    table.append(make("tr", {}, make("td", {}, make("span", { className: "tag", textContent: tag })),
      make("td", {}, make("span", { className: "bar" }, fill),
        make("span", { className: "p", textContent: sureness(probabilities[i]) }))));
  });
  const box = $("best");
  box.replaceChildren(table);
  box.anchor = anchor;
  box.hidden = false;
  placeBest();
}

/** By mouse, by keyboard and by touch. */
function tells(node, ...about) {
  for (const event of ["mouseenter", "focus", "click"]) {
    node.addEventListener(event, () => showBest(node, ...about));
  }
  for (const event of ["mouseleave", "blur"]) node.addEventListener(event, hideBest);
  return node;
}

// Tags

/** The element in the colour of a label, where page.css has no other for that. */
function coloured(node, label) {
  const hash = [...label].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)) % 360, 0);
  node.classList.add(`entity-${label.replace(/\s/g, "_")}`);
  node.style.setProperty("--own", `hsl(${(hash * 47) % 360} 75% 78%)`);
  return node;
}

function token(word, tag) {
  const [, label] = /^[BIESLUM]-(.+)$/.exec(tag) ?? [];
  const shown = make("span", { className: label ? "tag chunk" : "tag", textContent: tag });
  return [make("span", { className: "word", textContent: word }),
          label ? coloured(shown, label) : shown];
}

function tagList(dir, items) {
  return make("ol", { className: "tokens", dir }, ...items.map((item) => make("li", {}, item)));
}

export function tagged(sentence, i) {
  const items = sentence.tokens.map((word, k) => {
    const [tag, p] = [sentence.tags[k], sentence.probabilities[k]];
    const button = make("button", { type: "button", className: `token${p < UNSURE ? " unsure" : ""}`,
        "aria-describedby": "best" },
      ...token(word, tag), make("span", { className: "sure", textContent: percent(p) }));
    button.style.background = `rgb(var(--tint) / ${(.3 * (1 - p)).toFixed(3)})`;
    return tells(button, word, sentence.top_tags[k], sentence.top_probabilities[k]);
  });
  const dir = direction(sentence.tokens.join(" "));
  return make("section", { className: "sentence", "aria-label": `Sentence ${i + 1}` }, tagList(dir, items));
}

// Entities

function entity(text, { label, probability }) {
  const mark = coloured(make("mark", { className: "entity", tabIndex: 0, role: "button",
      "aria-describedby": "best", "data-p": percent(probability) },
    `${text}\u00a0`, make("span", { textContent: label })), label);
  if (probability < UNSURE) mark.classList.add("unsure");
  return tells(mark, text, [label], [probability]);
}

function marked(sentence, dir, lang) {
  const text = [...sentence.text];  // offsets count code points
  const line = make("p", { className: "marked", dir, lang });
  let place = 0;
  for (const span of [...sentence.spans].sort((a, b) => a.start - b.start)) {
    const [from, to] = [span.start - sentence.start, span.end - sentence.start];
    if (from < place) continue;  // of another tagger, inside of the one before
    line.append(text.slice(place, from).join(""), entity(text.slice(from, to).join(""), span));
    place = to;
  }
  line.append(text.slice(place).join(""));
  return line;
}

// Trees and tables

function table(words, names, dir, titles) {
  const content = (word, name) => name !== "head" ? word[name]
    : `${word.head} ${word.head < 1 ? "root" : words[word.head - 1].text}`;
  const cell = (word, name) => {
    const p = word.probabilities?.[name], found = make("td", { textContent: content(word, name) ?? "" });
    if (p !== undefined) found.dataset.p = sureness(p);
    if (isUnsure(p)) found.classList.add("unsure");
    return found;
  };
  const head = names.map((name) => make("th", { textContent: titles[name] || name, scope: "col" }));
  const rows = words.map((word) => make("tr", {},
    ...names.map((name) => cell(word, name))));
  return scroller("Table", dir, make("table", { dir }, make("tr", {}, ...head), ...rows));
}

/** Something that is made when it is opened. */
function folded(title, name, open, build) {
  const details = make("details", { className: name, open }, make("summary", { textContent: title }));
  const fill = () => { if (details.open && details.childElementCount < 2) details.append(build()); };
  details.addEventListener("toggle", fill);
  fill();
  return details;
}

/** The names of fields: CCGbank has tags of the Penn Treebank where others have UPOS. */
function titlesOf(sentences) {
  const words = sentences.flatMap(({ tokens }) => tokens.flatMap((token) => token.words));
  const universal = words.every(({ upos }) => upos === undefined || UPOS.has(upos));
  return universal ? TITLES : { ...TITLES, upos: "POS" };
}

/** What is known of each word: how sure its tag is, and how it tells of all of its labels. */
function certainty(words, tag, titles) {
  return words.map(({ text, probabilities: values = {}, ...word }) => {
    const names = Object.keys(TITLES).filter((name) => name in values);
    names.push(...Object.keys(values).filter((name) => !(name in TITLES)));
    const labels = names.map((name) => `${titles[name] || name} ${word[name]}`);
    const p = values[tag], about = [text, labels, names.map((name) => values[name])];
    return names.length && { unsure: isUnsure(p), sure: p === undefined ? "" : sureness(p),
                             told: (node) => tells(node, ...about) };
  });
}

function withTag(word, tag, known) {
  const name = `token${known?.unsure ? " unsure" : ""}`;
  if (!known) return make("div", { className: name }, ...token(word, tag));
  const button = make("button", { type: "button", className: name, "aria-describedby": "best" },
    ...token(word, tag), make("span", { className: "sure", textContent: known.sure }));
  return known.told(button);
}

function section(sentence, number, lang, open, titles) {
  const words = sentence.tokens.flatMap((token) => token.words);
  const there = new Set(words.flatMap(Object.keys));
  there.delete("probabilities");
  const known = Object.keys(TITLES).filter((name) => there.has(name));
  const names = [...known, ...[...there].filter((name) => !(name in TITLES))];
  const tag = ["upos", "xpos", "tag", "predicted_tag"].find((name) => there.has(name));
  const tags = words.map((word) => word[tag] || "");
  const certain = certainty(words, tag, titles);
  const tagRow = () => tagList(dir, words.map((word, i) => withTag(word.text, tags[i], certain[i])));
  const dir = direction(words.map((word) => word.text).join(" "));
  const found = make("section", { className: "sentence", "aria-label": `Sentence ${number}` });
  const derivation = words.length <= DRAWN ? sentence.derivation : null;
  if (sentence.text) found.append(marked(sentence, dir, lang));
  if (there.has("head")) {
    const title = tag ? `Tree with ${titles[tag]}` : "Tree";
    if (tag && !open) found.append(tagRow());
    found.append(folded(title, "tree", open, () => scroller("Tree", dir, tree(words, tags, dir, certain))));
  } else if (tag && !derivation) {
    found.append(folded(titles[tag], "tree", open, tagRow));
  }
  if (derivation) {
    found.append(folded("Derivation", "tree", open, () => scroller("Derivation", dir, drawing(derivation))));
  }
  found.append(folded("Table", "fields", false, () => table(words, names, dir, titles)));
  return found;
}

/** A section for each sentence of `/annotate`; of many, the trees but for the first are folded. */
export function annotated(sentences, lang = "") {
  const [open, titles] = [sentences.length <= OPEN, titlesOf(sentences)];
  return sentences.map((sentence, i) => section(sentence, i + 1, lang, open || i === 0, titles));
}

/** An answer of `/parse` as `/annotate` would give it. */
export function asAnnotated({ tokens, heads, deprels, predicted_tags, ...outputs }) {
  const rows = Object.entries({ predicted_tag: predicted_tags, ...outputs, head: heads, deprel: deprels });
  const named = rows.filter(([name, row]) => row && name in TITLES);
  return { spans: [], tokens: tokens.map((text, i) => ({ text, words: [{ id: i + 1, text,
    ...Object.fromEntries(named.map(([name, row]) => [name, row[i]])) }] })) };
}
