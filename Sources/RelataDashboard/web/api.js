// Asks the server, by Parse's protocol, and by a few requests that the protocol lacks.

/** Why the server didn't do as it was asked; `status` is 0 where it wasn't reached. */
export class ServerError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const session = new (class extends EventTarget {
  information = null;

  /** As whom the store is viewed, `{ name, text }`; `null` for the master key. */
  viewer = null;

  /** Nothing is changed while the store is viewed as somebody else. */
  get isReadOnly() { return this.viewer !== null || (this.information?.isReadOnly ?? true); }

  view(viewer) {
    this.viewer = viewer;
    this.dispatchEvent(new Event('view'));
  }

  /** Asks who is signed in, which a page that was loaded anew doesn't know. */
  async resume() {
    const before = this.information;
    const information = await send('GET', 'session');
    // Somebody may have signed in meanwhile.
    if (this.information === before) this.#take(information);
  }

  async signIn(key) { this.#take(await send('POST', 'login', { body: { key } })); }

  async signOut() {
    await send('POST', 'logout').catch(() => {});
    this.end();
  }

  end() {
    if (!this.information) return;
    this.information = null;
    this.viewer = null;
    this.dispatchEvent(new Event('end'));
  }

  #take(information) { this.information = information.pageToken ? information : null; }
})();

/** Numbers that JavaScript would round are kept as they are. */
function exact(name, value, context) {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  return /^-?\d+$/.test(context?.source ?? '') ? BigInt(context.source) : value;
}

/** The text of a value, with whole numbers of any size. */
export function jsonText(value, space) {
  const raw = JSON.rawJSON ?? ((text) => Number(text));
  return JSON.stringify(value, (name, part) => (typeof part === 'bigint' ? raw(String(part)) : part), space);
}

export function jsonValue(text) { return JSON.parse(text, exact); }

/** A reply of any status. `bytes` is a body that is sent unchanged; `asMaster` is for requests that the viewer doesn't make. */
async function exchange(method, path, { query = {}, body, bytes, signal, asMaster = false } = {}) {
  const address = new URL('api/' + path, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    address.searchParams.set(name, typeof value === 'string' ? value : jsonText(value));
  }
  const headers = {};
  if (session.information) headers['X-Relata-Page-Token'] = session.information.pageToken;
  if (session.viewer && !asMaster && /^(parse|counts|access|schema\/deployment)\b/.test(path)) headers['X-Relata-View-As'] = session.viewer.name;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let reply;
  let content;
  try {
    reply = await fetch(address, {
      method, headers, signal, body: bytes ?? (body === undefined ? undefined : jsonText(body)), credentials: 'same-origin', cache: 'no-store',
    });
    content = reply.headers.get('content-type') === 'application/octet-stream' ? await reply.blob() : await reply.text();
  } catch (error) {
    if (['AbortError', 'TimeoutError'].includes(error.name)) throw error;
    throw new ServerError(0, 0, String(error.message));
  }
  if (reply.status === 401) session.end();
  return { reply, content };
}

async function send(method, path, options) {
  const { reply, content } = await exchange(method, path, options);
  if (reply.ok && (content instanceof Blob || reply.headers.get('content-type')?.startsWith('image/'))) return content;
  let json;
  try {
    json = jsonValue(content);
  } catch {
    json = {};
  }
  if (!reply.ok) throw new ServerError(reply.status, json.code ?? 0, json.error ?? `HTTP ${reply.status}`);
  return json;
}

const at = (...path) => path.map(encodeURIComponent).join('/');
const get = (path, query, options) => send('GET', path, { query, ...options });

export const server = {
  classes: async () => (await get('classes')).results,
  changes: () => get('changes'),
  /** About how many objects classes have, by the database's statistics; others than the master key see fewer. */
  estimates: async () => (session.viewer ? {} : get('estimates')),
  diagram: () => get('diagram.svg'),
  counts: (className, relations, ids) => get(at('counts', className), { relations, ids }),
  find: (className, query, signal) => get(at('parse', 'classes', className), query, { signal }),
  object: (className, id, query) => get(at('parse', 'classes', className, id), query),
  deletionPlan: (className, id) => server.object(className, id, { deletionPlan: '1' }),
  /** The viewer's rights on the objects of a class, or on one of them. */
  access: (className, id) => get(at('access', className, ...id === undefined ? [] : [id])),
  /** Somebody to view as, by name or id; `null` where there is none. */
  async user(text) {
    const where = { $or: [{ username: text }, { objectId: text }] };
    const { results } = await get('parse/classes/_User', { where, keys: 'username' }, { asMaster: true });
    const found = results.find(({ username }) => username === text) ?? results[0];
    return found ? { name: `user:${found.objectId}`, text: found.username ?? found.objectId } : null;
  },
  async role(text) {
    const { results: [found] } = await get('parse/classes/_Role', { where: { name: text }, keys: 'name' }, { asMaster: true });
    return found ? { name: `role:${found.name}`, text: found.name } : null;
  },
  /** The schema as a file; with a body, a request about another one. */
  schemaFile: (what, body) => (what ? send('POST', `schema/${what}`, { body }) : get('schema')),
  request: (method, path, options) => send(method, 'parse' + path, options),

  // Files, a page after the other.
  files: ({ after, unused }) => get('files', { after, unused: unused ? '1' : '' }),
  fileURL: async (name) => (await get(at('files', name))).url,
  /** Stores a file, and resolves to the value that refers to it. */
  async upload(file) {
    // Its name on the server has a part of its own; it begins with a letter, a digit or _, and has few other characters.
    const name = file.name.slice(-100).replace(/[^\w@. ~-]|^\W/g, '_');
    return { __type: 'File', name: (await send('POST', at('files', name), { bytes: file })).name };
  },
  deleteFile: (name, isForced) => send('DELETE', at('files', name), { query: { force: isForced ? '1' : '' } }),

  // The server itself.
  feed: (after) => get('feed', { after: String(after) }),
  slow: async () => (await get('slow')).results,
  audit: async () => (await get('audit')).results,
  metrics: async () => (await get('metrics')).text,
  check: async (signal) => (await get('check', {}, { signal })).results,
  /** A request as somebody wrote it, and its reply of any kind. */
  async ask(method, path, text) {
    const start = performance.now();
    const { reply, content } = await exchange(method, 'parse' + path, { bytes: text || undefined });
    return { status: reply.status, text: content, milliseconds: performance.now() - start };
  },

  // Exports and imports.
  beginExport: (classes, format) => send('POST', 'exports', { body: { classes, format } }),
  beginImport: (files) => send('POST', 'imports', { body: { files } }),
  runImport: (id, options) => send('POST', `imports/${id}/run`, { body: options }),
  transfer: (id) => get(at('transfers', id)),
  endTransfer: (id) => send('DELETE', at('transfers', id)),
  piece: (id, name, offset) => get(at('transfers', id, name), { offset: String(offset) }),
  addPiece: (id, name, offset, bytes) => send('PUT', at('transfers', id, name), { query: { offset: String(offset) }, bytes }),
};

export function pointer(className, objectId) { return { __type: 'Pointer', className, objectId }; }
