// Topics named and merged, by the program that serves the page, which saves both to the model.

const tokenOf = () => new URLSearchParams(location.search).get("token") ?? "";

async function change(path, wanted) {
  const headers = { "Content-Type": "application/json", "X-Polyaurn-Token": tokenOf() };
  const answer = await fetch(`${path}${location.search}`, { method: "POST", headers, body: JSON.stringify(wanted) });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
}

// Ask, and show the page that the program made of the changed model.
async function edit(form, path, wanted, number) {
  const controls = [...form.elements];
  const says = form.querySelector("[role=status]");
  for (const control of controls) control.disabled = true;
  says.textContent = "Saving …";
  try {
    await change(path, wanted);
    history.replaceState(null, "", `#topic-${number}`);
    location.reload();
  } catch (error) {
    says.textContent = error instanceof TypeError ? "The program that serves this page does not answer; is it still running?" : error.message;
    for (const control of controls) control.disabled = false;
  }
}

function editor(i) {
  const number = TOPICS.number[i];
  const label = el("input", { type: "text", id: "edit-label", maxlength: 100, value: TOPICS.label[i] ?? "", placeholder: wordsInShort(i, 3), autocomplete: "off" });
  const name = el("form", { class: "edit" }, el("label", { for: "edit-label" }, "Name"), label,
    el("button", { type: "submit" }, "Save"), el("p", { class: "note", role: "status" }));
  name.addEventListener("submit", (event) => {
    event.preventDefault();
    edit(name, "/rename", { topic: number, label: label.value }, number);
  });
  const others = [...new Set([...TOPICS.near[i], ...bySize.map((j) => TOPICS.number[j])])].filter((other) => other !== number);
  const other = el("select", { id: "edit-merge" }, ...others.map((n) => el("option", { value: n }, nameOf(n))));
  const merge = el("form", { class: "edit" }, el("label", { for: "edit-merge" }, "Merge with"), other,
    el("button", { type: "submit" }, "Merge …"), el("p", { class: "note", role: "status" }));
  merge.addEventListener("submit", async (event) => {
    event.preventDefault();
    const second = Number(other.value);
    if (await sure(`Merge topic ${nameOf(number)} with topic ${nameOf(second)}?`))
      edit(merge, "/merge", { topics: [number, second] }, Math.min(number, second));
  });
  return el("div", { class: "edits" }, name, ...(TOPICS.number.length > 2 ? [merge] : []));
}

function sure(question) {
  $("ask-what").textContent = question;
  $("ask").returnValue = "";
  $("ask").showModal();
  return new Promise((done) => $("ask").addEventListener("close", () => done($("ask").returnValue === "yes"), { once: true }));
}
