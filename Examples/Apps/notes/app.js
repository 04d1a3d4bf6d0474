// The page of the notes: its contents, and the actions of its buttons.

import { Client, ParseError, Unreachable, newId } from "../shared/parse.js";
import { alert, ask, byId, element, keepLoading, say, showList, speak, text } from "../shared/page.js";
import { onMove, onSwipe, readPicture } from "../shared/gestures.js";
import { Conflict, Notebook } from "./notebook.js";
import english from "./strings/en.js";
import chinese from "./strings/zh-Hans.js";

const fonts = ["Georgia", "Helvetica", "Verdana", "Times New Roman", "Courier New"];
const pageSize = 100;
const client = new Client({ applicationId: "notes" });
const notebook = new Notebook(client);
const form = byId("note");
const fields = form.elements;
/** The loaded part of the list. */
let [notes, count, limit] = [[], undefined, pageSize];
/** The note in the editor, whether it has unsaved changes, and whether it is being saved. */
let [note, isChanged, isSaving] = [null, false, false];

// The list

function showNotes() {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  showList(byId("notes"), notes, ({ objectId, title, updatedAt }) => {
    const time = element("small", {}, format.format(new Date(updatedAt)));
    const button = element("button", { type: "button", onclick: () => open(objectId) }, title, time);
    const item = element("li", { data: { away: text("deleteNote") } }, button);
    onSwipe(item, () => remove(objectId, title));
    return item;
  });
  for (const item of byId("notes").children) {
    item.firstChild.setAttribute("aria-current", item.dataset.id === note?.id);
  }
  byId("empty").hidden = count !== 0;
  byId("more").hidden = !(count > notes.length);
}

byId("notes").addEventListener("keydown", (event) => {
  const item = event.target.closest("li");
  const next = { ArrowDown: item.nextElementSibling, ArrowUp: item.previousElementSibling }[event.key];
  if (next !== undefined) event.preventDefault();
  next?.firstChild.focus();
  if (event.key === "Delete" || event.key === "Backspace") remove(item.dataset.id, item.firstChild.firstChild.data);
});

const reload = keepLoading(async () => {
  ({ results: notes, count } = await notebook.list(limit));
  showNotes();
  await follow();
}, 60);
client.follow("Note", reload.soon, { keys: ["version"] });

/** Updates the editor when other users change its note. Unsaved changes are never replaced. */
async function follow() {
  if (!note?.id || isSaving) return;
  const listed = notes.find((each) => each.objectId === note.id);
  const isGone = !listed && count === notes.length;
  if (!isGone && !(listed?.version > note.version)) return;
  if (isChanged) {
    byId("notice").textContent = text(isGone ? "gone" : "changedMeanwhile");
    byId("notice").hidden = false;
  } else if (isGone) {
    edit(null);
    say(text("gone"));
  } else {
    const newer = await notebook.open(note.id);
    if (!isChanged && note?.id === newer.id) edit(newer);
  }
}

// The editor

/** Shows a note in the editor; `null` empties the editor. */
function edit(newNote) {
  const [before, hadFocus] = [note, byId("editor").contains(document.activeElement)];
  note = newNote;
  form.hidden = !note;
  byId("nothing").hidden = Boolean(note);
  document.body.dataset.view = note ? "editor" : "list";
  if (note) {
    const names = new Set([...fonts, note.fontName]);
    fields.fontName.replaceChildren(...Array.from(names, (name) => element("option", {}, name)));
    for (const name of ["title", "text", "fontName", "fontSize", "textColor"]) fields[name].value = note[name];
    showLook();
    showImages();
  }
  setChanged(false);
  showNotes();
  if (!note && hadFocus) (document.querySelector(`[data-id="${before.id}"] button`) ?? byId("new")).focus();
}

function setChanged(isNew) {
  isChanged = isNew;
  byId("unsaved").hidden = !isChanged && !isSaving;
  if (!isChanged) byId("notice").hidden = true;
}

function showLook() {
  fields.text.style.fontFamily = `"${CSS.escape(fields.fontName.value)}", serif`;
  fields.text.style.fontSize = `${fields.fontSize.value}px`;
  fields.text.style.color = fields.textColor.value;
}

function showImages() {
  byId("images").replaceChildren(...note.images.map(pictureOf));
}

/** An image on the paper. It is a button, so that it can be reached by keyboard. */
function pictureOf(image) {
  const picture = element("img", { src: notebook.address(image), alt: "", draggable: false });
  const button = element("button", { type: "button", aria: { label: text("image", { name: image.name }) } }, picture);
  const place = () => {
    button.style.left = `${between(0, image.x, 2000)}px`;
    button.style.top = `${between(0, image.y, 4000)}px`;
  };
  button.style.width = `${between(20, image.width, 800)}px`;
  button.style.height = `${between(20, image.height, 800)}px`;
  place();
  onMove(button, () => image, (x, y) => {
    image.x = Math.round(between(0, x, byId("paper").clientWidth - button.clientWidth));
    image.y = Math.round(between(0, y, 4000));
    place();
    setChanged(true);
  });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    note.images = note.images.filter((each) => each !== image);
    setChanged(true);
    showImages();
    byId("add-image").focus();
  });
  return button;
}

/** Limits a number to a range, because stored values may be anything. */
function between(least, number, most) {
  return Math.max(least, Math.min(number, most));
}

form.addEventListener("input", (event) => {
  setChanged(true);
  event.target.removeAttribute("aria-invalid");
  showLook();
});

byId("add-image").addEventListener("click", () => byId("file").click());

byId("file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  const owner = note;
  const picture = await readPicture(file).catch(() => null);
  event.target.value = "";
  if (!picture) await alert(text("noPicture", { name: file.name }));
  if (!picture || note !== owner) return;
  const scale = Math.min(1, 200 / Math.max(picture.width, picture.height));
  const size = { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) };
  const place = 20 + 20 * (note.images.length % 8);
  note.images.push({ id: newId(), ...picture, ...size, x: place, y: place });
  setChanged(true);
  showImages();
  byId("images").lastChild.focus();
});

// Actions

/** Performs an action that needs the server. Resolves to whether it succeeded. */
async function attempt(action) {
  try {
    await action();
    return true;
  } catch (error) {
    if (error instanceof Unreachable) {
      await alert(text("notDone"));
    } else if (error instanceof ParseError) {
      await alert(error.code === ParseError.objectNotFound ? text("gone") : error.message);
    } else {
      throw error;
    }
    await reload();
    return false;
  }
}

/** Resolves to whether the editor may show something else. */
async function leave() {
  if (!isChanged) return true;
  const answer = await ask(text("leaving"), "save", "discard", "cancel");
  return answer === "discard" || (answer === "save" && (await save()));
}

async function open(id) {
  if (id === note?.id) document.body.dataset.view = "editor";
  else if (!(await leave()) || !(await attempt(async () => edit(await notebook.open(id))))) return;
  byId("editor").focus();
}

/** Resolves to whether everything is stored. */
async function save() {
  if (isSaving) return false;
  for (const name of ["title", "text", "fontSize"]) {
    const field = fields[name];
    if (field.value.trim() && field.checkValidity()) continue;
    field.setAttribute("aria-invalid", "true");
    await alert(text(`bad-${name}`));
    field.focus();
    return false;
  }
  const { title, text: written, fontName, fontSize, textColor } = Object.fromEntries(new FormData(form));
  Object.assign(note, { title: title.trim(), text: written, fontName, fontSize: Number(fontSize), textColor });
  isSaving = true;
  // Changes during the request are saved by the next one.
  setChanged(false);
  let isStored = false;
  await attempt(async () => (isStored = await store(note)));
  isSaving = false;
  setChanged(isChanged || !isStored);
  await reload();
  return !isChanged;
}

/** Stores a note. If somebody else changed it, asks which version to keep. Resolves to whether it was stored. */
async function store(mine) {
  try {
    Object.assign(mine, await notebook.save(mine));
  } catch (error) {
    const isGone = error.code === ParseError.objectNotFound;
    if (!isGone && !(error instanceof Conflict)) throw error;
    const theirs = isGone ? notebook.blank() : await notebook.open(mine.id);
    const message = isGone ? text("gone") : text("conflict", { title: theirs.title, text: theirs.text.slice(0, 500) });
    const answer = await ask(message, "keepMine", isGone ? "discard" : "takeTheirs", "cancel");
    if (!answer || answer === "cancel") return false;
    if (answer === "takeTheirs" || answer === "discard") {
      edit(isGone ? null : theirs);
      return true;
    }
    const { id, version, stored } = theirs;
    return store(Object.assign(mine, { id, version, stored }));
  }
  say(text("saved", { title: mine.title }));
  byId("notes").scrollTop = 0;
  return true;
}

async function remove(id, title) {
  await attempt(async () => {
    const images = await notebook.imageCount(id);
    const question = text(images ? "reallyDeleteWithImages" : "reallyDelete", { title, count: images });
    if ((await ask(question, "deleteNote", "cancel")) !== "deleteNote") return;
    await notebook.delete(id);
    const place = notes.findIndex((each) => each.objectId === id);
    if (id === note?.id) edit(null);
    await reload();
    (byId("notes").children[Math.min(place, notes.length - 1)]?.firstChild ?? byId("new")).focus();
    say(text("deleted", { title }));
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  if (note) save();
});

byId("new").addEventListener("click", async () => {
  if (!(await leave())) return;
  edit(notebook.blank());
  fields.title.focus();
});

byId("back").addEventListener("click", async () => {
  if (await leave()) edit(null);
});

byId("delete").addEventListener("click", () => {
  if (note.id) remove(note.id, note.title);
  else edit(null);
});

byId("more").addEventListener("click", async () => {
  limit += pageSize;
  await reload();
});

window.addEventListener("beforeunload", (event) => isChanged && event.preventDefault());

speak({ en: english, "zh-Hans": chinese }, () => {
  byId("notes").replaceChildren();
  say("");
  showNotes();
  if (note) showImages();
});
reload();
