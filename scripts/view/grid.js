// The grid of thumbnails and its filters.
const $ = (id) => document.getElementById(id);
const CHUNK = 96;
let marked = false;
let listed = [];
let rendered = 0;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name === "onclick") element.addEventListener("click", value);
    else if (name.startsWith("aria-")) element.setAttribute(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

const words = (text, name, tag = "span") => make(tag, { dir: "auto", class: name }, text);
const clamp = (ratio) => Math.min(2.4, Math.max(0.6, ratio));

function thumbOf(picture) {
  return (marked && picture.marked) || picture.thumb;
}

function cellOf(item, state) {
  const picture = item.pictures[wantedNumber(item, state)];
  const thumb = thumbOf(picture);
  const ratio = clamp(thumb ? thumb.width / thumb.height : 4 / 3);
  const inside = thumb
    ? make("img", {
        loading: "lazy", decoding: "async", src: thumb.path, width: thumb.width, height: thumb.height,
        alt: `Picture of row ${item.id}`,
      })
    : make("span", { class: "none" }, picture.about || "No picture");
  const address = addressOf({ ...state, id: item.id, show: null });
  return make(
    "a", { class: "cell", href: address, "--ratio": ratio.toFixed(3) },
    make("span", { class: "pic" }, inside), words(item.caption, "cap"), words(picture.note || item.note || "", "note"),
  );
}

// Cells are made as the reader comes near the end of those that are there.
const nearEnd = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting) && rendered < listed.length) renderMore(current);
}, { rootMargin: "1500px" });

function renderMore(state, upTo = rendered + CHUNK) {
  const fragment = document.createDocumentFragment();
  for (; rendered < Math.min(upTo, listed.length); rendered += 1) fragment.append(cellOf(listed[rendered], state));
  $("grid").append(fragment);
  // Observed anew, it tells again whether the end is still near.
  nearEnd.unobserve($("more"));
  nearEnd.observe($("more"));
}

function renderGrid(state, found) {
  listed = found;
  rendered = 0;
  $("grid").replaceChildren();
  renderMore(state);
  $("nothing").hidden = Boolean(found.length);
}

// Filters are made once; only their counts and states change, so that the focus stays where it is.
const valueButtons = new Map();

function makeFilters(all) {
  for (const name of DATA.facets) {
    const values = [...new Set([...(DATA.orders[name] || []), ...all[name].keys()])].filter((value) => all[name].has(value));
    if (values.length < 2) continue;
    const box = make("div", { class: "values" });
    for (const value of values) {
      const count = make("span");
      const explained = ((DATA.explained || {})[name] || {})[value];
      const button = make(
        "button", { type: "button", class: "value", onclick: () => toggleValue(name, value) },
        make("span", {}, words(value), explained ? words(explained, "explained") : null), count,
      );
      valueButtons.set(JSON.stringify([name, value]), { button, count });
      box.append(button);
    }
    $("filters").append(make("fieldset", {}, make("legend", {}, name), box));
  }
}

function toggleValue(name, value) {
  const chosen = current.facets[name];
  const values = chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value];
  go({ ...current, facets: { ...current.facets, [name]: values } }, { amend: true });
}

function renderFilters(state, counts) {
  for (const [key, { button, count }] of valueButtons) {
    const [name, value] = JSON.parse(key);
    const pressed = state.facets[name].includes(value);
    const rows = counts[name].get(value) || 0;
    button.setAttribute("aria-pressed", pressed);
    button.disabled = !rows && !pressed;
    count.textContent = rows.toLocaleString("en");
  }
  const chosen = DATA.facets.reduce((sum, name) => sum + state.facets[name].length, 0);
  $("open-filters").textContent = chosen ? `Filters (${chosen})` : "Filters";
  if ($("text").value !== state.text) $("text").value = state.text;
}

function renderCount(state, found) {
  const all = ITEMS.length.toLocaleString("en");
  const noun = ITEMS.length === 1 ? DATA.noun : DATA.nouns;
  $("count").textContent = isFiltered(state) ? `${found.length.toLocaleString("en")} of ${all} ${noun}` : `${all} ${noun}`;
  $("clear").hidden = !isFiltered(state);
}
