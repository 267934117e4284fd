// What buttons and keys do, and the page's first drawing.
let drawn = null; // the address of the filters that the grid shows
let returnTo = null;
const collapsed = (state) => addressOf({ ...state, id: null, show: null });

function close() {
  returnTo = open && open.item;
  go({ ...current, id: null, show: null });
}

function move(by) {
  const state = current;
  const place = open.found.indexOf(open.item);
  const next = place < 0 ? open.found[0] : open.found[place + by];
  // "show" stays: the next row shows the same condition, if it has it.
  if (next) go({ ...state, id: next.id }, { amend: true });
}

function show(number) {
  go({ ...current, show: open.item.pictures[number].label }, { amend: true });
}

function applyOverlays() {
  for (const image of document.querySelectorAll("#detail .overlay, #detail .light")) image.hidden = !open.shown[image.dataset.index];
  document.querySelectorAll("#detail .chip.one").forEach((chip, index) => chip.setAttribute("aria-pressed", open.shown[index]));
  const all = document.querySelector("#detail .chip.all");
  if (all) all.setAttribute("aria-pressed", open.shown.some(Boolean));
}

function toggleOverlay(index) {
  if (index >= open.shown.length) return;
  open.shown[index] = !open.shown[index];
  if (open.shown.length === 1) overlaysOn = open.shown[0];
  applyOverlays();
}

function toggleAll() {
  overlaysOn = !open.shown.some(Boolean);
  open.shown.fill(overlaysOn);
  applyOverlays();
}

function toggleZoom(event) {
  zoomed = !zoomed;
  const frame = event && event.currentTarget.classList.contains("frame") ? event.currentTarget : null;
  const box = frame && frame.getBoundingClientRect();
  const at = box && [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  document.querySelector("#detail .panes").classList.toggle("zoomed", zoomed);
  document.querySelector("#detail .chip.zoom").setAttribute("aria-pressed", zoomed);
  nameViews();
  if (zoomed) {
    for (const view of document.querySelectorAll("#detail .view")) {
      const [x, y] = at || [0.5, 0.5];
      view.scrollTo(x * view.scrollWidth - view.clientWidth / 2, y * view.scrollHeight - view.clientHeight / 2);
    }
  }
}

function moveFocus(by) {
  const cells = $("grid").children;
  const place = [...cells].indexOf(document.activeElement);
  const next = place < 0 ? 0 : place + by;
  if (next >= rendered) renderMore(current);
  if (cells[next]) cells[next].focus();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const forward = event.key === "ArrowRight" || event.key === "j";
  const backward = event.key === "ArrowLeft" || event.key === "k";
  if (!open) {
    if (forward || backward) moveFocus(forward ? 1 : -1);
    else if (event.key === "/") $("text").focus();
    else return;
    event.preventDefault();
    return;
  }
  const several = open.item.pictures.length > 1;
  if (forward || backward) move(forward ? 1 : -1);
  else if (event.key === "Escape") close();
  else if (event.key === "m") toggleAll();
  else if (event.key === "z") toggleZoom();
  else if (/^[1-9]$/.test(event.key)) toggleOverlay(Number(event.key) - 1);
  else if (event.key.toLowerCase() === "c" && several) {
    const count = open.item.pictures.length - 1;
    const by = event.key === "c" ? 1 : count - 1;
    show(1 + ((open.number - 1 + by) % count));
  } else return;
  event.preventDefault();
}

function render() {
  const state = current;
  const known = state.id !== null && BY_ID.has(state.id);
  $("notice").hidden = state.id === null || known;
  if (state.id !== null && !known) $("notice").textContent = `No row here has the id “${state.id}”.`;
  const { found, counts } = select(state);
  if (!valueButtons.size) makeFilters(select({ text: "", facets: Object.fromEntries(DATA.facets.map((name) => [name, []])) }).counts);
  if (drawn !== collapsed(state)) {
    renderGrid({ ...state, id: null, show: null }, found);
    drawn = collapsed(state);
  }
  renderFilters(state, counts);
  renderCount(state, found);
  const wasOpen = Boolean(open);
  if (known) {
    if (!wasOpen) scrolled = window.scrollY;
    const before = open && open.item;
    const focused = document.activeElement && document.activeElement.dataset.key;
    // Shown first: what is hidden can't be scrolled.
    $("browse").hidden = true;
    $("detail").hidden = false;
    renderDetail(state, found);
    // The buttons are new: the focus goes to the one in the old one's place.
    const again = focused && document.querySelector(`#detail [data-key="${CSS.escape(focused)}"]`);
    if (again) again.focus({ preventScroll: true });
    document.title = `${state.id} · ${DATA.title}`;
    if (before !== open.item) window.scrollTo(0, 0);
    if (!wasOpen) document.querySelector("#detail .position").focus({ preventScroll: true });
    return;
  }
  if (wasOpen) returnTo = open.item;
  open = null;
  $("browse").hidden = false;
  $("detail").hidden = true;
  $("detail").replaceChildren();
  document.title = DATA.title;
  if (wasOpen) comeBack(state);
}

let scrolled = 0;

// Back in the grid, the eye is where the last row lies.
function comeBack(state) {
  window.scrollTo(0, scrolled);
  const place = listed.indexOf(returnTo);
  if (place < 0) return;
  if (place >= rendered) renderMore(state, place + CHUNK);
  const cell = $("grid").children[place];
  cell.focus({ preventScroll: true });
  cell.scrollIntoView({ block: "nearest" });
}

function clearFilters() {
  go({ ...current, text: "", facets: Object.fromEntries(DATA.facets.map((name) => [name, []])) }, { amend: true });
}

function start() {
  $("marks").hidden = !ITEMS.some((item) => item.pictures.some((picture) => picture.marked));
  $("marks").textContent = `${DATA.marks} on thumbnails`;
  $("marks").addEventListener("click", () => {
    marked = !marked;
    $("marks").setAttribute("aria-pressed", marked);
    renderGrid(current, listed);
  });
  for (const id of ["clear", "clear-all"]) $(id).addEventListener("click", clearFilters);
  $("open-filters").addEventListener("click", () => {
    const shown = $("filters").classList.toggle("open");
    $("open-filters").setAttribute("aria-expanded", shown);
  });
  $("text").addEventListener("input", () => go({ ...current, text: $("text").value }, { amend: true }));
  window.addEventListener("hashchange", onAddress);
  document.addEventListener("keydown", onKey);
  render();
}

start();
