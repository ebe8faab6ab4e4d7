// The samples of a run; of a cue, those with it and those without it.

import { ask, href, tell } from "./address.js";
import { command, el, percent } from "./dom.js";
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

// A person says which samples show a cue: marks stay while filters and pages change.
function marking(run) {
  const marks = new Map();
  const count = el("span", { role: "status" }, "No sample is marked.");
  const said = el("div", { "aria-live": "polite" });
  const name = el("input", { maxlength: 200, required: true, "aria-label": "Name of the cue" });
  const of = (side) => [...marks].filter(([, mark]) => mark === side).map(([key]) => key);

  function button(key, side, other) {
    const draw = (pressed) => pressed.setAttribute("aria-pressed", String(marks.get(key) === side));
    const click = (event) => {
      if (marks.get(key) === side) marks.delete(key);
      else marks.set(key, side);
      for (const each of event.currentTarget.parentNode.children) each.draw(each);
      count.textContent = `${of("with").length} with the cue, ${of("without").length} without it.`;
    };
    const pressed = el("button", { type: "button", onclick: click, "aria-label": `${key}: ${side}${other}` }, side);
    pressed.draw = draw;
    draw(pressed);
    return pressed;
  }

  async function save(event) {
    event.preventDefault();
    try {
      const kept = await tell("cue", { run, name: name.value, shown: of("with"), others: of("without") });
      said.replaceChildren(
        el("p", {}, `Kept as ${kept.file}.`),
        command(kept.measure, "What it changes: "),
        command(kept.choose, "Or let the samples choose among what the run found: "),
      );
    } catch (error) {
      said.replaceChildren(el("p", { role: "alert" }, error.message));
    }
  }

  const column = { title: "Mark", cell: (line) => el("div", { class: "marks" }, button(line.sample, "with", " the cue"), button(line.sample, "without", " the cue")) };
  const form = el("form", { class: "naming", onsubmit: save }, el("label", {}, "A cue of your own: mark samples, name it ", name), el("button", {}, "Save"), count);
  return { column, parts: [form, said] };
}

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
  const marked = marking(wanted.id);
  const table = await sampleTable({ view: "samples", wanted, load, ids: { first: wanted.id }, columns: [...COLUMNS, marked.column], summary });
  return [
    el("h1", {}, name ? `${name}: samples with it and without it` : "Samples"),
    el("p", {}, "Of the run ", el("a", { href: href("run", { id: wanted.id }) }, run), ". Flipped: in another condition of the run the answer is another one."),
    ...marked.parts,
    ...table,
  ];
}
