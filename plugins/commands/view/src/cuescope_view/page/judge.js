// The sheet of `cuescope label`, a question at a time.

import { ask, href, picture, tell } from "./address.js";
import { command, el } from "./dom.js";

export async function showJudge(query, isCurrent) {
  const id = query.get("id");
  const sheet = await ask("sheet", { id });
  const link = el("p", {}, "Of the run ", el("a", { href: href("run", { id }) }, sheet.run), ".");
  if (!sheet.questions) {
    return [
      el("h1", {}, "No sheet to fill in yet"),
      link,
      el("p", {}, "This command writes one, with a picture for each question. Then load this page again."),
      command(sheet.command),
    ];
  }
  const { questions } = sheet;
  let number = Math.max(0, questions.findIndex((question) => !question.answer));
  const place = el("section", { "aria-live": "polite" });
  const status = el("p", { role: "status" });

  async function say(word) {
    const question = questions[number];
    const answer = question.answer === word ? "" : word; // a second time takes it back
    try {
      await tell("answer", { run: id, number: question.number, answer });
      question.answer = answer;
      if (answer && number + 1 < questions.length) number += 1;
      draw();
    } catch (error) {
      status.textContent = error.message;
    }
  }

  function move(step) {
    number = Math.min(questions.length - 1, Math.max(0, number + step));
    draw();
  }

  function draw() {
    const question = questions[number];
    const done = questions.filter((other) => other.answer).length;
    status.textContent = `Question ${number + 1} of ${questions.length}, ${done} answered`;
    const choices = question.choices.map((word, index) => {
      const pressed = question.answer === word;
      return el("button", { type: "button", "aria-pressed": pressed, onclick: () => say(word) }, word, el("kbd", {}, index + 1));
    });
    const image = el("img", { class: "large", src: picture("sheet-picture", { id, number: question.number }), alt: "What the question is about" });
    place.replaceChildren(
      el("h2", {}, question.question),
      question.text ? el("p", {}, question.text) : "",
      image,
      el("p", { class: "choices" }, choices),
      el("p", { class: "pages" }, el("button", { type: "button", onclick: () => move(-1), disabled: number === 0 }, "Previous ←"), " ", el("button", { type: "button", onclick: () => move(1), disabled: number + 1 === questions.length }, "Next →")),
    );
  }

  const press = (event) => {
    if (!isCurrent()) {
      removeEventListener("keydown", press);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
    const word = questions[number].choices[Number(event.key) - 1];
    if (event.key === "ArrowLeft") move(-1);
    else if (event.key === "ArrowRight") move(1);
    else if (word) say(word);
  };
  addEventListener("keydown", press);
  draw();
  return [
    el("h1", {}, "Judge what the run says"),
    link,
    el("p", { class: "note" }, "The run's own answer is not shown. Keys: 1, 2 ... answer, ← and → move. Each answer is written into the sheet at once."),
    status,
    place,
    command(sheet.command),
  ];
}
