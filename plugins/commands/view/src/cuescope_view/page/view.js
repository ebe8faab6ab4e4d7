// The page: which view the address names, keys that work everywhere, and what went wrong.

import { current } from "./address.js";
import { showCompare } from "./compare.js";
import { showCues } from "./cues.js";
import { el } from "./dom.js";
import { showRun } from "./run.js";
import { showRuns } from "./runs.js";
import { showSamples } from "./samples.js";

const VIEWS = {
  runs: showRuns,
  cues: showCues,
  run: showRun,
  samples: showSamples,
  compare: showCompare,
};
const content = document.getElementById("content");
let turn = 0;

async function show() {
  if (!location.hash.startsWith("#/") && location.hash) return; // the skip link
  turn += 1;
  const mine = turn;
  const { view, query } = current();
  for (const link of document.querySelectorAll("nav a")) {
    link.toggleAttribute("aria-current", link.hash === `#/${view}`);
  }
  content.setAttribute("aria-busy", "true");
  let shown;
  try {
    const showView = VIEWS[view] ?? showRuns;
    shown = await showView(query, () => mine === turn);
  } catch (error) {
    shown = [el("h1", {}, "This cannot be shown"), el("p", { role: "alert" }, error.message)];
  }
  if (mine !== turn) return; // another view was asked for meanwhile
  content.replaceChildren(...shown.filter(Boolean));
  content.removeAttribute("aria-busy");
  document.title = `${content.querySelector("h1")?.textContent ?? "runs"} · cuescope view`;
  performance.mark("shown");
}

addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "/" && !typing) {
    const box = content.querySelector("[data-search]");
    if (box) {
      event.preventDefault();
      box.focus();
    }
  }
});
show();
