// Two runs side by side, sample by sample.

import { ask, href } from "./address.js";
import { el, percent } from "./dom.js";
import { said, sampleTable, wantedOf } from "./table.js";

const COLUMNS = [
  { title: "Sample", sort: "sample", cell: (line) => [el("span", { class: "key" }, line.sample), line.question && el("p", { class: "note" }, line.question)] },
  { title: "Label", sort: "label", cell: (line) => line.label ?? "–" },
  { title: "First run", sort: "answer", cell: (line) => said(line.plain), kind: (line) => (line.plain.correct === false ? "wrong" : null) },
  { title: "Second run", cell: (line) => said(line.others[0]), kind: (line) => (line.others[0].correct === false ? "wrong" : null) },
  { title: "First's confidence", sort: "confidence", cell: (line) => (line.plain.confidence == null ? "–" : `${Math.round(100 * line.plain.confidence)}%`) },
  { title: "Flipped", sort: "flipped", cell: (line) => (line.flipped ? "yes" : "no") },
];

export async function showCompare(query) {
  const wanted = wantedOf(query, ["first", "second"]);
  wanted.sort ??= "flipped";
  wanted.descending ??= wanted.sort === "flipped";
  let folders = {};
  const load = async (asked) => {
    const answer = await ask("compare", asked);
    folders = { first: answer.first, second: answer.second };
    return answer;
  };
  const summary = (answer) => {
    const unlike = answer.unlike ? ` ${answer.unlike.toLocaleString()} are left out: their pictures differ in the two runs.` : "";
    return `Of all, the second run has ${percent(answer.second_right)}; ${answer.flips.toLocaleString()} flipped.${unlike}`;
  };
  const ids = { first: wanted.first, second: wanted.second };
  const table = await sampleTable({ view: "compare", wanted, load, ids, columns: COLUMNS, summary });
  return [
    el("h1", {}, "Two runs side by side"),
    el("p", {}, "First: ", el("a", { href: href("run", { id: wanted.first }) }, folders.first), ". Second: ", el("a", { href: href("run", { id: wanted.second }) }, folders.second), ". What is more than chance, the command says."),
    ...table,
  ];
}
