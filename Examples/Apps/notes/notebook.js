// The operations on notes. The classes and their rules are in schema.json; the server enforces them.

import { ParseError, newId, pointer } from "../shared/parse.js";

/** Somebody else has saved the note since it was opened. */
export class Conflict extends Error {}

export class Notebook {
  constructor(client) {
    this.client = client;
  }

  /** The notes, the last changed first, and the number of all notes. */
  list(limit) {
    return this.client.find("Note", { order: "-updatedAt", keys: "title,version", limit, count: 1 });
  }

  /** Loads a note and its images for the editor. */
  async open(id) {
    const [note, { results }] = await Promise.all([
      this.client.get("Note", id),
      this.client.find("NoteImage", { where: { note: pointer("Note", id) }, order: "createdAt,objectId", limit: 1000 }),
    ]);
    const { version, title, text, fontName, fontSize, textColor } = note;
    const images = results.map(({ objectId, name, file, data, x, y, width, height }) => {
      return { id: objectId, name, file, base64: data?.base64, x, y, width, height };
    });
    return { id, version, title, text, fontName, fontSize, textColor, images, stored: placesOf(images) };
  }

  /** A new note. */
  blank() {
    const look = { fontName: "Georgia", fontSize: 16, textColor: "#1c1c1e" };
    return { id: null, version: 0, title: "", text: "", ...look, images: [], stored: new Map() };
  }

  /** The address of an image: a data URL if it isn't stored yet, or was stored by an older version. */
  address({ file, base64 }) {
    return file ? this.client.fileAddress(file) : `data:${typeOf(base64)};base64,${base64}`;
  }

  /** Uploads an image under a new name, because the original name may have characters that the server refuses. */
  async upload({ base64 }) {
    const type = typeOf(base64);
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return this.client.upload(`image.${type.slice("image/".length)}`, new Blob([bytes], { type }));
  }

  /**
   * Stores a note with its images in one transaction. Resolves to the stored id, version and images.
   *
   * Each note has a NoteVersion, whose id contains the number of the version. Saving deletes it and creates the next. If
   * two users save the same version, the second one can't delete it, so nothing of that transaction is done. The files
   * of new images are uploaded before; an image keeps its file if the rest fails.
   */
  async save(note) {
    // Images may be added and removed during an upload.
    for (let image; (image = note.images.find(({ file }) => !file)); ) image.file = await this.upload(image);
    const id = note.id ?? newId();
    const version = note.version + 1;
    const { title, text, fontName, fontSize, textColor } = note;
    const stored = placesOf(note.images);
    const fields = { title, text, fontName, fontSize, textColor, version };
    const next = ["POST", "/classes/NoteVersion", { objectId: `${id}-${version}`, note: pointer("Note", id) }];
    const requests = note.id
      ? [["DELETE", `/classes/NoteVersion/${id}-${note.version}`], next, ["PUT", `/classes/Note/${id}`, fields]]
      : [["POST", "/classes/Note", { objectId: id, ...fields }], next];
    try {
      await this.client.transaction(...requests, ...imageRequests(id, note));
    } catch (error) {
      if (error.code !== ParseError.objectNotFound || !note.id) throw error;
      await this.client.get("Note", id); // If the note was deleted, this throws.
      throw new Conflict();
    }
    return { id, version, stored };
  }

  /** The number of images that would be deleted with a note. */
  async imageCount(id) {
    const { deleted } = await this.client.deletionPlan("Note", id);
    return deleted.find((objects) => objects.className === "NoteImage")?.objectIds.length ?? 0;
  }

  /** Deletes a note, and its images and its version by the delete rules of the schema. */
  delete(id) {
    return this.client.delete("Note", id);
  }
}

/** The type of an image, from its first bytes: browsers that can't write WebP write PNG. */
function typeOf(base64) {
  return base64.startsWith("iVBOR") ? "image/png" : "image/webp";
}

/** The stored state of images by their ids: their places, and whether they are files. */
function placesOf(images) {
  return new Map(images.map(({ id, x, y, file }) => [id, { x, y, isFile: Boolean(file) }]));
}

/** The requests that update the stored images of a note. */
function imageRequests(noteId, { images, stored }) {
  const requests = [];
  for (const { id, name, file, x, y, width, height } of images) {
    const place = stored.get(id);
    if (!place) {
      const note = pointer("Note", noteId);
      requests.push(["POST", "/classes/NoteImage", { objectId: id, note, name, file, x, y, width, height }]);
    } else if (!place.isFile) {
      requests.push(["PUT", `/classes/NoteImage/${id}`, { x, y, file, data: { __op: "Delete" } }]);
    } else if (place.x !== x || place.y !== y) {
      requests.push(["PUT", `/classes/NoteImage/${id}`, { x, y }]);
    }
  }
  const kept = new Set(images.map((image) => image.id));
  for (const id of stored.keys()) {
    if (!kept.has(id)) requests.push(["DELETE", `/classes/NoteImage/${id}`]);
  }
  return requests;
}
