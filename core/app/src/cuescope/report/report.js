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

  // Pictures enlarge; arrow keys walk through those of the page.
  const views = [...document.querySelectorAll(".enlarge")];
  if (views.length) {
    const dialog = document.createElement("dialog");
    const large = document.createElement("img");
    const frame = document.createElement("div");
    frame.className = "large";
    frame.append(large);
    const caption = document.createElement("p");
    dialog.append(frame, caption);
    document.body.append(dialog);
    let position = 0;
    const show = (index) => {
      position = (index + views.length) % views.length;
      const image = views[position].querySelector("img");
      large.src = image.src;
      large.alt = image.alt;
      frame.querySelector(".outline")?.remove();
      const outline = views[position].querySelector(".outline");
      if (outline) frame.append(outline.cloneNode(true));
      caption.textContent = [...views[position].closest("figure").querySelector("figcaption").children].map((part) => part.textContent.trim()).join(" · ");
    };
    views.forEach((view, index) => view.addEventListener("click", () => { show(index); dialog.showModal(); }));
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) { event.preventDefault(); show(position + step); }
    });
    dialog.addEventListener("close", () => views[position].focus());
  }

  const copy = find("copy");
  if (copy) {  // a page of a stranger's run shows no command
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
  }
})();
