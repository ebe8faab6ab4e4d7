// One run: what it found, its cues and their names, its checks, and what to do next.

import { ask, href, tell } from "./address.js";
import { chance, command, el, figure } from "./dom.js";

export async function showRun(query) {
  const id = query.get("id");
  const run = await ask("run", { id });
  const body = el("tbody");
  const said = el("div", { "aria-live": "polite" });
  const draw = (cues) => body.replaceChildren(...cues.map((cue) => row(cue)));

  function row(cue) {
    const rename = () => {
      place.replaceChildren(naming(cue));
      place.querySelector("input").focus();
    };
    const place = el("div");
    const star = cue.doubt ? "? " : cue.finding ? "★ " : "";
    const samples = href("samples", { id, feature: cue.feature, label: cue.label, side: cue.places ? "with" : "all" });
    const own = cue.given && el("span", { class: "note" }, ` (the run: ${cue.own_name})`);
    const button = el("button", { type: "button", onclick: rename, "aria-label": `Name ${cue.name}` }, "Name");
    const cells = [
      ["Cue", [star, el("a", { href: samples }, cue.name), own, " ", button, place]],
      ["Label", cue.label ?? "all"],
      ["Value", figure(cue.value)],
      ["Interval", cue.low == null ? "–" : `${figure(cue.low)} to ${figure(cue.high)}`],
      ["n", cue.n ?? "–"],
      ["q", chance(cue.q)],
    ];
    return el("tr", {}, cells.map(([title, cell]) => el("td", { "data-title": title }, cell)));
  }

  function naming(cue) {
    const box = el("input", { value: cue.given ? cue.name : "", maxlength: 200, "aria-label": `Name of ${cue.own_name}` });
    const save = async (event) => {
      event.preventDefault();
      try {
        const answer = await tell("name", { run: id, feature: cue.feature, name: box.value });
        draw(answer.cues);
        const line = answer.cues.find((other) => other.feature === cue.feature && other.naming)?.naming;
        const words = box.value.trim() ? "The name is kept." : "The name is taken back.";
        said.replaceChildren(el("p", {}, words, line ? " A mitigation takes it so:" : ""), command(line) ?? "");
      } catch (error) {
        said.replaceChildren(el("p", { role: "alert" }, error.message));
      }
    };
    return el("form", { class: "naming", onsubmit: save }, box, el("button", {}, "Keep"));
  }

  draw(run.cues);
  const head = ["Cue", "Label", run.metric?.title ?? "Value", "Interval", "n", "q"].map((title) => el("th", { scope: "col" }, title));
  const elsewhere = "Made on another machine, or edited: shown read-only. `confirm` and `mitigate` ask for --model and --data. If it is yours, set CUESCOPE_OWN_RUNS to the folder of notes that has it.";
  return [
    el("h1", {}, run.run),
    el("p", {}, `${run.title}${/[.?!]$/.test(run.title) ? "" : "."} ${run.method}: ${run.model} on ${run.data}, ${run.samples.toLocaleString()} samples, ${run.started.slice(0, 10)}.`),
    el("p", { class: "links" }, el("a", { class: "button", href: href("samples", { id }) }, "All samples")),
    el("h2", {}, "What it found"),
    run.claims.length ? el("ul", {}, run.claims.map((words) => el("li", {}, words))) : el("p", {}, run.notes.result ?? "No cue."),
    el("h2", {}, "Cues"),
    el("p", { class: "note" }, "★ is a finding, ? one that a doubt holds back."),
    said,
    el("table", { class: "list" }, el("thead", {}, el("tr", {}, head)), body),
    el("h2", {}, "Checks"),
    run.checks.length ? el("ul", {}, run.checks.map((check) => el("li", {}, el("strong", {}, check.verdict), ` ${check.check}: ${check.detail}`))) : el("p", {}, "None."),
    el("h2", {}, "Next"),
    el("ul", {}, run.steps.map(([words, line]) => el("li", {}, words, line && command(line)))),
    command(run.audit, "The audit: "),
    command(run.command, "This report: "),
    run.made === "elsewhere" && el("p", { class: "note" }, elsewhere),
  ];
}
