// Similar topics: a heat map in the order of the tree in which topics merge, and the nearest pairs.

const SIMILAR = DATA.similar;
const PAIRS_SHOWN = 15;

const alike = (a, b) => (a === b ? 1 : SIMILAR.alike[Math.max(a, b)][Math.min(a, b)] / SIMILAR.steps);
const nameAt = (row, most = 3) => nameOf(SIMILAR.topics[row], most);

function colourOf(name) {
  const probe = el("i", {});
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const parts = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return parts;
}

// The cells as one picture, a pixel each; squares of thousands of elements would be slow.
function heat(most) {
  const K = SIMILAR.topics.length;
  const canvas = el("canvas", { width: K, height: K });
  const context = canvas.getContext("2d");
  const image = context.createImageData(K, K);
  const [low, high] = [colourOf("--soft"), colourOf("--accent")];
  for (let a = 0; a < K; a++)
    for (let b = 0; b < K; b++) {
      const share = a === b ? 1 : Math.min(1, alike(a, b) / most);
      for (let c = 0; c < 3; c++) image.data[4 * (a * K + b) + c] = low[c] + share * (high[c] - low[c]);
      image.data[4 * (a * K + b) + 3] = 255;
    }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

const mostAlike = () => Math.max(...SIMILAR.alike.flat()) / SIMILAR.steps || 1;

function heatScale() {
  const K = SIMILAR.topics.length;
  const width = $("heat").clientWidth || 700;
  const named = width >= 520;
  const tree = Math.round(width * 0.2);
  const side = width - tree - (named ? 210 : 34);
  const size = Math.min(side / K, 30);
  return { K, width, named, tree, size, left: tree + 6, height: size * K + 22 };
}

function drawSimilar() {
  if (!SIMILAR || $("similar").hidden) return;
  const { K, width, named, tree, size, left, height } = heatScale();
  const Y = (row) => (row + 0.5) * size;
  const far = Math.max(...SIMILAR.links.map((link) => link[4])) || 1;
  const X = (distance) => tree - (distance / far) * (tree - 6);
  const label = `Heat map of ${K} topics: how alike each two are by their words, in the order of their tree`;
  const nodes = [svg("title", {}, label)];
  for (const [a, b, low, lowToo, top] of SIMILAR.links)
    nodes.push(svg("path", { class: "branch", d: `M${X(low).toFixed(1)} ${Y(a).toFixed(1)}H${X(top).toFixed(1)}V${Y(b).toFixed(1)}H${X(lowToo).toFixed(1)}` }));
  nodes.push(svg("image", { class: "cells", x: left, y: 0, width: size * K, height: size * K, href: heat(mostAlike()), preserveAspectRatio: "none" }));
  const stride = Math.max(1, Math.ceil(11 / size));
  for (let row = 0; row < K; row += stride)
    nodes.push(svg("text", { x: left + size * K + 6, y: Y(row) + 4 },
      named && size >= 11 ? shortened(nameAt(row), 200) : `${SIMILAR.topics[row]}`));
  nodes.push(svg("text", { x: 6, y: height - 5 }, "far"), svg("text", { x: tree, y: height - 5, "text-anchor": "end" }, "near"));
  $("heat").setAttribute("viewBox", `0 0 ${width} ${height}`);
  $("heat").style.height = `${height}px`;
  $("heat").setAttribute("aria-label", label);
  $("heat").replaceChildren(...nodes);
  const ramp = $("heat-ramp");
  ramp.style.backgroundImage = "linear-gradient(90deg, var(--soft), var(--accent))";
  $("heat-most").textContent = mostAlike().toFixed(2);
}

function cellAt(event) {
  const box = $("heat").getBoundingClientRect();
  const { K, size, left } = heatScale();
  const [column, row] = [Math.floor((event.clientX - box.left - left) / size), Math.floor((event.clientY - box.top) / size)];
  return column >= 0 && column < K && row >= 0 && row < K ? [row, column] : null;
}

function tipForCell(event) {
  const at = event && cellAt(event);
  const tip = $("heat-tip");
  tip.hidden = !at;
  if (!at) return;
  const [row, column] = at;
  tip.textContent = row === column ? nameAt(row, 5) : `${nameAt(row)} · ${nameAt(column)}: ${alike(row, column).toFixed(2)}`;
  const box = $("heat").getBoundingClientRect();
  tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth))}px`;
  tip.style.top = `${event.clientY - box.top + 16}px`;
}

function nearestPairs() {
  const pairs = SIMILAR.alike.flatMap((row, a) => row.map((value, b) => [value, b, a]));
  return pairs.sort((p, q) => q[0] - p[0] || p[1] - q[1] || p[2] - q[2]).slice(0, PAIRS_SHOWN);
}

function listPairs() {
  const open = (row) => button({ class: "word", click: () => goToTopic(INDEX_OF.get(SIMILAR.topics[row])) }, nameAt(row));
  $("pairs").replaceChildren(...nearestPairs().map(([value, a, b]) =>
    el("li", {}, el("span", { class: "pair" }, open(a), open(b)), el("span", { class: "number" }, (value / SIMILAR.steps).toFixed(2)))));
}

const tableOfSimilar = () => [
  ["topic", "label", "other topic", "its label", "similarity"],
  ...SIMILAR.alike.flatMap((row, a) => row.map((value, b) => {
    const [first, second] = [SIMILAR.topics[b], SIMILAR.topics[a]];
    return [first, TOPICS.label[INDEX_OF.get(first)], second, TOPICS.label[INDEX_OF.get(second)], value / SIMILAR.steps];
  })),
];

function startSimilar() {
  const K = SIMILAR.topics.length;
  const some = K < SIMILAR.all ? `The ${K} largest of ${count(SIMILAR.all)} topics. ` : "";
  $("note-similar").textContent = `${some}1 minus the Hellinger distance of the topics' words: 0 where they share none, 1 where they are the same. The tree merges the nearest first, by mean distance.`;
  $("heat-tools").append(downloads("similar topics", "similar-topics", { table: tableOfSimilar, picture: () => $("heat") }));
  $("heat").addEventListener("pointermove", (event) => event.pointerType === "mouse" && tipForCell(event));
  $("heat").addEventListener("pointerleave", () => tipForCell(null));
  $("heat").addEventListener("click", (event) => {
    const at = cellAt(event);
    if (at) goToTopic(INDEX_OF.get(SIMILAR.topics[at[0]]));
  });
  onTheme.push(drawSimilar);
  onShow.similar = () => {
    drawSimilar();
    if (!$("pairs").children.length) listPairs();
  };
}
