// The page of the bookshelf: its contents, and the actions of its buttons.

import { Client, ParseError, Unreachable } from "../shared/parse.js";
import { alert, ask, byId, element, keepLoading, say, showList, speak, text } from "../shared/page.js";
import { Bookshelf, BookshelfError } from "./bookshelf.js";
import english from "./strings/en.js";
import chinese from "./strings/zh-Hans.js";

const pageSize = 100;
const shelf = new Bookshelf(new Client({ applicationId: "bookshelf" }));
/** The loaded objects. */
let [genres, books, count] = [[], [], undefined];
let limit = pageSize;
/** The id of the book whose details are shown. */
let shownId;

// Display

function show() {
  const select = byId("new-book").elements.genre;
  const options = genres.map((genre) => element("option", { value: genre.objectId }, genre.name));
  const chosen = select.value;
  select.replaceChildren(element("option", { value: "" }, text("chooseGenre")), ...options);
  if (genres.some((genre) => genre.objectId === chosen)) select.value = chosen;

  showList(byId("books"), books, (book) => {
    const isbn = element("small", {}, text("isbnOf", { isbn: book.isbn.value }));
    const onclick = () => attempt(() => showDetails(book.objectId));
    const button = element("button", { type: "button", onclick }, book.title, isbn);
    return element("li", {}, button);
  });
  byId("empty").hidden = count !== 0;
  byId("examples").hidden = genres.length > 0;
  byId("more").hidden = !(count > books.length);
}

const reload = keepLoading(async () => {
  const [allGenres, some] = await Promise.all([shelf.all("Genre"), shelf.books(limit)]);
  const isSame = JSON.stringify([genres, books, count]) === JSON.stringify([allGenres, some.results, some.count]);
  [genres, books, count] = [allGenres, some.results, some.count];
  if (!isSame) show();
});

async function showDetails(id) {
  const [{ book, authors, publishers }, allAuthors, allPublishers] = await Promise.all([
    shelf.details(id),
    shelf.all("Author"),
    shelf.all("Publisher"),
  ]);
  shownId = id;
  byId("details-heading").textContent = book.title;
  byId("details-year").textContent = book.publishingYear;
  byId("details-genre").textContent = book.genre.name;
  byId("details-isbn").textContent = book.isbn.value;
  showChoices("authors", "Author", allAuthors, authors);
  showChoices("publishers", "Publisher", allPublishers, publishers);
  if (!byId("details").open) byId("details").showModal();
}

/** Shows a checkbox for each author or publisher, checked if it is related to the book. */
function showChoices(key, className, all, related) {
  const ids = new Set(related.map((object) => object.objectId));
  const boxes = all.map((object) => {
    const box = element("input", { type: "checkbox", checked: ids.has(object.objectId) });
    box.addEventListener("change", async () => {
      const isDone = await attempt(() => shelf.relate(shownId, key, className, object.objectId, box.checked));
      if (!isDone) box.checked = !box.checked;
    });
    return element("label", {}, box, object.name);
  });
  const none = element("p", {}, text(`no${className}s`));
  byId(key).querySelector("div").replaceChildren(...(boxes.length ? boxes : [none]));
}

// Actions

/** Performs an action, and shows its error if it fails. Resolves to whether it succeeded. */
async function attempt(action, form) {
  try {
    await action();
    return true;
  } catch (error) {
    if (error instanceof BookshelfError) {
      const field = form.elements[error.field];
      field.setAttribute("aria-invalid", "true");
      field.addEventListener("input", () => field.removeAttribute("aria-invalid"), { once: true });
      await alert(text(error.key, error.values));
      field.focus();
    } else if (error instanceof Unreachable) {
      await alert(text("notDone"));
    } else if (error instanceof ParseError) {
      await alert(error.code === ParseError.objectNotFound ? text("gone") : error.message);
      byId("details").close();
    } else {
      throw error;
    }
    await reload();
    return false;
  }
}

byId("new-book").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const { title, ...others } = Object.fromEntries(new FormData(form));
  if (!(await attempt(() => shelf.addBook({ title, ...others }), form))) return;
  form.reset();
  form.elements.title.focus();
  say(text("bookAdded", { title: title.trim() }));
  await reload();
});

const naming = byId("naming");

for (const item of byId("menu").querySelectorAll("button")) {
  item.addEventListener("click", () => {
    byId("menu").open = false;
    naming.dataset.className = item.value;
    byId("naming-heading").textContent = text(`new${item.value}`);
    naming.querySelector("form").reset();
    naming.showModal();
  });
}

naming.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = event.target.elements.name.value;
  if (!(await attempt(() => shelf.add(naming.dataset.className, name), event.target))) return;
  naming.close();
  say(text("nameAdded", { name: name.trim() }));
  await reload();
});

naming.addEventListener("close", () => byId("menu").querySelector("summary").focus());

byId("menu").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  byId("menu").open = false;
  byId("menu").querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  if (!byId("menu").contains(event.target)) byId("menu").open = false;
});

byId("delete").addEventListener("click", async () => {
  const title = byId("details-heading").textContent;
  if ((await ask(text("reallyDelete", { title }), "deleteBook", "cancel")) !== "deleteBook") return;
  if (!(await attempt(() => shelf.delete(shownId)))) return;
  byId("details").close();
  say(text("bookDeleted", { title }));
  await reload();
});

for (const button of document.querySelectorAll("[data-closes]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

byId("examples").addEventListener("click", async () => {
  await attempt(() => shelf.addExamples());
  await reload();
});

byId("more").addEventListener("click", async () => {
  limit += pageSize;
  await reload();
});

speak({ en: english, "zh-Hans": chinese }, () => {
  byId("books").replaceChildren();
  say("");
  show();
});
reload();
