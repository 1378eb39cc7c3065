// Begin: notes, tabs, the largest topic, or what the address asks for.

function goTo(hash) {
  const [, kind, number] = hash.match(/^#(topic|document)-(\d+)$/) || [];
  const d = DOCUMENTS.number.indexOf(Number(number));
  if (kind === "document" && d >= 0) {
    chooseTopic(bySize[0], true);
    return goToDocument(d);
  }
  const i = kind === "topic" ? INDEX_OF.get(Number(number)) : undefined;
  openTab("topics");
  chooseTopic(i ?? bySize[0], true);
}

function start() {
  startTheme();
  const facts = Object.fromEntries(DATA.facts);
  $("sizes").textContent = ["Topics", "Documents", "Words", "Tokens"]
    .map((name) => `${facts[name]} ${name.toLowerCase().slice(0, facts[name] === "1" ? -1 : undefined)}`).join(" · ");
  for (const name of ["topics", "map"]) $(`note-${name}`).textContent = DATA.notes[name];
  startTabs([
    ...(DOCUMENTS.all ? [] : ["documents"]), ...(DATA.time ? [] : ["time"]), ...(DATA.served ? [] : ["try"]),
  ]);
  startTopics();
  startMap();
  if (DOCUMENTS.all) startDocuments();
  if (DATA.time) startTime();
  startTraining();
  startSearch();
  if (DATA.served) startTry();
  goTo(location.hash);
  addEventListener("hashchange", () => /^#(topic|document)-/.test(location.hash) && goTo(location.hash));
  addEventListener("resize", () => {
    if (DATA.time) drawTime();
    if (!$("training").hidden) drawTrace();
  });
}

start();
