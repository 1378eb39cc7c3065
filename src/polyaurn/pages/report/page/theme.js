// Light and dark: as the system has it, until the button is used; then as it was left.

function currentTheme() {
  return document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function nameTheme() {
  const other = currentTheme() === "dark" ? "Light" : "Dark";
  $("theme").textContent = other;
  $("theme").setAttribute("aria-label", `${other} colours`);
}

function keep(theme) {
  try {
    localStorage.setItem("polyaurn-theme", theme);
  } catch {
    return; // a browser that keeps nothing for files
  }
}

function kept() {
  try {
    return localStorage.getItem("polyaurn-theme");
  } catch {
    return null;
  }
}

const onTheme = []; // called when colours change, by pictures that do not follow them

function tellTheme() {
  nameTheme();
  for (const redraw of onTheme) redraw();
}

function startTheme() {
  if (kept() === "dark" || kept() === "light") document.documentElement.dataset.theme = kept();
  nameTheme();
  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
    keep(document.documentElement.dataset.theme);
    tellTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellTheme);
}
