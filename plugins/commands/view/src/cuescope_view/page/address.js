// What is shown stands in the part of the address behind #, so that Back and bookmarks work.

export function current() {
  const [, view, query] = location.hash.match(/^#\/(\w*)\??(.*)$/) ?? [null, "runs", ""];
  return { view: view || "runs", query: new URLSearchParams(query) };
}

export function href(view, query = {}) {
  const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value != null && value !== ""));
  return words.size ? `#/${view}?${words}` : `#/${view}`;
}

// Of a filter: no new entry for Back with each letter. Letters are waited for: who left the view
// meanwhile is not taken back to it.
export function keep(view, query) {
  if (current().view !== view) return;
  history.replaceState(null, "", href(view, query));
}

export async function ask(path, query = {}) {
  const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value != null && value !== ""));
  return answer(await fetch(`api/${path}?${words}`));
}

export async function tell(path, content) {
  return answer(await fetch(`api/${path}`, { method: "POST", body: JSON.stringify(content) }));
}

export function picture(path, query) {
  return `api/${path}?${new URLSearchParams(Object.entries(query).filter(([, value]) => value != null))}`;
}

async function answer(response) {
  const content = await response.json();
  if (!response.ok) throw new Error(content.error ?? response.statusText);
  return content;
}
