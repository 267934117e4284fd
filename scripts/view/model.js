"use strict";
// The rows, what of them is wanted, and the address that says so. Nothing here touches the page.
const DATA = JSON.parse(document.getElementById("data").textContent);
const ITEMS = DATA.items;
const BY_ID = new Map(ITEMS.map((item) => [item.id, item]));
const GROUPS = new Map();
for (const item of ITEMS) {
  if (item.group) GROUPS.set(item.group, [...(GROUPS.get(item.group) || []), item]);
}

const fold = (text) => text.normalize("NFKC").toLowerCase();

function textOf(item) {
  if (item.folded === undefined) {
    const parts = [item.id, item.caption, item.note];
    const ask = (question) => parts.push(question.text, question.answer, ...Object.values(question.options || {}));
    (item.questions || []).forEach(ask);
    (item.facts || []).forEach((fact) => parts.push(fact[1]));
    for (const picture of item.pictures) {
      parts.push(picture.label, picture.about);
      (picture.questions || []).forEach(ask);
      (picture.facts || []).forEach((fact) => parts.push(fact[1]));
    }
    item.folded = fold(parts.filter(Boolean).join("\n"));
  }
  return item.folded;
}

// The address after "#": id, show (which picture), text, and each facet by its name.
function readAddress() {
  const query = new URLSearchParams(location.hash.slice(1));
  const state = { id: query.get("id"), show: query.get("show"), text: query.get("text") || "", facets: {} };
  for (const name of DATA.facets) state.facets[name] = query.getAll(name);
  return state;
}

function addressOf(state) {
  const query = new URLSearchParams();
  for (const name of DATA.facets) for (const value of state.facets[name]) query.append(name, value);
  if (state.text) query.set("text", state.text);
  if (state.id !== null) query.set("id", state.id);
  if (state.show) query.set("show", state.show);
  return "#" + query;
}

// What the page shows now. The address follows it at once, and it the address when that is changed
// from outside (Back, a link, a typed one).
let current = readAddress();

// A new address that Back leads away from, or the present one amended.
function go(state, { amend = false } = {}) {
  current = state;
  if (amend) location.replace(addressOf(state));
  else location.hash = addressOf(state);
  render();
}

function onAddress() {
  const state = readAddress();
  if (addressOf(state) === addressOf(current)) return;
  current = state;
  render();
}

function fitsText(item, words) {
  return words.every((word) => textOf(item).includes(word));
}

const fitsFacet = (facets, name, wanted) => !wanted.length || (facets[name] || []).some((value) => wanted.includes(value));

// Facets that differ from picture to picture of a row, and those that are the whole row's.
const PICTURED = DATA.facets.filter((name) => ITEMS.some((item) => item.pictures.some((picture) => (picture.facets || {})[name])));
const WHOLE = DATA.facets.filter((name) => !PICTURED.includes(name));

// The pictures that the grid may show of a row: those asked for, else the first that there is.
function pool(item, state) {
  const wanted = state.facets[DATA.pictureFacet] || [];
  const known = item.pictures.filter((picture) => picture.facets);
  return wanted.length ? known.filter((picture) => wanted.includes(picture.label)) : known.slice(0, 1);
}

const fitsPicture = (picture, state, but) =>
  PICTURED.every((name) => name === but || fitsFacet(picture.facets, name, state.facets[name]));

// Rows that fit all, and for each facet the counts of its values among rows that fit all else.
function select(state) {
  const words = fold(state.text).split(/\s+/).filter(Boolean);
  const counts = Object.fromEntries(DATA.facets.map((name) => [name, new Map()]));
  const found = [];
  for (const item of ITEMS) {
    if (!fitsText(item, words)) continue;
    const misses = WHOLE.filter((name) => !fitsFacet(item.facets, name, state.facets[name]));
    const pictureFits = !PICTURED.length || pool(item, state).some((picture) => fitsPicture(picture, state));
    const count = (name, values) => new Set(values).forEach((value) => counts[name].set(value, (counts[name].get(value) || 0) + 1));
    if (!misses.length && pictureFits) found.push(item);
    if (misses.length < 2 && pictureFits) for (const name of misses.length ? misses : WHOLE) count(name, item.facets[name] || []);
    for (const name of misses.length ? [] : PICTURED) {
      const pictures = name === DATA.pictureFacet ? item.pictures.filter((picture) => picture.facets) : pool(item, state);
      count(name, pictures.filter((picture) => fitsPicture(picture, state, name)).flatMap((picture) => picture.facets[name]));
    }
  }
  return { found, counts };
}

const isFiltered = (state) => Boolean(state.text) || DATA.facets.some((name) => state.facets[name].length);

// The picture of a row that the address or the filters ask for, by its number.
function wantedNumber(item, state) {
  const named = state.show ? item.pictures.findIndex((picture) => picture.label === state.show) : -1;
  if (named >= 0) return named;
  const fitting = PICTURED.length ? pool(item, state).find((picture) => fitsPicture(picture, state)) : undefined;
  return fitting ? item.pictures.indexOf(fitting) : 0;
}

// The picture that stands beside the first: one with something to look for, if none is asked for.
function besideNumber(item, state) {
  const others = item.pictures.slice(1);
  const best = [others.findIndex((picture) => picture.overlays), others.findIndex((picture) => picture.stored), 0];
  return wantedNumber(item, state) || 1 + best.find((number) => number >= 0);
}
