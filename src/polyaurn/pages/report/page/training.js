// How the model was trained: its trace, what the trace says, and what was run.

function drawTrace() {
  const { points, explanation, sentence, dominant, values, settled, ess } = DATA.training;
  $("verdict").replaceChildren(...(sentence ? [el("b", {}, sentence), " "] : []), explanation, ...(dominant ? [" ", dominant] : []));
  $("trace").toggleAttribute("hidden", points.length < 2);
  if (points.length < 2) return;
  const firstFull = points.findIndex(([, , full]) => full);
  const cut = firstFull < 0 ? points.length : firstFull;
  const xy = points.map(([sweep, level]) => [sweep, level]);
  const judged = xy.length - cut > 4 ? xy.slice(cut) : xy;
  const [low, high] = [Math.min(...judged.map(([, y]) => y)), Math.max(...xy.map(([, y]) => y))];
  const pad = (high - low) * 0.08 || 0.01;
  drawChart($("trace"), {
    curves: [
      { points: xy.slice(0, Math.min(cut + 1, xy.length)), kind: "early" },
      { points: xy.slice(cut) },
    ],
    shade: cut > 0 && [xy[0][0], xy[Math.min(cut, xy.length - 1)][0], "burn-in"],
    low: low - pad, high: high + pad,
    xTicks: ticks(xy[0][0], xy.at(-1)[0], 6).found.map((x) => [x, count(Math.round(x))]),
    format: (y, digits) => y.toFixed(digits).replace("-", "−"),
    label: "Log posterior per token, by sweep",
  });
  const parts = [`Log posterior per token, against sweeps; ${count(values)} values.`];
  if (cut > 0) parts.push("Burn-in has larger priors, or part of the documents.");
  if (points.some(([, y]) => y < low - pad)) parts.push("The lowest values lie below the chart.");
  if (ess !== null) parts.push(`Effective sample size of the second half: ${count(Math.round(ess))} of ${count(settled)}.`);
  $("note-trace").textContent = parts.join(" ");
}

function drawTopics() {
  const { sentence, points } = DATA.training.topics;
  $("topics-by-sweep").removeAttribute("hidden");
  $("topics-in-use").textContent = sentence;
  $("trace-topics").toggleAttribute("hidden", points.length < 2);
  if (points.length < 2) return;
  drawChart($("trace-topics"), {
    curves: [
      { points: points.map(([sweep, , large]) => [sweep, large]), kind: "early" },
      { points: points.map(([sweep, all]) => [sweep, all]) },
    ],
    low: 0, high: Math.max(...points.map(([, all]) => all)) * 1.05,
    xTicks: ticks(points[0][0], points.at(-1)[0], 6).found.map((x) => [x, count(Math.round(x))]),
    format: (y) => count(Math.round(y)),
    label: "Number of topics, by sweep",
  });
}

const tableOfTrace = () => [["sweep", "log posterior per token", "burn-in"],
  ...DATA.training.points.map(([sweep, level, full]) => [sweep, level, full ? 0 : 1])];

function startTraining() {
  $("trace-tools").append(downloads("the trace", "log-posterior", { table: tableOfTrace, ...(DATA.training.points.length > 1 ? { picture: () => $("trace") } : {}) }));
  $("facts-tools").append(downloads("what was run", "run", { table: () => [["name", "value"], ...DATA.facts] }));
  for (const [name, value] of DATA.facts) $("facts").append(el("dt", {}, name), el("dd", {}, value));
  onShow.training = () => {
    drawTrace();
    if (DATA.training.topics) drawTopics();
  };
}
