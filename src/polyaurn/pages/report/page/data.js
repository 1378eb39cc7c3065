// What the page knows, and what follows from it. Topics are indices here, numbers on the page.

const DATA = JSON.parse($("data").textContent);
const TOPICS = DATA.topics;
const WORDS = DATA.words.text.split("\n");
const DOCUMENTS = DATA.documents;
const INDEX_OF = new Map(TOPICS.number.map((number, i) => [number, i]));
const state = { topic: null, word: null, document: null, lambda: DATA.lambda };

const betaOf = (word) => (typeof DATA.beta.each === "number" ? DATA.beta.each : DATA.beta.each[word]);
const shareOf = (i) => TOPICS.size[i] / (DATA.tokens || 1);

// Words are ranked by their tokens and the pseudo-counts of seeds; only tokens are shown.
const SEEDS = DATA.seeds;

function relevance(i, at, lambda) {
  const word = TOPICS.words[i][at];
  const [inCell, inSize, inWord, inAll] = SEEDS
    ? [SEEDS.topics[i][at], SEEDS.sizes[i], SEEDS.words[word], SEEDS.total] : [0, 0, 0, 0];
  const inTopic = Math.log((TOPICS.counts[i][at] + inCell + betaOf(word)) / (TOPICS.size[i] + inSize + DATA.beta.sum));
  const overall = Math.log((DATA.words.count[word] + inWord) / (DATA.tokens + inAll));
  return lambda * inTopic + (1 - lambda) * (inTopic - overall);
}

// The first words of a topic at a lambda: [word, tokens in the topic], equal ones by word.
function leadingWords(i, lambda, most = DATA.shown) {
  return TOPICS.words[i]
    .map((word, at) => ({ word, tokens: TOPICS.counts[i][at], score: relevance(i, at, lambda) }))
    .sort((a, b) => b.score - a.score || a.word - b.word)
    .slice(0, most);
}

const firstWords = TOPICS.words.map((_, i) => leadingWords(i, DATA.lambda, 8).map(({ word }) => WORDS[word]));
const wordsInShort = (i, most = 3) => firstWords[i].slice(0, most).join(" ") || "no tokens";
// A topic is named by the label that a reader gave it, or by its first words.
const inShort = (i, most = 3) => TOPICS.label[i] ?? wordsInShort(i, most);
const numberAndLabel = (i) => (TOPICS.label[i] === null ? `${TOPICS.number[i]}` : `${TOPICS.number[i]}: ${TOPICS.label[i]}`);
const bySize = TOPICS.number.map((_, i) => i).sort((a, b) => TOPICS.size[b] - TOPICS.size[a] || a - b);

function nameOf(number, most = 3) {
  const i = INDEX_OF.get(number);
  return i === undefined ? `Topic ${number}` : `${number}  ${inShort(i, most)}`;
}

// Lists of topic, tokens, topic, tokens, ... as pairs.
function pairsOf(flat) {
  const pairs = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i], flat[i + 1]]);
  return pairs;
}

// Documents of each topic, by share; the prior's weight keeps the shortest from leading.
const documentsOf = TOPICS.number.map(() => []);
DOCUMENTS.mixture.forEach((flat, d) => {
  for (const [number, tokens] of pairsOf(flat)) documentsOf[INDEX_OF.get(number)]?.push([d, tokens]);
});
const standing = ([d, tokens]) => tokens / (DOCUMENTS.tokens[d] + DATA.alpha);
for (const found of documentsOf) found.sort((a, b) => standing(b) - standing(a) || a[0] - b[0]);
