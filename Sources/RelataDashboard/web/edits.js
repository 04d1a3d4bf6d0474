// Unsaved edits: kept in the page, shown as a list, saved together or not at all.
import { pointer, server, session } from './api.js';
import { schema, selection, titleOf } from './schema.js';

/** Whether two values are the same, however their members are ordered. */
function isSame(one, other) { return canonical(one) === canonical(other); }

function canonical(value) {
  return JSON.stringify(plain(value), (name, part) => {
    if (typeof part === 'bigint') return `${part}n`;
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  }) ?? 'unset';
}

/** A value as it is sent: of an object that came along, only where it is. */
export function plain(value) {
  return value?.className && value.objectId ? pointer(value.className, value.objectId) : value;
}

/** The first members of a relation, in its order. */
export async function firstMembers(className, id, field, limit) {
  const target = schema.get(field.targetClass);
  const { results } = await server.find(field.targetClass, {
    where: { $relatedTo: { object: pointer(className, id), key: field.name } }, limit: String(limit),
    ...selection(target, [...target.titleKeys, ...target.pointers.map(({ name }) => name)]),
  });
  return results.map((member) => ({ ...member, className: field.targetClass }));
}

/** A list in another order; members that the order lacks come last. */
export function arranged(list, order) {
  const place = ({ objectId }) => (order.findIndex((other) => other.objectId === objectId) + 1 || order.length + 1);
  return [...list].sort((a, b) => place(a) - place(b));
}

function asMember(object) { return { ...pointer(object.className, object.objectId), title: String(titleOf(object, object.className)) }; }

function mapped(fields, change) { return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)])); }

class Edits extends EventTarget {
  /** Each has `className`, `id`, `title`, `kind` (`change`, `new`, `delete`), `fields` and `members`. */
  #all = new Map();
  /** The states before the steps, and those that were undone. */
  #history = [];
  #undone = [];
  #new = 0;

  get list() { return [...this.#all.values()]; }
  get canUndo() { return this.#history.length > 0; }
  get canRedo() { return this.#undone.length > 0; }

  of(className, id) { return this.#all.get(`${className}/${id}`); }

  /** The value of a field of an object, with its edit. */
  value(className, row, name) {
    const { fields = {} } = this.of(className, row.objectId) ?? {};
    return name in fields ? fields[name].after : row[name];
  }

  /** The objects of a class that are to be made, as others may point at them. */
  newOnes(className) {
    return this.list.filter((edit) => edit.kind === 'new' && edit.className === className).map(({ id, fields }) => ({
      ...mapped(fields, ({ after }) => after), className, objectId: id,
    }));
  }

  #tell() { this.dispatchEvent(new Event('change')); }

  #step(change) {
    this.#history.push(new Map([...this.#all].map(([key, edit]) => [key, structuredClone(edit)])));
    this.#undone = [];
    change();
    for (const [key, edit] of this.#all) {
      const isEmpty = !Object.keys(edit.fields).length && !Object.values(edit.members).some(({ added, removed, order }) => added.length + removed.length || order);
      if (edit.kind === 'change' && isEmpty) this.#all.delete(key);
    }
    this.#tell();
  }

  undo() { this.#go(this.#history, this.#undone); }
  redo() { this.#go(this.#undone, this.#history); }

  /** Shows the last of some states, and keeps the present one among others. */
  #go(states, others) {
    if (!states.length) return;
    others.push(this.#all);
    this.#all = states.pop();
    this.#tell();
  }

  #edit(className, row) {
    const key = `${className}/${row.objectId}`;
    if (!this.#all.has(key)) {
      this.#all.set(key, { className, id: row.objectId, title: String(titleOf(row, className)), kind: 'change', fields: {}, members: {} });
    }
    return this.#all.get(key);
  }

  /** A field of an object gets another value; `undefined` for none. */
  set(className, row, name, after) { this.setAll(className, [{ row, name, after }]); }

  /** Fields of objects get other values, which is one step. */
  setAll(className, changes) {
    this.#step(() => {
      for (const { row, name, after } of changes) {
        const { fields } = this.#edit(className, row);
        const before = name in fields ? fields[name].before : row[name];
        if (isSame(before, after)) delete fields[name];
        else fields[name] = { before, after };
      }
    });
  }

  create(className, values) {
    this.#step(() => {
      this.#new += 1;
      const id = `new-${this.#new}`;
      const known = schema.get(className);
      const edit = { className, id, title: String(titleOf({ ...values, objectId: '' }, className) ?? ''), kind: 'new', fields: {}, members: {} };
      for (const [name, after] of Object.entries(values)) {
        if (known.field(name).type !== 'Relation') edit.fields[name] = { before: undefined, after };
        else if (after.length) edit.members[name] = { added: after.map(asMember), removed: [] };
      }
      this.#all.set(`${className}/${id}`, edit);
    });
  }

  remove(className, row) {
    this.#step(() => {
      const edit = this.#edit(className, row);
      Object.assign(edit, { kind: 'delete', fields: {}, members: {} });
    });
  }

  /** An object is added to a relation, or taken out of it. */
  setMember(className, row, name, member, isIn) {
    this.#step(() => {
      const edit = this.#edit(className, row);
      const change = edit.members[name] ??= { added: [], removed: [] };
      const [to, from] = isIn ? [change.added, change.removed] : [change.removed, change.added];
      const place = from.findIndex(({ objectId }) => objectId === member.objectId);
      if (place >= 0) from.splice(place, 1);
      else if (!to.some(({ objectId }) => objectId === member.objectId)) {
        to.push(asMember(member));
      }
    });
  }

  /** The first members of a relation get another order. */
  setOrder(className, row, name, before, after) {
    this.#step(() => {
      const change = this.#edit(className, row).members[name] ??= { added: [], removed: [] };
      this.#order(change, change.order?.before ?? before.map(asMember), after.map(asMember));
    });
  }

  #order(change, before, after) {
    if (isSame(before.map(plain), after.map(plain))) delete change.order;
    else change.order = { before, after };
  }

  /** Takes back the edits of one object, or all. Nothing points any more at a new one that isn't to be made. */
  discard(edit) {
    this.#step(() => {
      if (!edit) return this.#all.clear();
      this.#all.delete(`${edit.className}/${edit.id}`);
      if (edit.kind !== 'new') return;
      const isIt = (value) => value?.className === edit.className && value.objectId === edit.id;
      for (const { fields, members } of this.#all.values()) {
        for (const [name, { after }] of Object.entries(fields)) if (isIt(after)) delete fields[name];
        for (const change of Object.values(members)) change.added = change.added.filter((member) => !isIt(member));
      }
    });
  }

  // MARK: Saving

  /** Saves all, or nothing: somebody else's change of the same values is a `ServerError` with the status 409. */
  async save() {
    const saved = this.list;
    // If saving is refused afterwards, the file isn't uploaded again.
    for (const change of saved.flatMap(({ fields }) => Object.values(fields))) {
      if (change.after?.file) change.after = await server.upload(change.after.file);
    }
    const requests = saved.map((edit) => this.#request(edit));
    const expected = saved.filter(({ kind }) => kind !== 'new').map(({ className, id, fields, members }) => ({
      className, objectId: id, fields: Object.fromEntries([
        ...Object.entries(fields).map(([name, { before }]) => [name, plain(before) ?? null]),
        ...Object.entries(members).filter(([, { order }]) => order).map(([name, { order }]) => [name, order.before.map(plain)]),
      ]),
    }));
    await server.request('POST', '/batch', { body: { transaction: true, requests, expected } });
    this.#all.clear();
    this.#history = [];
    this.#undone = [];
    this.#tell();
    this.dispatchEvent(new CustomEvent('save', { detail: saved }));
    return saved;
  }

  #request({ className, id, kind, fields, members }) {
    const path = `/classes/${encodeURIComponent(className)}`;
    const body = mapped(fields, ({ after }) => (after === undefined ? { __op: 'Delete' } : plain(after)));
    for (const [name, { added, removed, order }] of Object.entries(members)) {
      // Placing adds, so that removing comes last.
      const ops = [['PlaceRelation', order?.after ?? []], ['AddRelation', added], ['RemoveRelation', removed]].filter(([, objects]) => objects.length)
        .map(([__op, objects]) => ({ __op, objects: objects.map(plain) }));
      body[name] = ops.length === 1 ? ops[0] : { __op: 'Batch', ops };
    }
    if (kind === 'new') return { method: 'POST', path, body, placeholder: id };
    const target = `${path}/${encodeURIComponent(id)}`;
    return kind === 'delete' ? { method: 'DELETE', path: target } : { method: 'PUT', path: target, body };
  }

  /** The values that others changed since the edits: `[{ edit, name, theirs }]`; deleted objects without a name. */
  async conflicts() {
    const found = [];
    for (const edit of this.list.filter(({ kind }) => kind !== 'new')) {
      const known = schema.get(edit.className);
      try {
        const object = await server.object(edit.className, edit.id, selection(known, Object.keys(edit.fields)));
        for (const [name, { before }] of Object.entries(edit.fields)) {
          if (!isSame(before, object[name])) found.push({ edit, name, theirs: object[name] });
        }
        for (const [name, { order }] of Object.entries(edit.members).filter(([, change]) => change.order)) {
          const theirs = (await firstMembers(edit.className, edit.id, known.field(name), order.before.length)).map(asMember);
          if (!isSame(order.before.map(plain), theirs.map(plain))) found.push({ edit, name, theirs });
        }
      } catch (error) {
        if (error.code !== 101) throw error;
        found.push({ edit });
      }
    }
    return found;
  }

  /** Keeps one of the two values: one's own, or the stored one. */
  resolve({ edit, name, theirs }, isMine) {
    this.#step(() => {
      const kept = this.of(edit.className, edit.id);
      if (!kept) return;
      if (name === undefined) this.#all.delete(`${edit.className}/${edit.id}`);
      else if (kept.members[name]?.order) {
        const change = kept.members[name];
        this.#order(change, theirs, isMine ? arranged(theirs, change.order.after) : theirs);
      } else if (isMine) kept.fields[name].before = theirs;
      else delete kept.fields[name];
    });
  }

  /** Changes saved values back. */
  revert(saved) {
    this.#step(() => {
      for (const { className, id, title, fields } of saved) {
        const back = mapped(fields, ({ before, after }) => ({ before: after, after: before }));
        this.#all.set(`${className}/${id}`, { className, id, title, kind: 'change', fields: back, members: {} });
      }
    });
  }
}

export const edits = new Edits();

export function canEdit(field) {
  return !session.isReadOnly && !['objectId', 'createdAt', 'updatedAt'].includes(field.name);
}

addEventListener('beforeunload', (event) => { if (edits.list.length) event.preventDefault(); });
