// Elements made of parts. Text is always text: nothing of a run is ever taken for HTML.

export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, String(value));
  }
  const shown = children.flat(Infinity).filter((child) => child != null && child !== false);
  element.append(...shown.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

export function select(label, choices, value, change) {
  const box = el("select", { onchange: () => change(box.value) });
  for (const choice of choices) {
    const [key, words] = Array.isArray(choice) ? choice : [choice, choice];
    box.append(el("option", { value: key, selected: key === value }, words));
  }
  return el("label", { class: "field" }, label, box);
}

export function search(label, value, change) {
  let timer;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => change(box.value), 150);
  };
  const box = el("input", { type: "search", value, oninput: later, "data-search": true });
  return el("label", { class: "field wide" }, label, box);
}

// The line to type for what is shown; `title` says what it does where that is not plain.
export function command(words, title = "") {
  if (!words) return null;
  const said = el("span", { role: "status" });
  const copy = async () => {
    await navigator.clipboard.writeText(words);
    said.textContent = "copied";
  };
  const button = el("button", { type: "button", onclick: copy }, "Copy");
  return el("p", { class: "command" }, title, el("code", {}, words), button, said);
}

export function figure(value, digits = 2) {
  return value == null ? "–" : Number(value).toFixed(digits).replace("-", "−");
}

// A p-value as reports have it: a small one is not 0.
export function chance(value) {
  return value != null && value < 0.001 ? "<.001" : figure(value, 3);
}

export function percent([right, judged]) {
  return judged ? `${Math.round((100 * right) / judged)}% of ${judged.toLocaleString()} right` : "none judged";
}
