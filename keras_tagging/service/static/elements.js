// Elements, and what is measured and told of texts.

const SVG = "http://www.w3.org/2000/svg";
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value; else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export function draw(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export const percent = (p) => p > .9995 && p < 1 ? "> 99.9%" : `${(100 * p).toFixed(1)}%`;

export const counted = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;

/** The direction of the first letter. */
export function direction(text) {
  const [letter] = text.match(/\p{L}/u) || [""];
  return RIGHT_TO_LEFT.test(letter) ? "rtl" : "ltr";
}

export function width(text, size) {
  width.context ||= document.createElement("canvas").getContext("2d");
  width.context.font = `600 ${size}px system-ui, sans-serif`;
  return width.context.measureText(text).width;
}

/** A box that scrolls sideways, by keyboard too. */
export function scroller(name, dir, content) {
  return make("div", { className: "scroll", tabIndex: 0, role: "group", dir,
                       "aria-label": `${name}, scrolls sideways` }, content);
}

export function save(name, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}
