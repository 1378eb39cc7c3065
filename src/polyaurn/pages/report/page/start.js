// Begin: notes, tabs, and what the address asks for.

function start() {
  startTheme();
  const facts = Object.fromEntries(DATA.facts);
  $("sizes").textContent = ["Topics", "Documents", "Words", "Tokens"]
    .map((name) => `${facts[name]} ${name.toLowerCase().slice(0, facts[name] === "1" ? -1 : undefined)}`).join(" · ");
  for (const name of ["topics", "map"]) $(`note-${name}`).textContent = DATA.notes[name];
  startTabs([
    ...(DOCUMENTS.all ? [] : ["documents"]), ...(DATA.time ? [] : ["time"]), ...(DATA.classes ? [] : ["classes"]),
    ...(SIMILAR ? [] : ["similar"]), ...(DATA.served ? [] : ["try"]),
  ]);
  startTopics();
  startMap();
  if (DOCUMENTS.all) startDocuments();
  if (DATA.time) startTime();
  if (DATA.classes) startClasses();
  if (SIMILAR) startSimilar();
  startTraining();
  startSearch();
  if (DATA.served) startTry();
  startAddress();
  addEventListener("resize", () => onShow[shownTab]?.());
}

start();
