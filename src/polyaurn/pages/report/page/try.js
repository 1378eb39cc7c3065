// A text of the reader's: its topics, from the program that serves the page.

function showMixture({ topics, known, unknown }) {
  const total = known + unknown;
  const rows = topics.map(([number, share]) => [topicButton(number, 4), (100 * share) / topics[0][1], "", percent(share)]);
  $("try-found").replaceChildren(
    el("div", { class: "heading" }, el("h2", {}, "Its topics")),
    known ? barRows(rows, "", "of the text") : el("p", {}, "The model knows none of its words."),
    el("p", { class: "note" }, `${count(known)} of ${count(total)} tokens are of words that the model knows.`));
}

const MOST_BYTES = 1e6; // the server rejects more

async function askForTopics() {
  const body = new Blob([JSON.stringify({ text: $("try-text").value })], { type: "application/json" });
  if (body.size > MOST_BYTES) throw new Error("The text is too long; give a part of it.");
  const answer = await fetch(`/infer${location.search}`, { method: "POST", body });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

function startTry() {
  $("try-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const send = $("try-form").querySelector("button");
    send.disabled = true;
    try {
      showMixture(await askForTopics());
    } catch (error) {
      const reason = error instanceof TypeError ? "The program that serves this page does not answer; is it still running?" : error.message;
      $("try-found").replaceChildren(el("p", { role: "alert" }, reason));
    } finally {
      send.disabled = false;
    }
  });
}
