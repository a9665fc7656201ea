// The tree of a sentence: words on a line, and an arc from each head to its word.

import { draw, width } from "./elements.js";

const COMPACT_FROM = 16; // words
const ROOMY = { word: 16, tag: 12, label: 12, gap: 22, step: 30, between: 44 };
const COMPACT = { word: 14, tag: 11, label: 11, gap: 12, step: 22, between: 34 };
const STEP = 7; // between arcs that end at the same side of a word
const TALLEST = 330; // what the arcs take, however many levels there are

/** An arc is above those that it covers or crosses. */
function setLevels(arcs) {
  const done = [];
  for (const arc of [...arcs].sort((a, b) => a.to - a.from - (b.to - b.from))) {
    const under = done.filter((o) => o.from < arc.to && arc.from < o.to).map((o) => o.level);
    arc.level = 1 + Math.max(0, ...under);
    done.push(arc);
  }
}

/** The middles of the words, and where all end; neighbours have room for their label. */
function places(words, tags, known, inner, size) {
  const gaps = words.map((word, i) => size.gap + Math.max(width(word.text, size.word),
    width(tags[i], size.tag) * 1.1, width(known[i]?.sure || "", size.label)));
  for (const arc of inner) {
    if (arc.to !== arc.from + 1) continue;
    // longer arcs of these words begin and end nearer to their middles
    const longer = inner.filter((other) => other.from === arc.from || other.to === arc.to).length - 1;
    const room = size.between + STEP * longer - (gaps[arc.from] + gaps[arc.to]) / 2;
    const lack = width(arc.label, size.label) + room;
    if (lack > 0) { gaps[arc.from] += lack; gaps[arc.to] += lack; }
  }
  let left = 4;
  const x = gaps.map((gap) => (left += gap) - gap / 2);
  for (const i of words.keys()) {  // a longer arc ends nearer to the middle of a word
    for (const side of ["from", "to"]) {
      const ends = inner.filter((arc) => arc[side] === i).sort((a, b) => b.level - a.level);
      const step = Math.min(STEP, (gaps[i] / 2 - 9) / ends.length);
      ends.forEach((arc, k) => { arc[`${side}X`] = x[i] + (5 + k * step) * (side === "to" ? -1 : 1); });
    }
  }
  return [x, left + 4];
}

function line(arc, x, top, step) {
  if (arc.root) return [x[arc.child], x[arc.child], 14, `M${x[arc.child]},22 V${top - 5}`];
  const [start, end] = arc.child === arc.to ? [arc.fromX, arc.toX] : [arc.toX, arc.fromX];
  const y = top - arc.level * step, round = Math.min(12, step / 2);
  const bend = Math.min(round, Math.abs(end - start) / 2) * Math.sign(end - start);
  return [start, end, y, `M${start},${top} V${y + round} Q${start},${y} ${start + bend},${y} ` +
    `H${end - bend} Q${end},${y} ${end},${y + round} V${top - 5}`];
}

/** In words, for those who do not see it. */
function told(words) {
  const head = (word) => word.head < 1 ? "the root" : words[word.head - 1].text;
  return `Tree. ${words.map((word) => `${word.text}: ${word.deprel} of ${head(word)}`).join("; ")}`;
}

/**
 * @param words - with text, head (from 1; 0 is the root) and deprel
 * @param tags - a text for each word, "" where there is none
 * @param dir - "rtl" puts the first word to the right
 * @param known - of each word how sure its tag is, if that is known: see `certainty`
 */
export function tree(words, tags, dir, known = []) {
  const size = words.length < COMPACT_FROM ? ROOMY : COMPACT;
  const arcs = words.map(({ head, deprel }, child) => ({ child, label: deprel, root: head < 1,
    from: Math.min(head - 1, child), to: Math.max(head - 1, child) }));
  const inner = arcs.filter((arc) => !arc.root);
  setLevels(inner);
  const [x, total] = places(words, tags, known, inner, size);
  if (dir === "rtl") {
    for (const i of x.keys()) x[i] = total - x[i];
    for (const arc of inner) { arc.fromX = total - arc.fromX; arc.toX = total - arc.toX; }
  }
  const highest = Math.max(1, ...inner.map((arc) => arc.level));
  const step = Math.min(size.step, TALLEST / highest);
  const top = highest * step + 34;
  const text = (name, x, y, px, content) =>
    draw("text", { class: name, x, y, "font-size": `${px}px` }, content);
  const lines = arcs.map((arc) => {
    const [start, end, y, d] = line(arc, x, top, step);
    return draw("g", {}, draw("path", { d }),
      draw("polygon", { class: "head", points: `${end - 4},${top - 7} ${end + 4},${top - 7} ${end},${top}` }),
      text("deprel", (start + end) / 2, y + 4, size.label, arc.label));
  });
  const [below, several] = [tags.some(Boolean) ? 50 : 32, known.some(Boolean)];
  // of an image nobody could reach the words by keyboard
  const svg = draw("svg", { width: total, height: top + below + (several ? 16 : 0),
                            role: several ? "group" : "img", "aria-label": told(words) }, ...lines);
  words.forEach((word, i) => {
    const name = text("w", x[i], top + 20, size.word, word.text);
    const light = (on) => lines.forEach((g, child) =>
      g.classList.toggle("lit", on && (child === i || words[child].head - 1 === i)));
    name.addEventListener("pointerenter", () => light(true));
    name.addEventListener("pointerleave", () => light(false));
    const tag = tags[i] ? [text("p", x[i], top + 39, size.tag, tags[i])] : [];
    if (!known[i]) return svg.append(name, ...tag);
    const sure = text("sure", x[i], top + 55, size.label, known[i].sure);
    const about = { class: `known${known[i].unsure ? " unsure" : ""}`, tabindex: 0, role: "button",
                    "aria-label": [word.text, tags[i], known[i].sure].join(" "), "aria-describedby": "best" };
    svg.append(known[i].told(draw("g", about, name, ...tag, sure)));
  });
  return svg;
}
