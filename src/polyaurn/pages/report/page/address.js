// The address follows what is shown, so that Back works and links can be shared.

let following = false; // the page is being set to an address, which then stands already
let shownTab = "topics";

const byTab = {
  topics: () => (state.word === null ? `topic-${TOPICS.number[state.topic]}` : `word-${encodeURIComponent(WORDS[state.word])}`),
  documents: () => (state.document === null ? "tab-documents" : `document-${DOCUMENTS.number[state.document]}`),
  time: () => `time-${TOPICS.number[state.topic]}`,
  classes: () => `classes-${TOPICS.number[state.topic]}`,
};

// Steps by keys replace the entry of the history; a reader who holds an arrow key makes one.
function follow(inPlace = false) {
  const address = `#${(byTab[shownTab] ?? (() => `tab-${shownTab}`))()}`;
  if (following || location.hash === address) return;
  try {
    history[inPlace ? "replaceState" : "pushState"](null, "", address);
  } catch {
    return; // a frame without an address of its own
  }
}

// Do something that the address is not to follow step by step.
function quietly(action) {
  const before = following;
  following = true;
  try {
    action();
  } finally {
    following = before;
  }
}

function parts(hash) {
  const [, kind, rest] = hash.match(/^#([a-z]+)(?:-(.+))?$/) || [];
  return [kind, rest];
}

const routes = {
  topic: (rest) => showTab("topics") && chooseTopic(INDEX_OF.get(Number(rest)) ?? bySize[0], true),
  tab: (rest) => showTab(rest) || routes.topic(), // browsers scroll to the tab, so to the top
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
  const route = routes[kind];
  if (!route && hash) return; // as the link that skips to the content
  quietly(() => {
    if (state.topic === null) chooseTopic(bySize[0], true);
    (route ?? routes.topic)(rest);
  });
}

function startAddress() {
  goTo(location.hash);
  if (state.topic === null) goTo(""); // the address asks for nothing that is here
  addEventListener("popstate", () => goTo(location.hash));
}
