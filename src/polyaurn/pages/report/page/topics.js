// Topics: the list, the words of the one chosen, its neighbours and documents; a word's topics.

let topicOrder = bySize;
const topicList = listbox($("topic-list"), (place, byKey) => chooseTopic(topicOrder[place], byKey));

function listTopics() {
  topicOrder = $("topic-order").value === "size" ? bySize : TOPICS.number.map((_, i) => i);
  const most = shareOf(bySize[0]) || 1;
  topicList.show(topicOrder.map((i) =>
    el("div", {},
      el("span", { class: "line" },
        el("b", {}, numberAndLabel(i)),
        el("span", { class: "under" }, percent(shareOf(i)))),
      el("span", { class: "cut" }, wordsInShort(i, 8)),
      el("span", { class: "track" }, el("i", { bar: (100 * shareOf(i)) / most })))));
  if (state.topic !== null) topicList.mark(topicOrder.indexOf(state.topic));
}

// By key, the address is replaced; where the reader stays, the page does not scroll to the topic.
function chooseTopic(i, byKey = false, stays = byKey) {
  state.topic = i;
  state.word = null;
  topicList.mark(topicOrder.indexOf(i));
  showTopic();
  aboutTopic();
  markMap();
  if (DATA.time) drawTime();
  drawClasses();
  follow(byKey);
  if (!stays && !following && narrow()) scrollTo($("topic"));
}

function goToTopic(i) {
  showTab("topics");
  chooseTopic(i);
}

// Rows of [name node, width in percent, tokens, share], under two headings.
function barRows(rows, first, second) {
  const list = el("ul", { class: "bars" });
  list.append(el("li", { "aria-hidden": "true" },
    ...["", "", first, second].map((text) => el("span", { class: "head" }, text))));
  for (const [name, width, tokens, share] of rows)
    list.append(el("li", {}, name,
      el("span", { class: "fill", bar: width }),
      el("span", { class: "number" }, tokens),
      el("span", { class: "number" }, share)));
  return list;
}

function showTopic() {
  const i = state.topic;
  const rows = el("div", { id: "topic-words" });
  $("topic").replaceChildren(
    el("div", { class: "heading" },
      el("h2", {}, `Topic ${numberAndLabel(i)}`),
      el("span", { class: "small" }, `${percent(shareOf(i))} of tokens`)),
    el("p", { class: "note" }, sizeOf(i)), ...(DATA.editable ? [editor(i)] : []), slider(rows), rows,
    el("p", { class: "tools" }, downloads("the words of the topic", `topic-${TOPICS.number[i]}-words`, { table: () => tableOfWords(i) })));
  drawWords(rows);
}

function tableOfWords(i) {
  return [["word", "tokens in the topic", "tokens in all", "relevance"],
    ...leadingWords(i, state.lambda).map(({ word, tokens, score }) => [WORDS[word], tokens, DATA.words.count[word], score])];
}

const tableOfTopics = () => [
  ["topic", "label", "tokens", "share", "documents", "words"],
  ...topicOrder.map((i) => [TOPICS.number[i], TOPICS.label[i], TOPICS.size[i], shareOf(i), TOPICS.documents[i], firstWords[i].join(" ")]),
];

function sizeOf(i) {
  const documents = TOPICS.documents[i];
  const tokens = `${count(TOPICS.size[i])} tokens`;
  return DOCUMENTS.all ? `${tokens} in ${count(documents)} document${documents === 1 ? "" : "s"}` : tokens;
}

function slider(rows) {
  const value = el("output", { for: "lambda" }, state.lambda.toFixed(1));
  const input = el("input", {
    type: "range", id: "lambda", min: 0, max: 1, step: 0.1, value: state.lambda,
    "aria-describedby": "lambda-says", "aria-valuetext": state.lambda.toFixed(1),
  });
  input.addEventListener("input", () => {
    state.lambda = Number(input.value);
    value.textContent = state.lambda.toFixed(1);
    input.setAttribute("aria-valuetext", state.lambda.toFixed(1));
    drawWords(rows);
  });
  const says = "Relevance: at 1 the most probable words of the topic, towards 0 those that are the topic's own.";
  return el("div", {},
    el("div", { class: "slider" }, el("label", { for: "lambda" }, "λ"), input, value),
    el("p", { class: "note", id: "lambda-says" }, says));
}

function drawWords(rows) {
  const i = state.topic;
  const words = leadingWords(i, state.lambda);
  const most = Math.max(...words.map(({ tokens }) => tokens), 1e-300);
  const shown = words.map(({ word, tokens }) => [
    button({ class: "word", title: WORDS[word], click: () => chooseWord(word) }, WORDS[word]),
    (100 * tokens) / most, count(tokens), percent(Math.min(1, tokens / (DATA.words.count[word] || 1))),
  ]);
  rows.replaceChildren(shown.length
    ? barRows(shown, "tokens", "of the word")
    : el("p", { class: "note" }, "No token has this topic."));
}

const EXPLAINED = 8; // documents listed with a topic

function tableOfExplained(i) {
  return [["document", "name", "tokens", "tokens of the topic", "share"],
    ...documentsOf[i].slice(0, EXPLAINED).map(([d, tokens]) => [DOCUMENTS.number[d], DOCUMENTS.name[d], DOCUMENTS.tokens[d], tokens, standing([d, tokens])])];
}

function aboutTopic() {
  const i = state.topic;
  const parts = [el("div", { class: "heading" }, el("h2", {}, `Around topic ${numberAndLabel(i)}`))];
  if (TOPICS.near[i].length)
    parts.push(el("h3", {}, "Nearest topics, by the words they share"), el("div", { class: "links" },
      ...TOPICS.near[i].map((number) =>
        button({ click: () => chooseTopic(INDEX_OF.get(number)) }, nameOf(number)))));
  if (DATA.time) parts.push(el("h3", {}, `Mean share of documents, ${DATA.time.labels[0]} to ${DATA.time.labels.at(-1)}`), spark(DATA.time.share[i]));
  const documents = documentsOf[i].slice(0, EXPLAINED);
  if (documents.length)
    parts.push(el("h3", {}, "Documents that the topic explains best"), el("div", { class: "links column" },
      ...documents.map(([d, tokens]) => button({ click: () => goToDocument(d) },
        el("span", { class: "line" },
          el("span", { class: "cut" }, nameOfDocument(d)),
          el("span", { class: "rest" }, `${percent(standing([d, tokens]))} of ${count(DOCUMENTS.tokens[d])} tokens`)),
        ...snippetOf(d)))),
    el("p", { class: "tools" }, downloads("the documents that the topic explains best", `topic-${TOPICS.number[i]}-documents`, { table: () => tableOfExplained(i) })));
  $("topic-about").hidden = parts.length === 1;
  $("topic-about").replaceChildren(...parts);
}

const tableOfTopicsOfWord = (word) => [["topic", "label", "tokens of the word", "share"],
  ...pairsOf(DATA.words.topics[word]).map(([number, tokens]) => [number, labelOf(number), tokens, Math.min(1, tokens / DATA.words.count[word])])];

function chooseWord(word) {
  state.word = word;
  const found = pairsOf(DATA.words.topics[word]);
  const total = DATA.words.count[word];
  const rows = found.map(([number, tokens]) => {
    const i = INDEX_OF.get(number);
    const name = i === undefined
      ? el("span", {}, `Topic ${number}`)
      : button({ class: "word", click: () => chooseTopic(i) }, nameOf(number, 2));
    return [name, (100 * tokens) / found[0][1], count(tokens), percent(Math.min(1, tokens / total))];
  });
  $("topic").replaceChildren(
    el("div", { class: "heading" }, el("h2", {}, `“${WORDS[word]}”`),
      el("span", { class: "small" }, `${count(total)} token${total === 1 ? "" : "s"}`)),
    el("p", { class: "note" }, "Topics that hold most of the word, at most five."),
    barRows(rows, "tokens", "of the word"),
    el("p", { class: "tools" }, downloads("the topics of the word", `word-${WORDS[word]}-topics`, { table: () => tableOfTopicsOfWord(word) })),
    button({ id: "back-to-topic", click: () => chooseTopic(state.topic) }, `Back to topic ${numberAndLabel(state.topic)}`));
  markMap();
  follow();
  if (narrow() && !following) scrollTo($("topic"));
}

function startTopics() {
  $("topics-tools").append(downloads("the table of topics", "topics", { table: tableOfTopics }));
  $("topic-order").addEventListener("change", listTopics);
  listTopics();
}
