// Topics over time: a chart of the one chosen, and small ones of all.

let timeShown = 24;
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

function drawTime() {
  if ($("time").hidden) return;
  const i = state.topic;
  const values = DATA.time.share[i];
  $("time-name").textContent = `Topic ${TOPICS.number[i]}: ${inShort(i, 5)}`;
  drawChart($("time-chart"), {
    curves: [{ points: values.map((v, t) => [t, 100 * v]) }],
    low: 0, high: 100 * Math.max(...values) || 1, area: true,
    xTicks: DATA.time.labels.map((label, t) => [t, label]),
    format: (y, digits) => `${y.toFixed(digits)} %`,
    label: `Mean share of topic ${numberAndLabel(i)} in documents, by ${DATA.time.unit}`,
  });
}

function listTime() {
  const order = [...bySize];
  const by = $("time-order").value;
  if (by !== "size") order.sort((a, b) => (by === "rise" ? driftOf(b) - driftOf(a) : driftOf(a) - driftOf(b)));
  $("time-list").replaceChildren(...order.slice(0, timeShown).map((i) =>
    button({ click: () => { chooseTopic(i, true); scrollTo($("time-name").closest(".card")); } },
      el("span", { class: "cut" }, nameOf(TOPICS.number[i])), spark(DATA.time.share[i]))));
  $("time-more").hidden = timeShown >= order.length;
}

function startTime() {
  $("note-dates").textContent = `Mean share of a document, by ${DATA.time.unit}. ${DATA.notes.dates}`;
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
