// What is typed, what is asked of the service, and what is done with the answer.

import { UNSURE, annotated, asAnnotated, hideBest, placeBest, tagged } from "./answers.js";
import { $, counted, make, save } from "./elements.js";

const SHARED = 2000; // characters of a text in a link, which grow up to twelvefold there
const EXAMPLES = {
  en: ["Ada Lovelace met Charles Babbage in London in 1833.", "She didn't build his engine, but wrote its first program."],
  fr: ["Marie Curie est née à Varsovie en 1867.", "Elle a découvert le radium à Paris."],
};
const TOUCH = matchMedia("(hover: none) and (pointer: coarse)").matches; // Enter makes lines there
let models = [], shown = null; // the last answer, with what was typed for it

const model = () => models.find((m) => m.name === $("model").value);

async function ask(path, body) {
  const options = body && { method: "POST", body: JSON.stringify(body),
                            headers: { "Content-Type": "application/json" } };
  let response, answer;
  try { response = await fetch(path, options); }
  catch { throw new Error("The service does not answer: is it still running?"); }
  if (response.ok && body?.output === "conllu") return response.text();
  try { answer = await response.json(); }
  catch { throw new Error(`The answer, ${response.status}, is not of the service: is it still running?`); }
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// What is typed

function tokens(line) {
  const words = line.trim().split(/\s+/u).filter(Boolean);
  if (!$("split").checked) return words;
  return words.flatMap((word) => {
    const [, before, middle, after] = word.match(/^([("'“„«\[¿¡]*)(.*?)([)"'”»\].,;:!?…]*)$/su);
    return middle ? [...before, middle, ...(after === "..." ? [after] : after)] : [word];
  });
}

function sentences() {
  return $("text").value.split("\n").map(tokens).filter((words) => words.length);
}

function column(name) {
  const id = `column-${name}`;
  const input = make("input", { type: "text", id, spellcheck: false, className: "grow" });
  input.dataset.column = name;
  const row = make("div", { className: "row" }, input);
  for (const tagger of models.filter((m) => m.kind === "tagger" && !m.columns.length)) {
    const fill = make("button", { type: "button", textContent: `Fill with ${tagger.name}` });
    fill.addEventListener("click", () => attempt(async () => {
      const found = await ask("tag", { model: tagger.name, sentences: sentences() });
      input.value = found.sentences.map((s) => s.tags.join(" ")).join(" | ");
    }));
    row.append(fill);
  }
  return make("div", { className: "field" }, make("label", { htmlFor: id, textContent: name }), row,
    make("span", { className: "hint", textContent:
      `This model reads ${name}: one for each word, with blanks between; | between sentences.` }));
}

function columns(given) {
  const found = {};
  for (const input of $("columns").querySelectorAll("input")) {
    const rows = input.value.split(" | ").map((row) => row.split(/\s+/u).filter(Boolean));
    given.forEach((words, i) => {
      const there = (rows[i] || []).length;
      if (there !== words.length) {
        throw new Error(`${input.dataset.column}: ${there} for the ${words.length} words of ` +
          `“${words.slice(0, 6).join(" ")}”: give one for each.`);
      }
    });
    found[input.dataset.column] = rows;
  }
  return found;
}

function showModel() {
  const { kind, command, name, architecture, labels, columns } = model();
  const whole = kind === "pipeline";
  $("run").textContent = { annotate: "Annotate", parse: "Parse", tag: "Tag" }[command];
  $("about").textContent = whole ? `${name}, a pipeline: ${architecture}`
    : `${name}, ${architecture}: a ${kind} with ${labels} ${command === "parse" ? "relations" : "tags"}`;
  $("given").textContent = whole ? "Text" : "Sentence";
  $("text").placeholder = whole ? "Type a text" : "Type a sentence";
  const keys = TOUCH ? "" : "Enter starts, Shift+Enter begins another line.";
  $("keys").textContent = whole ? keys : `A sentence a line. ${keys}`;
  $("split").parentElement.hidden = whole;
  $("example").hidden = columns.length > 0; // whose values nobody types
  $("columns").replaceChildren(...columns.map(column));
}

function typeExample() {
  const { kind, language } = model();
  const lines = EXAMPLES[language] || EXAMPLES.en;
  $("text").value = lines.join(kind === "pipeline" ? " " : "\n");
}

// What is asked

function clear() {
  hideBest();
  shown = null;
  $("error").hidden = $("tools").hidden = true;
  $("status").textContent = "";
  $("result").replaceChildren();
}

async function attempt(action) {
  $("run").disabled = true;
  try { await action(); }
  catch (error) {
    clear();
    $("error").textContent = error.message;
    $("error").hidden = false;
  } finally { $("run").disabled = false; }
}

async function run() {
  const chosen = model(), text = $("text").value, whole = chosen.kind === "pipeline";
  if (!text.trim()) throw new Error(`Type a ${whole ? "text" : "sentence"} first.`);
  const given = whole ? { text, probabilities: chosen.probabilities } : { sentences: sentences() };
  if (!whole) given.columns = columns(given.sentences);
  const start = performance.now();
  const answer = await ask(chosen.command, { model: chosen.name, ...given });
  show(chosen, text, answer, performance.now() - start);
}

function show(chosen, text, answer, passed) {
  clear();
  const tags = chosen.kind === "tagger";
  const sentences = chosen.command === "parse" ? answer.sentences.map(asAnnotated) : answer.sentences;
  $("result").replaceChildren(...(tags ? sentences.map(tagged) : annotated(sentences, chosen.language)));
  const count = chosen.kind === "pipeline" ? counted(sentences.length, "sentence")
    : counted(sentences.reduce((sum, { tokens }) => sum + tokens.length, 0), "token");
  const legend = tags || chosen.probabilities ? `; less than ${100 * UNSURE}% sure: dashed or red` : "";
  $("status").textContent = `${count} in ${answer.milliseconds.toFixed(1)} ms, ` +
    `${passed.toFixed(0)} ms with transfer${legend}`;
  shown = { chosen, text, answer };
  $("tools").hidden = false;
  $("conllu").hidden = tags; // CoNLL-U has no place for probabilities
  $("probable").hidden = !tags && !chosen.probabilities && !sentences.some(({ spans }) => spans.length);
  $("trees").hidden = !document.querySelector(".tree:not([open])");
}

// What is done with the answer

/** A pipeline writes CoNLL-U itself; a parser gives trees, and perhaps tags. */
function conllu() {
  const { chosen, text, answer } = shown;
  if (chosen.kind === "pipeline") return ask(chosen.command, { model: chosen.name, text, output: "conllu" });
  return answer.sentences.map(({ tokens, heads, deprels, ...of }, i) => {
    const tags = [of.lemma, of.upos, of.xpos || of.predicted_tags, of.feats];
    const rows = tokens.map((form, k) =>
      [k + 1, form, ...tags.map((row) => row?.[k] || "_"), heads[k], deprels[k], "_", "_"].join("\t"));
    return `${[`# sent_id = ${i + 1}`, ...rows].join("\n")}\n\n`;
  }).join("");
}

/** The text stands behind the #, which browsers do not send: no log has it. */
async function share() {
  const { chosen, text } = shown;
  if (text.length > SHARED) {
    $("status").textContent = `A link holds at most ${counted(SHARED, "character")}, and this text has ` +
      `${text.length.toLocaleString("en")}: save it as JSON.`;
    return;
  }
  history.replaceState(null, "", `#${new URLSearchParams({ model: chosen.name, text })}`);
  let copied = "The link is in the address bar: copy it there.";
  try { await navigator.clipboard.writeText(location.href); copied = "The link is copied."; }
  catch { /* browsers allow it to pages of HTTPS and of this machine */ }
  $("status").textContent = `${copied} It holds the text, and the service never logs it.`;
}

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1)), text = given.get("text");
  if (!text) return;
  attempt(async () => {
    if (text.length > SHARED) throw new Error(`The link holds more than ${counted(SHARED, "character")}.`);
    const name = given.get("model");
    if (name !== null && !models.some((m) => m.name === name)) {
      throw new Error(`The link is for the model “${name}”, which does not run here.`);
    }
    if (name !== null) $("model").value = name;
    showModel();
    $("text").value = text;
    await run();
  });
}

$("form").addEventListener("submit", (event) => { event.preventDefault(); attempt(run); });
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !TOUCH && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    attempt(run);
  }
});
$("example").addEventListener("click", () => { typeExample(); attempt(run); });
$("model").addEventListener("change", () => { clear(); showModel(); });
$("probabilities").addEventListener("change", ({ target }) =>
  $("result").classList.toggle("probable", target.checked));
$("trees").addEventListener("click", () => {
  for (const details of document.querySelectorAll(".tree")) details.open = true;
  $("trees").hidden = true;
});
$("json").addEventListener("click", () =>
  save(`${shown.chosen.name}.json`, "application/json", JSON.stringify(shown.answer, null, 1)));
$("conllu").addEventListener("click", () => attempt(async () =>
  save(`${shown.chosen.name}.conllu`, "text/plain", await conllu())));
$("share").addEventListener("click", share);
addEventListener("keydown", (event) => { if (event.key === "Escape") hideBest(); });
addEventListener("scroll", placeBest, { passive: true });
addEventListener("hashchange", readAddress);
attempt(async () => {
  const served = await ask("models");
  models = served.models;
  $("most").textContent = `At most ${served.max_tokens.toLocaleString("en")} tokens.`;
  $("model").append(...models.map((m) => make("option", { value: m.name, textContent: `${m.name} (${m.kind})` })));
  $("models").hidden = models.length < 2;
  showModel();
  readAddress();
});
