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
      parts.push(picture.label);
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

function fitsFacet(item, name, wanted) {
  return !wanted.length || (item.facets[name] || []).some((value) => wanted.includes(value));
}

// Rows that fit all, and for each facet the counts of its values among rows that fit all else.
function select(state) {
  const words = fold(state.text).split(/\s+/).filter(Boolean);
  const counts = Object.fromEntries(DATA.facets.map((name) => [name, new Map()]));
  const found = [];
  for (const item of ITEMS) {
    if (!fitsText(item, words)) continue;
    const misses = DATA.facets.filter((name) => !fitsFacet(item, name, state.facets[name]));
    if (!misses.length) found.push(item);
    for (const name of misses.length ? misses : DATA.facets) {
      if (misses.length > 1) break;
      for (const value of item.facets[name] || []) {
        counts[name].set(value, (counts[name].get(value) || 0) + 1);
      }
    }
  }
  return { found, counts };
}

const isFiltered = (state) => Boolean(state.text) || DATA.facets.some((name) => state.facets[name].length);

// The picture of a row that the address or the filter asks for, by its number.
function wantedNumber(item, state) {
  const filtered = (DATA.pictureFacet && state.facets[DATA.pictureFacet]) || [];
  const labels = [...(state.show ? [state.show] : []), ...filtered];
  for (const label of labels) {
    const number = item.pictures.findIndex((picture) => picture.label === label);
    if (number >= 0) return number;
  }
  return 0;
}

// The picture that stands beside the first: one with something to look for, if none is asked for.
function besideNumber(item, state) {
  const others = item.pictures.slice(1);
  const best = [others.findIndex((picture) => picture.overlays), others.findIndex((picture) => picture.stored), 0];
  return wantedNumber(item, state) || 1 + best.find((number) => number >= 0);
}
