// Line charts: one curve, or an early part and a late part of one.

function ticks(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step) found.push(v);
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

const path = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

// Points in runs without a gap, which is where y is null. A point between gaps comes twice: a line of no length is a dot.
function runsOf(points) {
  const runs = [[]];
  for (const point of points) {
    if (point[1] !== null) runs.at(-1).push(point);
    else if (runs.at(-1).length) runs.push([]);
  }
  return runs.filter((run) => run.length).map((run) => (run.length > 1 ? run : [run[0], run[0]]));
}

// curves: [{ points: [[x, y], ...], kind }]; xTicks: [[x, label], ...]; shade: [from, to, label]
function drawChart(node, { curves, low, high, xTicks, format, label, area, shade }) {
  const [width, height] = [node.clientWidth || 600, node.clientHeight || 280];
  const [left, right, top, bottom] = [58, 14, 10, 26];
  const xs = curves.flatMap(({ points }) => points.map(([x]) => x));
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const X = (x) => left + ((x - first) / (last - first || 1)) * (width - left - right);
  const Y = (y) => height - bottom - ((y - low) / (high - low || 1)) * (height - top - bottom);
  const parts = [svg("title", {}, label)];
  if (shade) {
    parts.push(svg("rect", { class: "shade", x: X(shade[0]), y: top, width: X(shade[1]) - X(shade[0]), height: height - top - bottom }));
    parts.push(svg("text", { x: X(shade[0]) + 8, y: top + 16 }, shade[2]));
  }
  const scale = ticks(low, high, 4);
  for (const y of scale.found) {
    parts.push(svg("line", { class: "grid", x1: left, x2: width - right, y1: Y(y), y2: Y(y) }));
    parts.push(svg("text", { x: left - 8, y: Y(y) + 4, "text-anchor": "end" }, format(y, scale.digits)));
  }
  const widest = Math.max(...xTicks.map(([, text]) => text.length)) * 7 + 16;
  const stride = Math.ceil((xTicks.length * widest) / (width - left - right + widest));
  xTicks.forEach(([x, text], i) => {
    const half = text.length * 3.5;
    const at = Math.min(X(x), width - half);
    if (i % stride === 0) parts.push(svg("text", { x: at, y: height - 6, "text-anchor": "middle" }, text));
  });
  const [w, h] = [width - left - right, height - top - bottom];
  const inside = svg("svg", { x: left, y: top, width: w, height: h, viewBox: `${left} ${top} ${w} ${h}` });
  parts.push(inside); // cuts off what lies below the lowest value
  for (const { points, kind } of curves) {
    const floor = height - bottom;
    for (const run of runsOf(points)) {
      const placed = run.map(([x, y]) => [X(x), Y(y)]);
      if (area) inside.append(svg("polygon", { class: "area", points: path([[placed[0][0], floor], ...placed, [placed.at(-1)[0], floor]]) }));
      inside.append(svg("polyline", { class: `curve ${kind || ""}`, points: path(placed) }));
    }
  }
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  node.setAttribute("aria-label", label);
  node.replaceChildren(...parts);
}

// A small curve from zero to its highest, without axes.
function spark(values) {
  const most = Math.max(...values) || 1;
  const points = values.map((v, i) => [(100 * i) / (values.length - 1 || 1), v === null ? null : 38 - (36 * v) / most]);
  return svg("svg", { class: "spark", viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" },
    ...runsOf(points).map((run) => svg("polyline", { class: "curve", points: path(run) })));
}
