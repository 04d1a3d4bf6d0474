// The operations on a bookshelf. The classes and their rules are in schema.json; the server enforces them.

import { ParseError, newId, pointer } from "../shared/parse.js";

/** An error for the user: the key of its string, the values in the string, and the field of the form. */
export class BookshelfError extends Error {
  constructor(key, { field, ...values } = {}) {
    super(key);
    Object.assign(this, { key, field, values });
  }
}

export class Bookshelf {
  constructor(client) {
    this.client = client;
  }

  /** All genres, authors or publishers. */
  async all(className) {
    return (await this.client.find(className, { order: "name", limit: 1000 })).results;
  }

  /** Adds a genre, an author or a publisher. The server ensures that the name is unique. */
  async add(className, name) {
    if (!name.trim()) throw new BookshelfError("emptyName", { field: "name" });
    try {
      return await this.client.create(className, { name: name.trim() });
    } catch (error) {
      if (error.code !== ParseError.duplicateValue) throw error;
      throw new BookshelfError(`duplicate${className}`, { field: "name", name: name.trim() });
    }
  }

  /** Adds a book and its new ISBN, from the values of a form, in one transaction. */
  async addBook({ title, year, genre, isbn }) {
    if (!title.trim()) throw new BookshelfError("emptyTitle", { field: "title" });
    if (!/^-?\d{1,4}$/.test(year.trim())) throw new BookshelfError("notAYear", { field: "year", year });
    if (!genre) throw new BookshelfError("missingGenre", { field: "genre" });
    const number = isbn.replace(/[\s-]/g, "").toUpperCase();
    if (!isISBN(number)) throw new BookshelfError("notAnISBN", { field: "isbn", isbn });
    try {
      await this.client.transaction(...bookRequests({ title: title.trim(), year: Number(year), genre, isbn: number }));
    } catch (error) {
      if (error.code !== ParseError.duplicateValue) throw error;
      const owner = await this.ownerOf(number);
      throw new BookshelfError("duplicateISBN", { field: "isbn", isbn: number, owner: owner?.title ?? "" });
    }
  }

  /** The book that has an ISBN. */
  async ownerOf(isbn) {
    return (await this.client.find("Book", { where: { "isbn.value": isbn }, limit: 1 })).results[0];
  }

  /** The first books by title, with their ISBNs, and the number of all books. */
  books(limit) {
    return this.client.find("Book", { order: "title", include: "isbn", keys: "title,isbn", limit, count: 1 });
  }

  /** A book with its genre and ISBN, and the authors and publishers that are related to it. */
  async details(id) {
    const related = async (className, key) => {
      const where = { $relatedTo: { object: pointer("Book", id), key } };
      return (await this.client.find(className, { where, order: "name", limit: 1000 })).results;
    };
    const [book, authors, publishers] = await Promise.all([
      this.client.get("Book", id, { include: "genre,isbn" }),
      related("Author", "authors"),
      related("Publisher", "publishers"),
    ]);
    return { book, authors, publishers };
  }

  /** Adds or removes the relation of an author or a publisher to a book. Adding an existing one changes nothing. */
  relate(id, key, className, otherId, isRelated) {
    const operation = isRelated ? "AddRelation" : "RemoveRelation";
    return this.client.update("Book", id, { [key]: { __op: operation, objects: [pointer(className, otherId)] } });
  }

  /** Deletes a book, and its ISBN by the delete rule of the pointer in the schema. */
  delete(id) {
    return this.client.delete("Book", id);
  }

  /** Adds example books in one transaction. */
  async addExamples() {
    const ids = {};
    const named = (className, name) => ["POST", `/classes/${className}`, { objectId: (ids[name] = newId()), name }];
    const relation = (className, ...names) => ({
      __op: "AddRelation",
      objects: names.map((name) => pointer(className, ids[name])),
    });
    await this.client.transaction(
      ...["Science fiction", "Fantasy"].map((name) => named("Genre", name)),
      ...["Ursula K. Le Guin", "Terry Pratchett", "Neil Gaiman"].map((name) => named("Author", name)),
      ...["Harper & Row", "Gollancz"].map((name) => named("Publisher", name)),
      ...bookRequests(
        { title: "The Dispossessed", year: 1974, genre: ids["Science fiction"], isbn: "9780060125639" },
        {
          authors: relation("Author", "Ursula K. Le Guin"),
          publishers: relation("Publisher", "Harper & Row", "Gollancz"),
        },
      ),
      ...bookRequests(
        { title: "Good Omens", year: 1990, genre: ids["Fantasy"], isbn: "9780575048003" },
        {
          authors: relation("Author", "Terry Pratchett", "Neil Gaiman"),
          publishers: relation("Publisher", "Gollancz"),
        },
      ),
    );
  }
}

/** The requests for a new book and its ISBN. The ISBN is created first, because the book points at it. */
function bookRequests({ title, year, genre, isbn }, relations = {}) {
  const number = { objectId: newId(), value: isbn };
  const book = {
    title,
    publishingYear: year,
    genre: pointer("Genre", genre),
    isbn: pointer("ISBN", number.objectId),
    ...relations,
  };
  return [
    ["POST", "/classes/ISBN", number],
    ["POST", "/classes/Book", book],
  ];
}

/** Whether digits are an ISBN. The last one is the check digit. */
function isISBN(number) {
  const digits = Array.from(number, (character) => (character === "X" ? 10 : Number(character)));
  if (/^\d{9}[\dX]$/.test(number)) return digits.reduce((sum, digit, place) => sum + digit * (10 - place), 0) % 11 === 0;
  if (/^\d{13}$/.test(number)) return digits.reduce((sum, digit, place) => sum + digit * (place % 2 ? 3 : 1), 0) % 10 === 0;
  return false;
}
