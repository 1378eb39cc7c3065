// Topics by class: the shares of the topic chosen, and the topics of a class.

// Bars of [name, share], with a line at a share that all are compared to.
function drawBars(node, rows, line, label) {
  const width = node.clientWidth || 600;
  const [step, bar] = [24, 14];
  const left = Math.min(Math.max(...rows.map(([name]) => measured(name))) + 12, width * 0.45);
  const most = Math.max(...rows.map(([, share]) => share), line) || 1;
  const X = (share) => left + (share / most) * (width - left - 64);
  const height = rows.length * step + 22;
  const parts = [svg("title", {}, label)];
  rows.forEach(([name, share], at) => {
    const y = at * step;
    parts.push(
      svg("text", { x: left - 8, y: y + 16, "text-anchor": "end" }, shortened(name, left - 12)),
      svg("rect", { class: "bar", x: left, y: y + 4, width: Math.max(1, X(share) - left), height: bar, rx: 2 }),
      svg("text", { x: width - 2, y: y + 16, "text-anchor": "end" }, percent(share)));
  });
  parts.push(
    svg("line", { class: "mark", x1: X(line), x2: X(line), y1: 0, y2: rows.length * step }),
    svg("text", { x: X(line), y: height - 5, "text-anchor": "middle" }, "all documents"));
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  node.style.height = `${height}px`;
  node.setAttribute("aria-label", `${label}: ${rows.map(([name, share]) => `${name} ${percent(share)}`).join(", ")}`);
  node.replaceChildren(...parts);
}

function drawClasses() {
  if (!DATA.classes || $("classes").hidden) return;
  const { labels, share, overall } = DATA.classes;
  const i = state.topic;
  $("classes-topic").value = i;
  $("classes-name").textContent = `Topic ${TOPICS.number[i]}: ${inShort(i, 5)}`;
  const rows = labels.map((label, c) => [label, share[i][c]]);
  if ($("classes-order").value === "share") rows.sort((a, b) => b[1] - a[1]);
  drawBars($("classes-chart"), rows, overall[i], `Mean share of topic ${numberAndLabel(i)} in the documents of each class`);
}

function drawClass() {
  const c = Number($("class").value);
  const { share, overall, documents } = DATA.classes;
  const order = [...bySize].sort((a, b) => share[b][c] - share[a][c]).slice(0, 15);
  const most = share[order[0]][c] || 1;
  const times = (i) => (overall[i] ? `× ${(share[i][c] / overall[i]).toFixed(1)}` : "");
  $("class-topics").replaceChildren(
    el("p", { class: "note" }, `${count(documents[c])} document${documents[c] === 1 ? "" : "s"}. The last column compares with all documents.`),
    barRows(order.map((i) => [topicButton(TOPICS.number[i], 3), (100 * share[i][c]) / most, percent(share[i][c]), times(i)]), "share", "of all"));
}

const tableOfClasses = () => [
  ["topic", "label", "class", "documents", "mean share", "mean share of all documents"],
  ...bySize.flatMap((i) => DATA.classes.labels.map((label, c) =>
    [TOPICS.number[i], TOPICS.label[i], label, DATA.classes.documents[c], DATA.classes.share[i][c], DATA.classes.overall[i]])),
];

function startClasses() {
  $("classes-topic").append(...bySize.map((i) => el("option", { value: i }, nameOf(TOPICS.number[i], 3))));
  $("classes-topic").addEventListener("change", () => chooseTopic(Number($("classes-topic").value), false, true));
  $("classes-order").addEventListener("change", drawClasses);
  $("class").append(...DATA.classes.labels.map((label, c) => el("option", { value: c }, label)));
  $("class").addEventListener("change", drawClass);
  $("note-classes").textContent = DATA.notes.classes;
  $("classes-tools").append(downloads("topics by class", "topics-by-class", { table: tableOfClasses, picture: () => $("classes-chart") }));
  onShow.classes = () => {
    drawClasses();
    if (!$("class-topics").children.length) drawClass();
  };
}
