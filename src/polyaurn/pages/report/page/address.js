// The address follows what is shown, so that Back works and links can be shared.

let following = false; // the page is being set to an address, which then stands already
let shownTab = "topics";

const byTab = {
  topics: () => (state.word === null ? `topic-${TOPICS.number[state.topic]}` : `word-${encodeURIComponent(WORDS[state.word])}`),
  documents: () => (state.document === null ? "documents" : `document-${DOCUMENTS.number[state.document]}`),
  time: () => `time-${TOPICS.number[state.topic]}`,
  classes: () => `classes-${TOPICS.number[state.topic]}`,
};

// Steps by keys replace the entry of the history; a reader who holds an arrow key makes one.
function follow(inPlace = false) {
  const address = `#${(byTab[shownTab] ?? (() => shownTab))()}`;
  if (following || location.hash === address) return;
  try {
    history[inPlace ? "replaceState" : "pushState"](null, "", address);
  } catch {
    following = false; // a frame without an address of its own
  }
}

function parts(hash) {
  const [, kind, rest] = hash.match(/^#([a-z]+)(?:-(.+))?$/) || [];
  return [kind, rest];
}

const routes = {
  topic: (rest) => showTab("topics") && chooseTopic(INDEX_OF.get(Number(rest)) ?? bySize[0], true),
  topics: () => routes.topic(),
  word: (rest) => {
    const word = WORDS.indexOf(decoded(rest));
    routes.topic(state.topic === null ? undefined : TOPICS.number[state.topic]);
    if (word >= 0) chooseWord(word);
  },
  document: (rest) => {
    const d = DOCUMENTS.number.indexOf(Number(rest));
    if (d < 0) showTab("documents");
    else goToDocument(d);
  },
  time: (rest) => showTab("time") && chooseTopic(INDEX_OF.get(Number(rest)) ?? state.topic, true),
  classes: (rest) => showTab("classes") && chooseTopic(INDEX_OF.get(Number(rest)) ?? state.topic, true),
};

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a link that was cut inside a letter
  }
}

function goTo(hash) {
  const [kind, rest] = parts(hash);
  const tab = tabs.some((t) => t.getAttribute("aria-controls") === kind);
  const route = routes[kind] ?? (tab ? () => showTab(kind) : null);
  if (!route && hash) return; // as the link that skips to the content
  following = true;
  try {
    if (state.topic === null) chooseTopic(bySize[0], true);
    (route ?? routes.topic)(rest);
  } finally {
    following = false;
  }
}

function startAddress() {
  goTo(routes[parts(location.hash)[0]] || parts(location.hash)[0] ? location.hash : "");
  if (state.topic === null) goTo("");
  addEventListener("popstate", () => goTo(location.hash));
}
