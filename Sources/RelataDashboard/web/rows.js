// The objects of a query by their places. Only visible pages are fetched.
import { jsonText, pointer, server } from './api.js';
import { countAll, countSoon } from './counting.js';
import { schema, selection } from './schema.js';

export const pageSize = 100;
const keptPages = 60;

/** The names of an order, `-year,title`, with their directions. */
export function readSort(text) {
  return (text ?? '').split(',').filter(Boolean).map((name) =>
    name.startsWith('-') ? { name: name.slice(1), descends: true } : { name, descends: false });
}

/** The text of an order. */
export function sortText(order) { return order.map(({ name, descends }) => (descends ? '-' : '') + name).join(','); }

export class Rows extends EventTarget {
  /** The number of objects; `null` until it is counted. */
  total = null;
  /** The estimated number; `null` if there is no estimate. */
  estimate = null;
  /** Whether counting takes long: then `total` may be an earlier number, and objects are counted only on request. */
  isGuess = false;
  isCounting = false;
  /** The least number of objects. */
  known = 0;
  #pages = new Map();
  #loading = new Map();
  /** Pages that may have changed since they were fetched: shown until they are fetched again. */
  #stale = new Set();
  #stop = new AbortController();

  /** @param query `{ className, predicate, search, sort, relation: { className, id, field } }` */
  constructor(query, names) {
    super();
    this.query = query;
    this.information = schema.get(query.className);
    this.names = names;
  }

  /** The query for the first page. */
  get firstQuery() {
    return { ...this.#base(), order: sortText(this.#order()), limit: String(pageSize) };
  }

  close() { this.#stop.abort(); }

  #tell() { this.dispatchEvent(new Event('change')); }

  row(place) { return this.#pages.get(Math.floor(place / pageSize))?.[place % pageSize]; }

  get length() { return this.total ?? this.known; }

  /** Fetches the page of a place, unless it is here. */
  async load(page) {
    if (page < 0 || this.#pages.has(page) && !this.#stale.has(page)) return;
    if (!this.#loading.has(page)) {
      // One that failed stays, so that it isn't asked for at every step.
      const loading = this.#fetch(page);
      this.#loading.set(page, loading);
      loading.then(() => this.#loading.delete(page), () => {});
    }
    await this.#loading.get(page);
  }

  async #fetch(page) {
    const part = this.#part(page);
    const query = { ...this.#base(part.condition), order: sortText(part.order), limit: String(part.limit), skip: String(part.skip) };
    if (!query.order) delete query.order;
    const { results } = await server.find(this.query.className, query, this.#stop.signal);
    const rows = part.isReversed ? results.reverse() : results;
    this.#mark(rows, this.#pages.get(page));
    this.#pages.set(page, rows);
    this.#stale.delete(page);
    this.#forget(page);
    const end = page * pageSize + rows.length;
    this.known = Math.max(this.known, rows.length === pageSize ? end + 1 : end);
    const isEnd = rows.length || page === 0 || this.#pages.get(page - 1)?.length === pageSize;
    if (rows.length < pageSize && this.total === null && isEnd) this.#setTotal({ count: end, isExact: true });
    this.#tell();
    await this.#count(rows);
  }

  /** Has pages fetched again when they are visible, and shows the old ones until then. */
  refresh() {
    for (const page of this.#pages.keys()) this.#stale.add(page);
    this.#tell();
    if (!this.isGuess) this.count().catch(() => {});
  }

  /** Marks the objects that are new or changed. */
  #mark(rows, before) {
    if (!before) return;
    const known = new Map(before.map((row) => [row.objectId, row]));
    for (const row of rows) {
      const old = known.get(row.objectId);
      if (old?.counts) row.counts = old.counts;
      if (!old || jsonText({ ...old, counts: undefined }) !== jsonText({ ...row, counts: undefined })) row.changed = performance.now();
    }
  }

  /** Forgets the pages that were fetched first, but none beside this one. */
  #forget(page) {
    for (const other of this.#pages.keys()) {
      if (this.#pages.size <= keptPages) return;
      if (Math.abs(other - page) > 2) this.#pages.delete(other);
    }
  }

  /** Counts the objects in the relations that are shown. */
  async #count(rows) {
    const relations = this.names.filter((name) => this.information.field(name)?.type === 'Relation');
    if (!relations.length || !rows.length) return;
    const counts = await server.counts(this.query.className, relations, rows.map((row) => row.objectId));
    for (const row of rows) row.counts = counts[row.objectId] ?? {};
    this.#tell();
  }

  #base(condition) {
    const query = { ...selection(this.information, this.names), predicate: this.query.predicate, search: this.query.search };
    const where = { ...condition };
    const { relation } = this.query;
    if (relation) where.$relatedTo = { object: pointer(relation.className, relation.id), key: relation.field };
    if (Object.keys(where).length) query.where = where;
    return query;
  }

  /** The query for all objects, without their fields. */
  get #whole() {
    const { keys, include, ...query } = this.#base();
    return query;
  }

  /** Counts all, unless that takes long. */
  async count() {
    const { className, predicate, search, relation } = this.query;
    const estimate = predicate || search || relation ? null : (await server.estimates())[className];
    this.#setTotal(await countSoon(className, this.#whole, { estimate, signal: this.#stop.signal }));
    this.#tell();
  }

  /** Counts all, which may take a while. */
  async countAll() {
    this.isCounting = true;
    this.#tell();
    try {
      this.#setTotal(await countAll(this.query.className, this.#whole, this.#stop.signal));
    } finally {
      this.isCounting = false;
      this.#tell();
    }
  }

  #setTotal({ count, isExact }) {
    this.isGuess = !isExact;
    if (isExact) this.total = count;
    else this.estimate = count;
  }

  // MARK: Pages by keys

  /** Which part of the query is a page, seen from the nearest end or page that is here. */
  #part(page) {
    const order = this.#order();
    let best = { skip: page * pageSize, limit: pageSize, order, isReversed: false };
    if (!order.length) return best;
    const better = (other) => { if (other.skip < best.skip) best = other; };
    const reversed = order.map(({ name, descends }) => ({ name, descends: !descends }));
    if (this.total !== null) {
      const last = Math.min((page + 1) * pageSize, this.total);
      const limit = last - page * pageSize;
      if (limit > 0) better({ skip: this.total - last, limit, order: reversed, isReversed: true });
    }
    if (this.#hasKeys(order)) {
      for (const [other, rows] of this.#pages) {
        if (this.#stale.has(other)) continue;
        const part = { skip: (Math.abs(other - page) - 1) * pageSize, limit: pageSize };
        if (other < page && rows.length === pageSize) better({ ...part, order, isReversed: false, condition: after(rows.at(-1), order) });
        else if (other > page && rows.length) better({ ...part, order: reversed, isReversed: true, condition: after(rows[0], reversed) });
      }
    }
    return best;
  }

  /** The order, made total by the key; empty for that of a relation, and for the best matches of a search. */
  #order() {
    const order = readSort(this.query.sort);
    if (!order.length && (this.query.relation || this.query.search)) return [];
    if (this.information.keyFields.length > 1) return order;
    return order.some(({ name }) => name === 'objectId') ? order : [...order, { name: 'objectId', descends: false }];
  }

  /** Whether a page can be fetched by the last object of the one before. */
  #hasKeys(order) {
    if (this.information.keyFields.length > 1) return false;
    return order.every(({ name }) =>
      ['objectId', 'createdAt', 'updatedAt'].includes(name)
      || this.names.includes(name) && ['String', 'Number', 'Boolean'].includes(this.information.field(name)?.type));
  }
}

/** The condition for the objects after one, in an order. */
function after(row, order) {
  const value = (name) => (name === 'createdAt' || name === 'updatedAt' ? { __type: 'Date', iso: row[name] } : row[name]);
  const beyond = ({ name, descends }) => {
    // Unset values come first.
    if (row[name] === undefined) return descends ? null : [{ [name]: { $exists: true } }];
    const cases = [{ [name]: { [descends ? '$lt' : '$gt']: value(name) } }];
    if (descends && name !== 'objectId') cases.push({ [name]: { $exists: false } });
    return cases;
  };
  const same = ({ name }) => ({ [name]: row[name] === undefined ? { $exists: false } : value(name) });
  const cases = [];
  for (const [place, term] of order.entries()) {
    for (const last of beyond(term) ?? []) cases.push(Object.assign({}, ...order.slice(0, place).map(same), last));
    if (term.name === 'objectId') break;
  }
  if (cases.length === 1) return cases[0];
  const condition = { $or: cases };
  // So an index finds where to begin.
  const [first] = order;
  if (!first.descends && row[first.name] !== undefined) condition[first.name] = { $gte: value(first.name) };
  return condition;
}
