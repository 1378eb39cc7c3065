// Elements are made here. Data becomes text or attribute values, never markup.

const $ = (id) => document.getElementById(id);

function fill(node, options, children) {
  for (const [name, value] of Object.entries(options)) {
    if (name === "topic") tint(node, value);
    else if (name === "bar") node.style.width = `${value}%`;
    else if (name === "click") node.addEventListener("click", value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// Each topic has a hue; neighbours in hue differ in lightness.
const hueOf = (number) => ((number * 137.508) % 360).toFixed(1);
const toneOf = (number) => number % 4;

function tint(node, number) {
  node.classList.add("tinted");
  node.style.setProperty("--hue", hueOf(number));
  node.style.setProperty("--tone", toneOf(number));
}

function el(tag, options = {}, ...children) {
  return fill(document.createElement(tag), options, children);
}

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, options = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), options, children);
}

function button(options, ...children) {
  return el("button", { type: "button", ...options }, ...children);
}

const count = (n) => n.toLocaleString("en", { maximumFractionDigits: n < 10 ? 3 : 0 });

function percent(share) {
  const digits = share >= 0.0995 || share === 0 ? 0 : share >= 0.00995 ? 1 : 2;
  return `${(100 * share).toFixed(digits)} %`;
}

const measure = document.createElement("canvas").getContext("2d");

// The width of a text in pictures, and as much of it as fits.
function measured(text) {
  measure.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

function shortened(text, width) {
  if (measured(text) <= width) return text;
  let end = text.length - 1;
  while (end > 1 && measured(`${text.slice(0, end)}…`) > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

// Parts that are deflated in the page, each unpacked once.
const unpacked = new Map();

function unpack(name, block) {
  const key = `${name}-${block}`;
  if (!unpacked.has(key)) {
    const bytes = Uint8Array.from(atob($(key).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    unpacked.set(key, new Response(stream).json());
  }
  return unpacked.get(key);
}

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const narrow = () => matchMedia("(max-width: 760px)").matches;

function scrollTo(node) {
  node.scrollIntoView({ block: "start", behavior: still() ? "auto" : "smooth" });
}

// The texts inside an element, with pauses between them.
function spoken(node) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) found.push(walker.currentNode.textContent);
  return found.join(", ");
}

// A list whose options are chosen by click, or by arrow keys while the list has the focus.
function listbox(container, onChoose) {
  let options = [];
  let at = -1;

  function mark(place) {
    options[at]?.setAttribute("aria-selected", "false");
    at = place;
    const option = options[at];
    if (!option) return container.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    container.setAttribute("aria-activedescendant", option.id);
    const [top, bottom] = [option.offsetTop - container.offsetTop, option.offsetHeight];
    if (top < container.scrollTop) container.scrollTop = top;
    else if (top + bottom > container.scrollTop + container.clientHeight)
      container.scrollTop = top + bottom - container.clientHeight;
  }

  container.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
    if (!(event.key in steps) || !options.length) return;
    event.preventDefault();
    onChoose(Math.max(0, Math.min(options.length - 1, at + steps[event.key])), true);
  });
  container.addEventListener("click", (event) => {
    const place = options.indexOf(event.target.closest('[role="option"]'));
    if (place >= 0) onChoose(place, false);
  });

  function show(nodes) {
    options = nodes;
    at = -1;
    nodes.forEach((node, i) => {
      node.id = `${container.id}-${i}`;
      node.setAttribute("role", "option");
      node.setAttribute("aria-label", spoken(node)); // out of view, contents are not rendered
      node.setAttribute("aria-selected", "false");
    });
    container.replaceChildren(...nodes);
  }
  return { show, mark };
}
