// The parts that pages share: elements, languages, messages, and regular loading from the server.

import { ParseError, Unreachable } from "./parse.js";

/** Creates an element. Texts become text nodes, never markup, so texts of other users can't act as code. */
export function element(name, properties = {}, ...children) {
  const { data = {}, aria = {}, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  Object.assign(made.dataset, data);
  for (const [key, value] of Object.entries(aria)) made.setAttribute(`aria-${key}`, value);
  made.append(...children);
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Shows objects as the items of a list, each made by `make`. Unchanged objects keep their items and the focus. */
export function showList(list, objects, make) {
  const focused = document.activeElement.closest("[data-id]")?.dataset.id;
  const present = new Map(Array.from(list.children, (item) => [item.dataset.id, item]));
  const items = objects.map((object) => {
    const item = present.get(object.objectId);
    if (item?.dataset.state === JSON.stringify(object)) return item;
    const made = make(object);
    Object.assign(made.dataset, { id: object.objectId, state: JSON.stringify(object) });
    return made;
  });
  if (items.length === list.children.length && items.every((item, index) => item === list.children[index])) return;
  list.replaceChildren(...items);
  items.find((item) => item.dataset.id === focused)?.querySelector("button").focus();
}

// Languages

let strings = {};

/** A string in the current language, with values instead of the {names}. */
export function text(key, values = {}) {
  return strings[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/**
 * Shows the page in the chosen language, by default the browser's; the button "language" switches to the other one.
 * `render` is called after each change, for the parts that aren't marked with data-text, data-label or data-hint.
 */
export function speak(languages, render) {
  const names = Object.keys(languages);
  const preferred = navigator.languages.map((name) => (name.startsWith("zh") ? "zh-Hans" : name.split("-")[0]));
  let current = [localStorage.getItem("language"), ...preferred, names[0]].find((name) => names.includes(name));
  const show = () => {
    strings = languages[current];
    document.documentElement.lang = current;
    document.title = text("title");
    for (const each of document.querySelectorAll("[data-text]")) each.textContent = text(each.dataset.text);
    for (const each of document.querySelectorAll("[data-label]")) each.setAttribute("aria-label", text(each.dataset.label));
    for (const each of document.querySelectorAll("[data-hint]")) each.placeholder = text(each.dataset.hint);
    byId("language").lang = names.find((name) => name !== current);
    render();
  };
  byId("language").addEventListener("click", () => {
    current = names[(names.indexOf(current) + 1) % names.length];
    localStorage.setItem("language", current);
    show();
  });
  show();
}

// Messages

/** Shows a message until it is answered. Resolves to the key of the button, or to "" if the message was only closed. */
export function ask(message, ...keys) {
  const buttons = keys.map((key) => element("button", { value: key, type: "submit" }, text(key)));
  const form = element("form", { method: "dialog" }, element("p", { id: "message" }, message), ...buttons);
  const dialog = element("dialog", { className: "message", role: "alertdialog", aria: { labelledby: "message" } }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

export const alert = (message) => ask(message, "ok");

/** Shows a short message in the line "status". */
export function say(message) {
  byId("status").textContent = message;
}

// The server

/**
 * Calls `load` every few seconds while the page is visible, and whenever the returned function is called. The function's
 * `soon` does nothing if a call is already waiting. While the server can't be reached, the line "offline" is shown.
 */
export function keepLoading(load, seconds = 2) {
  let [running, waiting] = [Promise.resolve(), 0];
  const once = async () => {
    try {
      await load();
      byId("offline").hidden = true;
    } catch (error) {
      if (error instanceof ParseError) say(error.message);
      else if (error instanceof Unreachable) byId("offline").hidden = false;
      else throw error;
    }
  };
  // One after another: an older answer never replaces a newer one.
  const reload = () => {
    waiting += 1;
    return (running = running.then(once, once).finally(() => (waiting -= 1)));
  };
  // One waiting call is enough: it loads all changes until then.
  reload.soon = () => waiting < 2 && reload();
  const whenSeen = () => document.visibilityState === "visible" && waiting === 0 && reload();
  document.addEventListener("visibilitychange", whenSeen);
  setInterval(whenSeen, seconds * 1000);
  return reload;
}
