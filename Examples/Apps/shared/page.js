// The parts that pages share: elements, languages, messages, and a check of the server now and then.

import { ParseError, Unreachable } from "./parse.js";

/** An element. Texts become text nodes, never markup: what others wrote can't act as code. */
export function element(name, properties = {}, ...children) {
  const { data = {}, aria = {}, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  Object.assign(made.dataset, data);
  for (const [key, value] of Object.entries(aria)) made.setAttribute(`aria-${key}`, value);
  made.append(...children);
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Shows objects as the items of a list, each made by `make`. Those that haven't changed keep their items, and the focus. */
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

/** A string of the language, with values in the places of {names}. */
export function text(key, values = {}) {
  return strings[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/**
 * Shows the page in the language that was chosen, or else in the browser's, and in another one at the press of the button
 * "language". `render` is called after each change for what isn't marked with data-text, data-label or data-hint.
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

/** Shows a message until it is answered. Resolves to the key of the button; to "" where the message was only closed. */
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

/** Says something in passing, in the line "status". */
export function say(message) {
  byId("status").textContent = message;
}

// The server

/**
 * Calls `load` every few seconds while the page is seen, and whenever the function that it returns is called; its `soon` calls
 * it unless that is about to happen. While the server can't be reached, the line "offline" is shown.
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
  // Of many changes at once, the last look sees them all.
  reload.soon = () => waiting < 2 && reload();
  const whenSeen = () => document.visibilityState === "visible" && waiting === 0 && reload();
  document.addEventListener("visibilitychange", whenSeen);
  setInterval(whenSeen, seconds * 1000);
  return reload;
}
