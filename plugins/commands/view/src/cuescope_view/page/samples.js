// The samples of a run; of a cue, those with it and those without it.

import { ask, href } from "./address.js";
import { el, percent } from "./dom.js";
import { said, sampleTable, wantedOf } from "./table.js";

const COLUMNS = [
  { title: "Sample", sort: "sample", cell: (line) => [el("span", { class: "key" }, line.sample), line.question && el("p", { class: "note" }, line.question)] },
  { title: "Label", sort: "label", cell: (line) => line.label ?? "–" },
  { title: "Answer", sort: "answer", cell: (line) => line.plain.answer ?? "–" },
  { title: "Right", sort: "correct", cell: (line) => (line.plain.correct == null ? "–" : line.plain.correct ? "✓" : "✗"), kind: (line) => (line.plain.correct === false ? "wrong" : null) },
  { title: "Confidence", sort: "confidence", cell: (line) => (line.plain.confidence == null ? "–" : `${Math.round(100 * line.plain.confidence)}%`) },
  { title: "Cue", cell: (line) => (line.with_cue == null ? "–" : line.with_cue ? "with" : "without") },
  { title: "Flipped", sort: "flipped", cell: (line) => (line.flipped == null ? "–" : line.flipped ? "yes" : "no") },
  { title: "Answered otherwise", cell: (line) => el("ul", { class: "others" }, line.others.map((other) => el("li", {}, `${other.condition}: `, said(other)))) },
];

export async function showSamples(query) {
  const wanted = wantedOf(query, ["id"]);
  let name;
  let run;
  const load = async (asked) => {
    const answer = await ask("samples", asked);
    ({ name, run } = answer);
    return answer;
  };
  const summary = ({ sides }) => (sides ? `With the cue ${percent(sides.with)}, without it ${percent(sides.without)}.` : "");
  const table = await sampleTable({ view: "samples", wanted, load, ids: { first: wanted.id }, columns: COLUMNS, summary });
  return [
    el("h1", {}, name ? `${name}: samples with it and without it` : "Samples"),
    el("p", {}, "Of the run ", el("a", { href: href("run", { id: wanted.id }) }, run), ". Flipped: in another condition of the run the answer is another one."),
    ...table,
  ];
}
