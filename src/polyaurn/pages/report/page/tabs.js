// The parts of the report, one shown at a time; arrow keys move between their tabs.

const tabs = [];
const onShow = {}; // called when a part comes into view, since charts need its width

function startTabs(hidden) {
  for (const section of document.querySelectorAll("main > section")) {
    if (hidden.includes(section.id)) {
      section.remove();
      continue;
    }
    const tab = button({ role: "tab", id: `tab-${section.id}`, "aria-controls": section.id }, section.dataset.tab);
    tab.addEventListener("click", () => openTab(section.id));
    section.setAttribute("role", "tabpanel");
    section.setAttribute("aria-labelledby", tab.id);
    tabs.push(tab);
  }
  $("tabs").append(...tabs);
  $("tabs").addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    openTab(tab.getAttribute("aria-controls"));
    tab.focus();
  });
}

// Returns whether there is such a part.
function showTab(id) {
  if (!$(`tab-${id}`)) return false;
  for (const tab of tabs) {
    const on = tab.getAttribute("aria-controls") === id;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !on;
    if (on) $("tabs").scrollLeft = tab.offsetLeft - 80; // on a phone not all fit
  }
  shownTab = id;
  quietly(() => onShow[id]?.());
  return true;
}

function openTab(id) {
  if (showTab(id)) follow();
}
