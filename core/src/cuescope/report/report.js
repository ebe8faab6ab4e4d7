"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const cards = [...document.querySelectorAll("details.card")];

  // A link to a card opens it.
  const openTarget = () => {
    const target = location.hash && find(location.hash.slice(1));
    if (target && target.matches("details")) target.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  const toggle = find("toggle");
  if (toggle) {
    const name = () => {
      toggle.textContent = cards.every((card) => card.open) ? "Close all" : "Open all";
    };
    toggle.addEventListener("click", () => {
      const open = !cards.every((card) => card.open);
      cards.forEach((card) => { card.open = open; });
      name();
    });
    cards.forEach((card) => card.addEventListener("toggle", name));
    name();
    toggle.hidden = false;
  }

  const copy = find("copy");
  const command = find("command");
  const say = (words) => { find("copied").textContent = words; };
  const select = () => {
    getSelection().selectAllChildren(command);
    say("Selected: press Ctrl+C or Cmd+C to copy.");
  };
  copy.addEventListener("click", () => {
    if (!navigator.clipboard) return select();
    navigator.clipboard.writeText(command.textContent).then(() => say("Copied."), select);
  });
  copy.hidden = false;
})();
