// All runs of the folder: searched, filtered, and two of them chosen for a comparison.

import { ask, href, keep, picture } from "./address.js";
import { command, el, search, select } from "./dom.js";

const COLUMNS = ["", "", "Verdict", "Method", "Model", "Data", "Impact", "Status", "Date"];
const AGAIN = 400; // milliseconds until a list that is not whole is asked for again

export async function showRuns(query, isCurrent) {
  const wanted = {
    text: query.get("text") ?? "",
    method: query.get("method") ?? "",
    data: query.get("data") ?? "",
    found: query.get("found") ?? "",
  };
  const chosen = new Set();
  const filters = el("form", { class: "filters", onsubmit: (event) => event.preventDefault() });
  const status = el("p", { role: "status" });
  const body = el("tbody");
  const compare = el("a", { class: "button", hidden: true }, "Compare the two");
  let listed = [];

  const change = (name) => (value) => {
    wanted[name] = value;
    keep("runs", wanted);
    draw();
  };

  function drawFilters() {
    const all = (name) => [["", "all"], ...new Set(listed.map((run) => run[name]))];
    filters.replaceChildren(
      search("Search", wanted.text, change("text")),
      select("Method", all("method"), wanted.method, change("method")),
      select("Data", all("data"), wanted.data, change("data")),
      select("Findings", [["", "all"], ["yes", "some"], ["no", "none"]], wanted.found, change("found")),
      compare,
    );
  }

  function draw() {
    const shown = listed.filter((run) => fits(run, wanted));
    status.textContent = `${shown.length.toLocaleString()} of ${listed.length.toLocaleString()} runs`;
    body.replaceChildren(...shown.map((run) => row(run, chosen, drawCompare)));
  }

  function drawCompare() {
    const [first, second] = chosen;
    compare.hidden = chosen.size !== 2;
    if (second) compare.href = href("compare", { first, second });
  }

  async function load() {
    const answer = await ask("runs");
    const whole = answer.pending === 0;
    // a list that is read while somebody types must not take the letters away
    const isFirst = listed.length === 0;
    listed = answer.runs;
    if (isFirst || whole) {
      const typing = filters.contains(document.activeElement);
      if (!typing) drawFilters();
    }
    draw();
    if (!whole) {
      status.append(`, ${answer.pending} more are being read`);
      setTimeout(() => isCurrent() && load(), AGAIN);
    } else {
      performance.mark("whole");
    }
    return answer;
  }

  const answer = await load();
  const head = COLUMNS.map((title) => (title ? el("th", { scope: "col" }, title) : el("td")));
  return [
    el("h1", {}, "Runs in ", answer.folder),
    filters,
    status,
    el("table", { class: "list" }, el("thead", {}, el("tr", {}, head)), body),
    command(answer.command),
  ];
}

function fits(run, wanted) {
  const words = `${run.run} ${run.verdict ?? ""} ${run.method} ${run.model} ${run.data}`.toLowerCase();
  const some = Number(run.findings) > 0;
  return (
    words.includes(wanted.text.toLowerCase()) &&
    (!wanted.method || run.method === wanted.method) &&
    (!wanted.data || run.data === wanted.data) &&
    (!wanted.found || some === (wanted.found === "yes"))
  );
}

function row(run, chosen, changed) {
  const choose = (event) => {
    if (event.target.checked) chosen.add(run.id);
    else chosen.delete(run.id);
    changed();
  };
  const box = el("input", { type: "checkbox", onchange: choose, "aria-label": `Compare ${run.run}` });
  box.checked = chosen.has(run.id);
  const stranger = run.made === "elsewhere" && el("span", { class: "note" }, " from elsewhere");
  const said = run.fault ?? run.verdict ?? "No cue found.";
  const verdict = [el("p", {}, el("strong", {}, said)), el("a", { href: href("run", { id: run.id }) }, run.run), stranger];
  const image = el("img", { src: picture("thumbnail", { id: run.id }), alt: "", loading: "lazy", width: 96, height: 96 });
  // a run that keeps no picture
  image.addEventListener("error", () => image.remove());
  const cells = [box, run.impact && image, verdict, run.method, run.model, run.data, run.impact ?? "–", run.status ?? "–", run.date];
  return el("tr", {}, cells.map((cell, place) => el("td", { "data-title": COLUMNS[place] }, cell)));
}
