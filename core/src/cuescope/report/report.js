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

  const search = find("search");
  if (search) {
    const list = document.querySelector(".cards");
    const rows = [...list.children].map((item, rank) => ({
      item, rank,
      n: Number(item.firstElementChild.dataset.n),
      name: item.querySelector(".name").textContent,
      words: item.querySelector("h3").textContent.toLowerCase(),
      finding: item.firstElementChild.classList.contains("finding"),
    }));
    const orders = {
      rank: (a, b) => a.rank - b.rank,
      name: (a, b) => a.name.localeCompare(b.name),
      n: (a, b) => b.n - a.n || a.rank - b.rank,
    };
    const filter = () => {
      const wanted = search.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row) => {
        const fits = row.words.includes(wanted) && (row.finding || !find("only").checked);
        row.item.hidden = !fits;
        shown += fits;
      });
      find("matching").textContent = `${shown} of ${rows.length}`;
    };
    search.addEventListener("input", filter);
    find("only").addEventListener("change", filter);
    find("sort").addEventListener("change", (event) => {
      list.append(...rows.toSorted(orders[event.target.value]).map((row) => row.item));
    });
    document.querySelector(".filter").hidden = false;
    filter();
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
