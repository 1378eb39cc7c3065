// The map: circles of topics, labels where there is room, the nearest circle to a finger or key.

const circles = [];
let mapAt = 0; // the circle that arrow keys start from

function mapScale() {
  const width = $("map").clientWidth || 600;
  const place = (i) => ({
    x: DATA.map.x[i] * width,
    y: DATA.map.y[i] * width,
    r: Math.max(2, DATA.map.r[i] * width),
  });
  return { width, height: width * DATA.map.aspect, place };
}

function drawMap() {
  const { width, height, place } = mapScale();
  $("map").setAttribute("viewBox", `0 0 ${width} ${height}`);
  $("map").style.height = `${height}px`;
  measure.font = `600 11.5px ${getComputedStyle(document.body).fontFamily}`; // as when it is chosen
  const places = TOPICS.number.map((_, i) => place(i));
  circles.length = 0;
  places.forEach(({ x, y, r }, i) =>
    circles.push(svg("circle", {
      cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1), role: "option", id: `circle-${i}`,
      "aria-label": `Topic ${numberAndLabel(i)}, ${percent(shareOf(i))} of tokens: ${wordsInShort(i, 5)}`,
    })));
  $("map").replaceChildren(...circles, ...labelMap(places, width, height));
  markMap();
}

// Numbers inside circles that hold them; beside as many as can be their labels, if they have some,
// and after all labels the words of others, the largest first.
function labelMap(places, width, height) {
  const labels = [];
  const boxes = places.map(({ x, y, r }) => [x - r, y - r, x + r, y + r]);
  const free = (box, own) =>
    box[0] >= 2 && box[1] >= 2 && box[2] <= width - 2 && box[3] <= height - 2 &&
    boxes.every((b, i) => i === own || box[2] < b[0] || box[0] > b[2] || box[3] < b[1] || box[1] > b[3]);
  const labelled = (i) => TOPICS.label[i] !== null;
  for (const i of [...bySize.filter(labelled), ...bySize.filter((i) => !labelled(i))]) {
    const { x, y, r } = places[i];
    const number = String(TOPICS.number[i]);
    if (r >= 4 + 3.4 * number.length)
      labels.push(svg("text", { class: "inside", x, y, "data-topic": i }, number));
    for (const words of [2, 1]) {
      const text = inShort(i, words);
      const [w, h] = [measure.measureText(text).width + 2, 13];
      const spots = [
        [x + r + 4, y - h / 2], [x - r - 4 - w, y - h / 2], [x - w / 2, y + r + 2], [x - w / 2, y - r - 2 - h],
      ];
      const spot = (labelled(i) || TOPICS.words[i].length) && spots.find(([a, b]) => free([a - 2, b - 1, a + w + 2, b + h + 1], i));
      if (!spot) continue;
      boxes.push([spot[0], spot[1], spot[0] + w, spot[1] + h]);
      labels.push(svg("text", { class: "beside", x: spot[0] + 1, y: spot[1] + h - 3, "data-topic": i }, text));
      break;
    }
  }
  return labels;
}

// Circles show the topic chosen or, where a word is, how much of the word each topic holds.
function markMap() {
  const shares = new Map();
  if (state.word !== null)
    for (const [number, tokens] of pairsOf(DATA.words.topics[state.word]))
      shares.set(INDEX_OF.get(number), tokens / DATA.words.count[state.word]);
  circles.forEach((circle, i) => {
    const on = state.word === null ? i === state.topic : shares.has(i);
    circle.setAttribute("class", on ? "on" : state.word === null ? "" : "off");
    circle.style.fillOpacity = state.word !== null && on ? 0.25 + 0.75 * shares.get(i) : "";
    circle.setAttribute("aria-selected", i === state.topic && state.word === null);
  });
  for (const text of $("map").querySelectorAll("text")) {
    const i = Number(text.dataset.topic);
    text.classList.toggle("on", state.word === null ? i === state.topic : shares.get(i) > 0.5);
  }
  if (state.topic !== null) mapAt = state.topic;
  $("map").setAttribute("aria-activedescendant", `circle-${mapAt}`);
  $("map-shows").textContent = state.word === null ? "" : `topics that hold “${WORDS[state.word]}”`;
}

function nearestCircle(event, reach) {
  const box = $("map").getBoundingClientRect();
  const [px, py] = [event.clientX - box.left, event.clientY - box.top];
  const { place } = mapScale();
  let [best, least] = [null, reach];
  TOPICS.number.forEach((_, i) => {
    const { x, y, r } = place(i);
    const away = Math.hypot(x - px, y - py) - r;
    if (away < least) [best, least] = [i, away];
  });
  return best;
}

function tipFor(i) {
  const tip = $("map-tip");
  tip.hidden = i === null;
  if (i === null) return;
  const { width, place } = mapScale();
  const { x, y, r } = place(i);
  tip.textContent = `${numberAndLabel(i)} · ${percent(shareOf(i))} · ${wordsInShort(i, 6)}`;
  tip.style.left = `${Math.max(0, Math.min(x - tip.offsetWidth / 2, width - tip.offsetWidth))}px`;
  const above = y - r - tip.offsetHeight - 6;
  tip.style.top = `${above > 0 ? above : y + r + 6}px`;
}

// The circle that lies best in the direction of an arrow key.
function circleTowards(key) {
  const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const from = [DATA.map.x[mapAt], DATA.map.y[mapAt]];
  let [best, least] = [mapAt, Infinity];
  TOPICS.number.forEach((_, i) => {
    const [x, y] = [DATA.map.x[i] - from[0], DATA.map.y[i] - from[1]];
    const [along, aside] = [x * dx + y * dy, Math.abs(x * dy - y * dx)];
    if (i !== mapAt && along > 1e-6 && along + 2.5 * aside < least) [best, least] = [i, along + 2.5 * aside];
  });
  return best;
}

function startMap() {
  $("map-tools").append(downloads("the map of topics", "map-of-topics", { picture: () => $("map") }));
  $("map").addEventListener("click", (event) => {
    const i = nearestCircle(event, 16);
    if (i !== null) chooseTopic(i);
  });
  $("map").addEventListener("pointermove", (event) => event.pointerType === "mouse" && tipFor(nearestCircle(event, 3)));
  $("map").addEventListener("pointerleave", () => tipFor(null));
  $("map").addEventListener("blur", () => tipFor(null));
  $("map").addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    chooseTopic(circleTowards(event.key), true);
    tipFor(state.topic);
  });
  let width = 0;
  new ResizeObserver(() => {
    if (!$("map").clientWidth || $("map").clientWidth === width) return;
    width = $("map").clientWidth;
    drawMap();
  }).observe($("map"));
}
