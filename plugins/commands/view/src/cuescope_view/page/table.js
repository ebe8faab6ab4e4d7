// The table of samples, of one run or of two: filters, sorting, pages, a picture in its size.

import { keep, picture } from "./address.js";
import { command, el, figure, percent, search, select } from "./dom.js";

const YES_NO = [["", "all"], ["yes", "yes"], ["no", "no"]];

// `view` names the view in the address, `wanted` is its query, `load` asks for the lines of it.
export async function sampleTable({ view, wanted, load, ids, columns, summary }) {
  const status = el("p", { role: "status" });
  const head = el("tr");
  const body = el("tbody");
  const pages = el("p", { class: "pages" });
  const large = el("dialog", { onclick: () => large.close() });
  const line = el("div");
  let turn = 0;

  async function update(changes, { sameFilters = false } = {}) {
    Object.assign(wanted, changes);
    if (!sameFilters) wanted.offset = 0;
    keep(view, wanted);
    await draw();
  }

  async function draw() {
    turn += 1;
    const mine = turn;
    const answer = await load(wanted);
    if (mine !== turn) return answer;
    status.textContent = `${answer.matching.toLocaleString()} of ${answer.total.toLocaleString()} samples, ${percent(answer.right)}. ${summary(answer)}`;
    head.replaceChildren(...columns.map(header));
    body.replaceChildren(...answer.lines.map(row));
    drawPages(answer);
    line.replaceChildren(command(answer.command));
    return answer;
  }

  function header(column) {
    if (!column.sort) return el("th", { scope: "col" }, column.title);
    const sorted = () => (wanted.sort || "sample") === column.sort;
    const falling = () => String(wanted.descending) === "true";
    // asked at the click: a second one may come before the first is drawn
    const turnAround = () => update({ sort: column.sort, descending: sorted() && !falling() });
    const [active, down] = [sorted(), falling()];
    const arrow = active ? (down ? " ↓" : " ↑") : "";
    const order = active ? (down ? "descending" : "ascending") : "none";
    return el("th", { scope: "col", "aria-sort": order }, el("button", { type: "button", onclick: turnAround }, column.title, arrow));
  }

  function row(sample) {
    const cells = columns.map((column) => {
      const cell = column.sort === "sample" ? [shown(sample), column.cell(sample)] : column.cell(sample);
      return el("td", { "data-title": column.title, class: column.kind?.(sample) }, cell);
    });
    return el("tr", { class: sample.flipped ? "flipped" : null }, cells);
  }

  function shown(sample) {
    if (!sample.picture) return el("span", { class: "no-picture", title: "The run keeps no picture of it" }, "no picture");
    const query = { id: ids[sample.picture], sample: sample.sample, feature: wanted.feature };
    const image = el("img", { src: picture("picture", query), alt: "", loading: "lazy", width: 96, height: 96 });
    const open = () => {
      large.replaceChildren(
        el("img", { src: picture("picture", { ...query, size: "large" }), alt: sample.sample }),
        el("p", {}, sample.sample),
        el("button", { type: "button", onclick: () => large.close() }, "Close"),
      );
      large.showModal();
    };
    return el("button", { type: "button", class: "picture", onclick: open, "aria-label": `Show ${sample.sample}` }, image);
  }

  function drawPages(answer) {
    const last = answer.offset + answer.lines.length;
    const move = (offset) => el("button", { type: "button", onclick: () => update({ offset }, { sameFilters: true }) });
    const before = move(Math.max(0, answer.offset - answer.count));
    const after = move(answer.offset + answer.count);
    before.append("Previous");
    after.append("Next");
    before.disabled = answer.offset === 0;
    after.disabled = last >= answer.matching;
    const words = answer.matching ? `${(answer.offset + 1).toLocaleString()} to ${last.toLocaleString()}` : "none";
    pages.replaceChildren(before, ` ${words} `, after);
  }

  const answer = await draw();
  const change = (name) => (value) => update({ [name]: value });
  const words = (all) => [["", "all"], ...all];
  const sides = [["all", "all"], ["with", "with the cue"], ["without", "without it"]];
  const atLeast = [["", "any"], ["0.5", "50%"], ["0.8", "80%"], ["0.95", "95%"]];
  const atMost = [["", "any"], ["0.5", "50%"], ["0.8", "80%"], ["0.95", "95%"]];
  const filters = el(
    "form",
    { class: "filters", onsubmit: (event) => event.preventDefault() },
    search("Search", wanted.text ?? "", change("text")),
    wanted.feature && select("Samples", sides, wanted.side ?? "all", change("side")),
    select("Label", words(answer.labels), wanted.label ?? "", change("label")),
    select("Answer", words(answer.answers), wanted.answer ?? "", change("answer")),
    select("Right", YES_NO, wanted.correct ?? "", change("correct")),
    select("Flipped", YES_NO, wanted.flipped ?? "", change("flipped")),
    select("Confidence from", atLeast, wanted.least ?? "", change("least")),
    select("Confidence to", atMost, wanted.most ?? "", change("most")),
  );
  return [filters, status, el("table", { class: "samples" }, el("thead", {}, head), body), pages, line, large];
}

export function said(answer) {
  const mark = answer.correct == null ? "" : answer.correct ? " ✓" : " ✗";
  const sure = answer.confidence == null ? "" : ` ${figure(100 * answer.confidence, 0)}%`;
  return [answer.answer ?? "–", mark, el("span", { class: "note" }, sure)];
}

export function wantedOf(query, names) {
  const wanted = {};
  for (const name of [...names, "feature", "side", "label", "answer", "correct", "flipped", "least", "most", "text", "sort", "descending", "offset"]) {
    if (query.get(name) != null) wanted[name] = query.get(name);
  }
  return wanted;
}
