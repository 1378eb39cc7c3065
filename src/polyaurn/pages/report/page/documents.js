// Documents: a list of those shown, and the topics and words of the one chosen.

const TOPICS_SHOWN = 6; // of a document whose words are shown
let documentOrder = [];
const documentList = listbox($("document-list"), (place, byKey) => chooseDocument(documentOrder[place], byKey));

// A document's mixture as one bar of colours.
function mixtureOf(d) {
  let at = 0;
  const stops = pairsOf(DOCUMENTS.mixture[d]).map(([number, tokens]) => {
    const [from, to] = [at, at + (100 * tokens) / DOCUMENTS.tokens[d]];
    at = to;
    return `oklch(${0.58 + 0.06 * toneOf(number)} .11 ${hueOf(number)}) ${from.toFixed(1)}% ${to.toFixed(1)}%`;
  });
  return stops.length ? `linear-gradient(90deg, ${stops.join(", ")}, transparent ${at.toFixed(1)}%)` : "none";
}

function tokensOf(d) {
  const date = DOCUMENTS.date?.[d];
  const tokens = `${count(DOCUMENTS.tokens[d])} token${DOCUMENTS.tokens[d] === 1 ? "" : "s"}`;
  return date ? `${date} · ${tokens}` : tokens;
}

// A name that is only the number says nothing beside a text.
const nameOfDocument = (d) => (DOCUMENTS.name[d] && DOCUMENTS.name[d] !== String(DOCUMENTS.number[d]) ? DOCUMENTS.name[d] : `Document ${DOCUMENTS.number[d]}`);
const snippetOf = (d) => (DOCUMENTS.snippet?.[d] ? [el("span", { class: "snippet" }, DOCUMENTS.snippet[d])] : []);

function listDocuments() {
  const chosen = $("document-topic").value;
  documentOrder = chosen === "" ? DOCUMENTS.name.map((_, d) => d) : documentsOf[Number(chosen)].map(([d]) => d);
  documentList.show(documentOrder.map((d) => {
    const bar = el("span", { class: "mix" });
    bar.style.backgroundImage = mixtureOf(d);
    return el("div", {}, el("span", { class: "cut" }, nameOfDocument(d)), ...snippetOf(d),
      el("span", { class: "under" }, tokensOf(d)), bar);
  }));
  if (documentOrder.includes(state.document)) documentList.mark(documentOrder.indexOf(state.document));
}

function chooseDocument(d, byKey = false) {
  state.document = d;
  documentList.mark(documentOrder.indexOf(d));
  const body = DOCUMENTS.snippet ? [textOf(d)] : DOCUMENTS.bag ? bagOf(d) : [];
  $("document").replaceChildren(
    el("div", { class: "heading" },
      el("h2", {}, nameOfDocument(d)),
      el("span", { class: "small" }, tokensOf(d), downloads("the topics of the document", `document-${DOCUMENTS.number[d]}`, { table: () => tableOfMixture(d) }))),
    ...mixtureRows(d), ...body);
  follow(byKey);
  if (!byKey && !following && narrow()) scrollTo($("document"));
}

const labelOf = (number) => TOPICS.label[INDEX_OF.get(number)] ?? "";

const tableOfMixture = (d) => [["topic", "label", "tokens", "share"],
  ...pairsOf(DOCUMENTS.mixture[d]).map(([number, tokens]) => [number, labelOf(number), tokens, tokens / DOCUMENTS.tokens[d]])];

const tableOfDocuments = () => [["document", "name", "date", "tokens", "topic", "its label", "tokens of the topic", "text begins"],
  ...documentOrder.map((d) => {
    const [number, tokens] = DOCUMENTS.mixture[d];
    return [DOCUMENTS.number[d], DOCUMENTS.name[d], DOCUMENTS.date?.[d], DOCUMENTS.tokens[d], number, labelOf(number), tokens, DOCUMENTS.snippet?.[d]];
  })];

// The text of a document, unpacked when it is opened; words of its main topics are coloured.
function textOf(d) {
  const node = el("div", { class: "text", "aria-busy": "true" });
  const main = pairsOf(DOCUMENTS.mixture[d]).slice(0, TOPICS_SHOWN).map(([number]) => number);
  unpack("texts", Math.floor(d / DOCUMENTS.block)).then((block) => {
    const [text, topics] = block[d % DOCUMENTS.block];
    text.split("\u007f").forEach((piece, at) => {
      const number = topics[(at - 1) / 2];
      if (at % 2 === 0) node.append(piece);
      else if (!main.includes(number)) node.append(el("span", { class: "other", title: `topic ${nameOf(number)}` }, piece));
      else node.append(el("span", { topic: number, "data-topic": number, title: `topic ${nameOf(number)}` }, piece));
    });
    node.removeAttribute("aria-busy");
  });
  return node;
}

// Only the words of one topic stand out while its row is pointed at.
function single(number) {
  for (const word of $("document").querySelectorAll(".text span"))
    word.classList.toggle("faded", number !== null && word.dataset.topic !== String(number));
}

function goToDocument(d) {
  showTab("documents");
  if (!documentOrder.includes(d)) {
    $("document-topic").value = "";
    listDocuments();
  }
  chooseDocument(d);
}

function topicButton(number, most) {
  const i = INDEX_OF.get(number);
  return i === undefined ? el("span", {}, `Topic ${number}`) : button({ class: "word", click: () => goToTopic(i) }, nameOf(number, most));
}

function mixtureRows(d) {
  const found = pairsOf(DOCUMENTS.mixture[d]);
  if (!found.length) return [el("p", { class: "note" }, "The document has no tokens.")];
  const list = el("ul", { class: "bars" });
  for (const [number, tokens] of found.slice(0, DOCUMENTS.bag || DOCUMENTS.snippet ? TOPICS_SHOWN : 12)) {
    const row = el("li", {}, topicButton(number, 3),
      el("span", { class: "fill", bar: (100 * tokens) / found[0][1], topic: number }),
      el("span", { class: "number" }, count(tokens)),
      el("span", { class: "number" }, percent(tokens / DOCUMENTS.tokens[d])));
    for (const [event, shown] of [["pointerover", number], ["focusin", number], ["pointerout", null], ["focusout", null]])
      row.addEventListener(event, () => single(shown));
    list.append(row);
  }
  return [list, el("p", { class: "note" }, DOCUMENTS.snippet ? DATA.notes.texts : DATA.notes.bags)];
}

// A negative number says how often the word before it occurs.
function wordsOf(group) {
  const words = [];
  for (const n of group.slice(1)) {
    if (n < 0) words.at(-1)[1] = -n;
    else words.push([n, 1]);
  }
  return words;
}

function bagOf(d) {
  const groups = DOCUMENTS.bag[d].map((group) => {
    const words = wordsOf(group);
    const bag = el("div", { class: "bag" });
    for (const [word, times] of words) {
      const chip = el("span", {}, WORDS[word]);
      chip.style.fontSize = `${Math.min(24, 13 + 3 * Math.log2(times)).toFixed(1)}px`;
      if (times > 1) chip.append(el("sub", {}, `×${times}`));
      bag.append(chip);
    }
    const i = INDEX_OF.get(group[0]);
    const name = el("span", {}, i === undefined ? `Topic ${group[0]}` : nameOf(group[0], 4));
    const head = button({ click: () => i !== undefined && goToTopic(i) }, el("i", { class: "dot" }), name);
    return [words.reduce((sum, [, times]) => sum + times, 0),
      el("div", { class: "group-of-words", topic: group[0] }, head, bag)];
  });
  const shown = groups.reduce((sum, [tokens]) => sum + tokens, 0);
  const rest = DOCUMENTS.tokens[d] - shown;
  const note = rest > 0 ? [el("p", { class: "note" }, `A long document: its most frequent words, ${count(shown)} of ${count(DOCUMENTS.tokens[d])} tokens.`)] : [];
  return [...groups.map(([, node]) => node), ...note];
}

function startDocuments() {
  $("documents-tools").append(downloads("the table of documents", "documents", { table: tableOfDocuments }));
  $("note-documents").textContent = DATA.notes.documents;
  $("document-topic").append(el("option", { value: "" }, "all topics"),
    ...bySize.filter((i) => documentsOf[i].length).map((i) => el("option", { value: i }, nameOf(TOPICS.number[i], 2))));
  $("document-topic").addEventListener("change", listDocuments);
  let listed = false;
  onShow.documents = () => {
    if (!listed) listDocuments();
    listed = true;
    if (state.document === null && documentOrder.length) chooseDocument(documentOrder[0], true);
  };
}
