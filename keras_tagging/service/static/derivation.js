// A CCG derivation, as `/annotate` gives it: nodes, each before its children.

import { make } from "./elements.js";

const BRACKETS = { "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}" };

/** The word of a field, as `ccg.auto.unescaped`. */
const wordOf = (field) => field.replace(/-[LR][RSC]B-/g, (name) => BRACKETS[name]).replaceAll("\u00a0", " ");

/** The nodes with their words, from 0, and their levels; a leaf has level 0. */
function placed(nodes) {
  let word = nodes.filter((node) => !node.children).length;
  const found = new Array(nodes.length);
  for (let i = nodes.length - 1; i >= 0; i--) {  // children stand behind their parents
    const below = nodes[i].children?.map((child) => found[child]);
    if (!below) {
      word -= 1;
      found[i] = { ...nodes[i], first: word, last: word, level: 0 };
    } else {
      const level = 1 + Math.max(...below.map((child) => child.level));
      found[i] = { ...nodes[i], first: below[0].first, last: below.at(-1).last, level };
    }
  }
  return found;
}

/** The usual drawing: words, categories, and a line with its combinator for each step. */
export function drawing({ nodes }) {
  const boxes = placed(nodes), count = 1 + Math.max(...boxes.map((box) => box.level));
  const rows = [];
  for (let level = 0; level < count; level++) {
    const cells = [];
    let after = 0;
    for (const box of boxes.filter((b) => b.level === level).sort((a, b) => a.first - b.first)) {
      if (box.first > after) cells.push(make("td", { colSpan: box.first - after }));
      const mark = box.rule ? [make("small", { textContent: box.rule })] : [];
      cells.push(make("td", { colSpan: box.last + 1 - box.first, className: level ? "step" : "category" },
        ...mark, box.category));
      after = box.last + 1;
    }
    rows.push(make("tr", {}, ...cells));
  }
  const leaves = boxes.filter((box) => !box.children).sort((a, b) => a.first - b.first);
  const words = leaves.map((leaf) => make("td", { className: "word", textContent: wordOf(leaf.word) }));
  return make("table", { className: "derivation" }, make("tr", {}, ...words), ...rows);
}
