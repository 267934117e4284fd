// One row, large.
// What the reader chose for all rows: every overlay on or off. Undefined: as the row says.
let overlaysOn;
let zoomed = false;
let open = null; // {item, number, shown}: what the page shows now

function step(name, label, hint, onclick, enabled = true) {
  return make(
    "button", { type: "button", class: `step ${name}`, disabled: !enabled, onclick, "aria-label": label, "data-key": name },
    hint,
  );
}

function frameOf(picture, overlays, shown, item) {
  const { path, width, height } = picture.stored;
  const name = picture.label ? `${picture.label}, ` : "";
  const frame = make(
    "div", { class: "frame", "--ratio": `${width} / ${height}`, onclick: toggleZoom },
    make("img", { src: path, width, height, alt: `${name}picture of row ${item.id}`, class: "picture" }),
  );
  // The lightest of those that are shown counts, and the picture is multiplied with it: white changes nothing.
  const lights = make("div", { class: "lights" });
  const layer = (place, index, path, attributes) => {
    const image = make("img", { src: path, ...attributes });
    image.dataset.index = index;
    image.hidden = !shown[index];
    place.append(image);
  };
  overlays.forEach((overlay, index) => {
    if (overlay.light) layer(lights, index, overlay.light, { alt: "", class: "light" });
  });
  // Pictures of the whole come first, then what dims them.
  const drawn = overlays.map((overlay, index) => [overlay, index]).sort(([a], [b]) => Boolean(a.light) - Boolean(b.light));
  for (const [overlay, index] of drawn) {
    if (overlay.light && !lights.parentElement) frame.append(lights);
    layer(frame, index, overlay.path, { alt: `Overlay: ${overlay.label}`, class: "overlay" });
  }
  return frame;
}

function paneOf(picture, overlays, shown, item, alone) {
  const caption = picture.label
    ? make("figcaption", {}, words(picture.label, "", "b"), picture.about && picture.stored ? words(picture.about) : null)
    : null;
  if (!picture.stored) {
    return make("figure", { class: "pane", "--most": "60rem" }, caption, words(picture.about || "No picture", "empty", "div"));
  }
  const { width, height } = picture.stored;
  // As high as the window lets it be, but never beyond three times its pixels.
  const room = picture.label ? 15 : 8.5;
  const most = `min(${3 * width}px, calc((100vh - ${room}rem) * ${(width / height).toFixed(4)}))`;
  const zoom = `max(${width}px, ${alone ? 200 : 300}%)`;
  const view = make("div", { class: "view" }, frameOf(picture, overlays, shown, item));
  return make("figure", { class: "pane", "--most": most, "--zoom": zoom }, caption, view);
}

const sameSize = (a, b) => a.stored && b.stored && a.stored.width === b.stored.width && a.stored.height === b.stored.height;

function toolsOf(overlays, shown) {
  const tools = make("div", { class: "tools", role: "group", "aria-label": "Drawn over the picture" });
  if (overlays.length > 1) {
    tools.append(make("button", { type: "button", class: "chip all", onclick: toggleAll, "aria-pressed": shown.some(Boolean) }, "all"));
  }
  overlays.forEach((overlay, index) => {
    const swatch = overlay.colour ? make("span", { class: "swatch", "--swatch": overlay.colour }) : null;
    const button = make(
      "button", { type: "button", class: "chip one", "aria-pressed": shown[index], onclick: () => toggleOverlay(index) },
      swatch, overlay.label,
    );
    tools.append(button);
  });
  tools.append(make("button", { type: "button", class: "chip zoom", "aria-pressed": zoomed, onclick: toggleZoom }, "zoom"));
  return tools;
}

function stripOf(item, number) {
  const strip = make("div", { class: "strip", role: "group", "aria-label": "Conditions" });
  item.pictures.forEach((picture, index) => {
    if (index === 0) return;
    const inside = picture.thumb
      ? make("img", { loading: "lazy", src: picture.thumb.path, alt: "" })
      : make("span", { class: "none" }, "no picture");
    strip.append(make(
      "button", { type: "button", "aria-pressed": index === number, onclick: () => show(index), "data-key": `strip ${index}` },
      make("span", { class: "pic" }, inside), words(picture.label, "label"),
    ));
  });
  return strip;
}

function askOf(question) {
  const options = Object.entries(question.options || {});
  const rows = options.map(([letter, text]) =>
    make("li", { class: letter === question.answer ? "right" : "" }, make("span", {}, letter), words(text)));
  const answer = question.answer === undefined
    ? make("p", { class: "answer quiet" }, "Not asked")
    : make("p", { class: "answer" }, make("span", { class: "quiet" }, `${question.answer_name || "Answer"}  `), words(question.answer, "", "b"));
  return make(
    "section", { class: "ask" },
    question.heading ? make("h2", {}, question.heading) : null,
    words(question.text, question.text.length > 140 ? "text long" : "text", "p"),
    rows.length ? make("ol", { class: "options" }, ...rows) : null,
    rows.some((row) => row.className === "right") ? null : answer,
  );
}

function factsOf(item, pictures, state) {
  const list = make("dl", { class: "facts" });
  const add = (name, ...value) => list.append(make("dt", {}, name), make("dd", { dir: "auto" }, ...value));
  const seen = new Set();
  for (const [name, value] of [...(item.facts || []), ...pictures.flatMap((picture) => picture.facts || [])]) {
    if (seen.has(JSON.stringify([name, value]))) continue;
    seen.add(JSON.stringify([name, value]));
    add(name, value);
  }
  for (const other of item.group ? GROUPS.get(item.group) : []) {
    if (other === item) continue;
    add("see also", make("a", { href: addressOf({ ...state, id: other.id, show: null }) }, `${other.note || ""} ${other.id}`.trim()));
  }
  return list;
}

function renderDetail(state, found) {
  const item = BY_ID.get(state.id);
  const several = item.pictures.length > 1;
  const number = several ? besideNumber(item, state) : 0;
  const pictures = several ? [item.pictures[0], item.pictures[number]] : [item.pictures[0]];
  const last = pictures[pictures.length - 1];
  const overlays = (last.overlays || pictures[0].overlays || []);
  const kept = open && open.item === item && open.shown.length === overlays.length ? open.shown : null;
  const shown = kept || overlays.map((overlay) => (overlaysOn === undefined ? overlay.shown : overlaysOn));
  open = { item, number, shown, found };

  const place = found.indexOf(item);
  const position = place < 0
    ? `outside the ${found.length.toLocaleString("en")} filtered`
    : `${(place + 1).toLocaleString("en")} of ${found.length.toLocaleString("en")}`;
  const top = make(
    "div", { class: "top" },
    step("back", "Back to the grid", make("span", {}, "← All"), close),
    make("h1", { class: "position", tabindex: "-1" }, position),
    step("move previous", "Previous row", "← Previous", () => move(-1), place !== 0),
    step("move next", "Next row", "Next →", () => move(1), place + 1 < found.length),
  );
  const panes = make("div", { class: several ? "panes two" : "panes" });
  for (const picture of pictures) {
    const fits = picture === last || sameSize(picture, last);
    panes.append(paneOf(picture, fits ? overlays : picture.overlays || [], shown, item, !several));
  }
  panes.classList.toggle("zoomed", zoomed);
  followScroll(panes);
  nameViews(panes);
  const note = !several && last.about ? make("p", { class: "quiet" }, last.about) : null;
  const stage = make(
    "div", { class: "stage" }, panes,
    overlays.length || last.stored ? toolsOf(overlays, shown) : null, several ? stripOf(item, number) : null,
  );
  const questions = [...(item.questions || []), ...(last.questions || [])];
  const panel = make("div", { class: questions.length > 1 ? "panel many" : "panel" }, ...questions.map(askOf));
  if (note) panel.append(make("div", { class: "ask" }, note));
  panel.append(factsOf(item, several ? [last] : pictures, state));
  panel.append(make("p", { class: "keys" }, ...keysOf(overlays, several)));
  $("detail").replaceChildren(top, stage, panel);
  // On a phone the strip is wider than the screen: what is chosen stays in sight.
  const chosen = stage.querySelector('.strip [aria-pressed="true"]');
  if (chosen) chosen.parentElement.scrollLeft = chosen.offsetLeft - chosen.parentElement.offsetLeft - 80;
  $("say").textContent = `${position}. ${item.caption}`;
  preload(found, place);
}

function keysOf(overlays, several) {
  const hints = [["← →", "rows"]];
  if (overlays.length) hints.push(["1–9", "one overlay"], ["m", "all"]);
  if (several) hints.push(["c", "next condition"]);
  hints.push(["z", "zoom"], ["Esc", "back"]);
  return hints.map(([key, text]) => make("span", {}, make("kbd", {}, key), ` ${text}`));
}

// What scrolls can be reached by keyboard, and says what it is.
function nameViews(panes = document.querySelector("#detail .panes")) {
  for (const view of panes.querySelectorAll(".view")) {
    const label = view.querySelector(".picture").alt;
    for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", label]]) {
      if (zoomed) view.setAttribute(name, value);
      else view.removeAttribute(name);
    }
  }
}

// Two pictures side by side are looked at in the same place.
function followScroll(panes) {
  const views = [...panes.querySelectorAll(".view")];
  for (const view of views) {
    view.addEventListener("scroll", () => {
      for (const other of views) {
        if (other !== view && (other.scrollLeft !== view.scrollLeft || other.scrollTop !== view.scrollTop)) {
          other.scrollTo(view.scrollLeft, view.scrollTop);
        }
      }
    });
  }
}

function preload(found, place) {
  for (const item of [found[place + 1], found[place - 1]]) {
    for (const picture of item ? item.pictures.slice(0, 2) : []) if (picture.stored) new Image().src = picture.stored.path;
  }
}
