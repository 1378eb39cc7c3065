// Topics over time: a chart of the one chosen, and small ones of all.

let timeShown = 24;
const drift = new Map(); // change of a topic's share between the halves of the time axis

function sharesOverTime(i) {
  return DATA.time.counts[i].map((tokens, t) => tokens / (DATA.time.totals[t] || 1));
}

function driftOf(i) {
  if (!drift.has(i)) {
    const half = Math.floor(DATA.time.labels.length / 2);
    const share = (from, to) => sum(DATA.time.counts[i].slice(from, to)) / (sum(DATA.time.totals.slice(from, to)) || 1);
    drift.set(i, share(half) - share(0, half));
  }
  return drift.get(i);
}

const sum = (values) => values.reduce((total, v) => total + v, 0);

function drawTime() {
  if ($("time").hidden) return;
  const i = state.topic;
  const values = sharesOverTime(i);
  $("time-name").textContent = `Topic ${TOPICS.number[i]}: ${inShort(i, 5)}`;
  drawChart($("time-chart"), {
    curves: [{ points: values.map((v, t) => [t, 100 * v]) }],
    low: 0, high: 100 * Math.max(...values) || 1, area: true,
    xTicks: DATA.time.labels.map((label, t) => [t, label]),
    format: (y, digits) => `${y.toFixed(digits)} %`,
    label: `Share of tokens of topic ${numberAndLabel(i)} by ${DATA.time.unit}`,
  });
}

function listTime() {
  const order = [...bySize];
  const by = $("time-order").value;
  if (by !== "size") order.sort((a, b) => (by === "rise" ? driftOf(b) - driftOf(a) : driftOf(a) - driftOf(b)));
  $("time-list").replaceChildren(...order.slice(0, timeShown).map((i) =>
    button({ click: () => { chooseTopic(i, true); scrollTo($("time-name").closest(".card")); } },
      el("span", { class: "cut" }, nameOf(TOPICS.number[i])), spark(sharesOverTime(i)))));
  $("time-more").hidden = timeShown >= order.length;
}

function startTime() {
  $("note-dates").textContent = `By ${DATA.time.unit}. ${DATA.notes.dates}`;
  $("time-order").addEventListener("change", listTime);
  $("time-more").addEventListener("click", () => {
    timeShown += 48;
    listTime();
  });
  onShow.time = () => {
    drawTime();
    if (!$("time-list").children.length) listTime();
  };
}
