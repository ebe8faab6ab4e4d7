// The cues of all runs.

import { ask, href, keep } from "./address.js";
import { chance, command, el, search, select } from "./dom.js";

export async function showCues(query) {
  const wanted = { text: query.get("text") ?? "", kind: query.get("kind") ?? "" };
  const status = el("p", { role: "status" });
  const body = el("tbody");
  const change = (name) => (value) => {
    wanted[name] = value;
    keep("cues", wanted);
    return load();
  };

  async function load() {
    const answer = await ask("cues", wanted);
    const more = answer.pending ? `, ${answer.pending} runs are still being read` : "";
    const shown = answer.cues.length < answer.matching ? `the first ${answer.cues.length} of ` : "";
    status.textContent = `${shown}${answer.matching.toLocaleString()} cues${more}`;
    body.replaceChildren(...answer.cues.map(row));
    return answer;
  }

  const answer = await load();
  const head = ["Cue", "Label", "q", "Run", "Model"].map((title) => el("th", { scope: "col" }, title));
  return [
    el("h1", {}, "Cues of all runs"),
    el(
      "form",
      { class: "filters", onsubmit: (event) => event.preventDefault() },
      search("Search", wanted.text, change("text")),
      select("Kind", [["", "all"], ["finding", "findings"], ["doubt", "in doubt"]], wanted.kind, change("kind")),
    ),
    status,
    el("table", { class: "list" }, el("thead", {}, el("tr", {}, head)), body),
    command(answer.command),
  ];
}

function row(cue) {
  const samples = href("samples", { id: cue.id, feature: cue.feature, label: cue.label, side: "with" });
  const doubt = cue.in_doubt && el("span", { class: "note" }, " in doubt");
  const cells = [
    ["Cue", [el("a", { href: samples }, cue.name), doubt]],
    ["Label", cue.label ?? "all"],
    ["q", chance(cue.q_value)],
    ["Run", el("a", { href: href("run", { id: cue.id }) }, cue.run.run)],
    ["Model", cue.run.model],
  ];
  return el("tr", {}, cells.map(([title, cell]) => el("td", { "data-title": title }, cell)));
}
