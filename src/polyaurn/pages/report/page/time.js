// Topics over time: a chart of the one chosen, and small ones of all; a word over time.

let timeShown = 24;
let trend = null; // the word whose curve is drawn
const drift = new Map(); // change of a topic's share between the halves of the time axis

function driftOf(i) {
  if (!drift.has(i)) {
    const half = Math.floor(DATA.time.labels.length / 2);
    drift.set(i, meanShare(i, half) - meanShare(i, 0, half));
  }
  return drift.get(i);
}

function meanShare(i, from, to) {
  const documents = DATA.time.documents.slice(from, to);
  const total = sum(documents.map((n, t) => n * DATA.time.share[i][from + t]));
  return total / (sum(documents) || 1);
}

const sum = (values) => values.reduce((total, v) => total + v, 0);

function drawShares(node, values, label) {
  drawChart(node, {
    curves: [{ points: values.map((v, t) => [t, v === null ? null : 100 * v]) }],
    low: 0, high: 100 * Math.max(...values) || 1, area: true,
    xTicks: DATA.time.labels.map((name, t) => [t, name]),
    format: (y, digits) => `${y.toFixed(digits)} %`,
    label,
  });
}

function drawTime() {
  if ($("time").hidden) return;
  const i = state.topic;
  $("time-name").textContent = `Topic ${TOPICS.number[i]}: ${inShort(i, 5)}`;
  drawShares($("time-chart"), DATA.time.share[i], `Mean share of topic ${numberAndLabel(i)} in documents, by ${DATA.time.unit}`);
}

function listTime() {
  const order = [...bySize];
  const by = $("time-order").value;
  if (by !== "size") order.sort((a, b) => (by === "rise" ? driftOf(b) - driftOf(a) : driftOf(a) - driftOf(b)));
  $("time-list").replaceChildren(...order.slice(0, timeShown).map((i) =>
    button({ click: () => { chooseTopic(i, false, true); scrollTo($("time-name").closest(".card")); } },
      el("span", { class: "cut" }, nameOf(TOPICS.number[i])), spark(DATA.time.share[i]))));
  $("time-more").hidden = timeShown >= order.length;
}

async function sharesOfWord(word) {
  const tokens = DATA.time.labels.map(() => 0);
  for (const [step, n] of pairsOf((await unpack("trends", 0))[word])) tokens[step] = n;
  return tokens.map((n, t) => [n, DATA.time.tokens[t] ? n / DATA.time.tokens[t] : null]);
}

async function drawTrend() {
  if ($("time").hidden || trend === null) return;
  const shares = await sharesOfWord(trend);
  $("trend-chart").removeAttribute("hidden");
  drawShares($("trend-chart"), shares.map(([, share]) => share), `Share of the word “${WORDS[trend]}” in all tokens, by ${DATA.time.unit}`);
  $("trend-says").textContent = `“${WORDS[trend]}”: ${count(sum(shares.map(([n]) => n)))} dated tokens; share of all tokens of each ${DATA.time.unit}.`;
}

function chooseTrend() {
  const query = $("trend-word").value.trim().toLowerCase();
  const word = plainWords.indexOf(query);
  $("trend-words").replaceChildren(...(query ? matches(plainWords, query, 20) : []).map((w) => el("option", { value: WORDS[w] })));
  if (word >= 0) {
    trend = word;
    $("trend-tools").hidden = false;
    drawTrend();
  } else if (query) $("trend-says").textContent = `No word “${query}” here yet; type on, or choose another. ${DATA.notes.words}`;
}

const tableOfTime = () => [
  ["topic", "label", DATA.time.unit, "documents", "mean share"],
  ...bySize.flatMap((i) => DATA.time.labels.map((label, t) =>
    [TOPICS.number[i], TOPICS.label[i], label, DATA.time.documents[t], DATA.time.share[i][t]])),
];

function startTrend() {
  if (!DATA.packs.trends) return $("trend").remove();
  $("trend-word").addEventListener("input", chooseTrend);
  $("trend-tools").append(downloads("the word over time", () => `word-${WORDS[trend]}`, {
    picture: () => $("trend-chart"),
    table: async () => [[DATA.time.unit, "tokens of the word", "all tokens", "share"],
      ...(await sharesOfWord(trend)).map(([n, share], t) => [DATA.time.labels[t], n, DATA.time.tokens[t], share])],
  }));
  const rising = leadingWords(bySize[0], DATA.lambda, 1)[0];
  if (rising) $("trend-word").placeholder = `Type a word, such as ${WORDS[rising.word]}`;
}

function startTime() {
  $("note-dates").textContent = `Mean share of a document, by ${DATA.time.unit}. ${DATA.notes.dates}`;
  $("time-tools").append(downloads("topics over time", "topics-over-time", { table: tableOfTime, picture: () => $("time-chart") }));
  $("time-order").addEventListener("change", listTime);
  $("time-more").addEventListener("click", () => {
    timeShown += 48;
    listTime();
  });
  startTrend();
  onShow.time = () => {
    drawTime();
    drawTrend();
    if (!$("time-list").children.length) listTime();
  };
}
