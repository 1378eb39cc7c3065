// Search: topics by number, label or leading words; words, and documents by name.

const MOST_FOUND = 8;
const plainWords = WORDS.map((word) => word.toLowerCase());
const plainNames = DOCUMENTS.name.map((name) => name.toLowerCase());
let hits = [];
let hitAt = -1;

// Places of texts that hold the query: equal ones first, then those that begin with it.
function matches(texts, query, most) {
  const found = [];
  texts.forEach((text, i) => {
    const at = text.indexOf(query);
    if (at >= 0) found.push([text === query ? 0 : at === 0 ? 1 : 2, i]);
  });
  return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, most).map(([, i]) => i);
}

function findTopics(query) {
  const number = query.replace(/^topic\s*/, "");
  const byNumber = bySize.filter((i) => String(TOPICS.number[i]) === number);
  const byWords = bySize.filter((i) => !byNumber.includes(i) && query.split(/\s+/).every((part) =>
    [...firstWords[i], ...(TOPICS.label[i] ?? "").split(" ")].some((word) => word.toLowerCase().startsWith(part))));
  return [...byNumber, ...byWords].slice(0, MOST_FOUND);
}

function find(query) {
  const named = [...matches(plainWords, query, 4000)];
  named.sort((a, b) => (plainWords[b] === query) - (plainWords[a] === query)
    || plainWords[b].startsWith(query) - plainWords[a].startsWith(query) || DATA.words.count[b] - DATA.words.count[a]);
  return [
    ["Topics", findTopics(query).map((i) => [nameOf(TOPICS.number[i], 5), percent(shareOf(i)), () => goToTopic(i)])],
    ["Words", named.slice(0, MOST_FOUND).map((word) => [WORDS[word], `${count(DATA.words.count[word])} tokens`,
      () => { showTab("topics"); chooseWord(word); }])],
    ["Documents", matches(plainNames, query, MOST_FOUND).map((d) => [DOCUMENTS.name[d], tokensOf(d), () => goToDocument(d)])],
  ];
}

function showFound() {
  const query = $("search").value.trim().toLowerCase();
  hits = [];
  const parts = [];
  for (const [group, rows] of query ? find(query) : []) {
    if (rows.length) parts.push(el("div", { class: "group", role: "presentation" }, group));
    for (const [name, rest, open] of rows) {
      const option = el("div", { role: "option", id: `found-${hits.length}`, "aria-selected": "false" },
        el("span", { class: "cut" }, name), el("span", { class: "rest" }, rest));
      option.addEventListener("pointerdown", (event) => event.preventDefault()); // the input keeps the focus
      option.addEventListener("click", () => take(open));
      hits.push([option, open]);
      parts.push(option);
    }
  }
  if (query && !hits.length) parts.push(el("p", { class: "note group" }, `Nothing is called “${query}” here. ${DATA.notes.words}`));
  $("found").replaceChildren(...parts);
  unfold(Boolean(query));
  point(hits.length ? 0 : -1);
}

function unfold(open) {
  $("found").hidden = !open;
  $("search").setAttribute("aria-expanded", open);
}

function point(at) {
  hits[hitAt]?.[0].setAttribute("aria-selected", "false");
  hitAt = at;
  const option = hits[at]?.[0];
  if (!option) return $("search").removeAttribute("aria-activedescendant");
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  $("search").setAttribute("aria-activedescendant", option.id);
}

function take(open) {
  unfold(false);
  $("search").value = "";
  open();
}

function startSearch() {
  $("search").addEventListener("input", showFound);
  $("search").addEventListener("focus", () => $("search").value && showFound());
  $("search").addEventListener("blur", () => unfold(false));
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Escape") unfold(false);
    if (event.key === "Enter" && hits[hitAt] && !$("found").hidden) take(hits[hitAt][1]);
    if ((event.key !== "ArrowDown" && event.key !== "ArrowUp") || !hits.length) return;
    event.preventDefault();
    point((hitAt + (event.key === "ArrowDown" ? 1 : -1) + hits.length) % hits.length);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    $("search").focus();
  });
}
