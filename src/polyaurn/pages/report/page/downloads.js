// Tables as CSV, pictures as SVG and PNG, made here; nothing is asked of a server.

const KEPT_STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "stroke-linecap",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "opacity", "image-rendering",
];

function save(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Text that a spreadsheet would run as a formula begins with an apostrophe.
function cell(value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "").replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvOf = (rows) => `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;

// A picture that needs no style sheet.
function pictureOf(node) {
  const copy = node.cloneNode(true);
  const [from, to] = [[node, ...node.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((original, i) => {
    const style = getComputedStyle(original);
    for (const name of KEPT_STYLES) to[i].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["id", "class", "style", "tabindex", "role"]) to[i].removeAttribute(name);
  });
  const { width, height } = node.getBoundingClientRect();
  const [x, y, w, h] = (node.getAttribute("viewBox") ?? `0 0 ${width} ${height}`).split(" ").map(Number);
  const back = svg("rect", { x, y, width: w, height: h });
  back.setAttribute("fill", getComputedStyle(node.closest(".card")).backgroundColor);
  copy.prepend(back);
  for (const [name, value] of [["xmlns", SVG], ["width", w], ["height", h]]) copy.setAttribute(name, value);
  return { text: new XMLSerializer().serializeToString(copy), width: w, height: h };
}

async function pngOf(node) {
  const { text, width, height } = pictureOf(node);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = el("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// Buttons for a table, a function that returns rows, and for a picture, a function that returns its node.
function downloads(what, name, { table, picture }) {
  const file = (ending) => `${(typeof name === "function" ? name() : name).replace(/[^\p{L}\p{N}]+/gu, "-")}.${ending}`;
  const kinds = [];
  if (table) kinds.push(["CSV", async () => new Blob([csvOf(await table())], { type: "text/csv" })]);
  if (picture) {
    kinds.push(["SVG", async () => new Blob([pictureOf(picture()).text], { type: "image/svg+xml" })]);
    kinds.push(["PNG", () => pngOf(picture())]);
  }
  return el("span", { class: "downloads", role: "group", "aria-label": `Download ${what}` }, ...kinds.map(([kind, make]) =>
    button({ title: `Download ${what} as ${kind}`, "aria-label": `Download ${what} as ${kind}`,
      click: async () => save(file(kind.toLowerCase()), await make()) }, kind)));
}
