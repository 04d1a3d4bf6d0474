// Asks the server. What is asked is Parse's protocol, and a few things besides that it has no words for.

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

  get isReadOnly() { return this.information?.isReadOnly ?? true; }

  /** Asks who is signed in, which a page that was loaded anew doesn't know. */
  async resume() {
    const before = this.information;
    const information = await send('GET', 'session');
    // Whoever signed in meanwhile stays so.
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

async function send(method, path, { query = {}, body, signal } = {}) {
  const address = new URL('api/' + path, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    address.searchParams.set(name, typeof value === 'string' ? value : jsonText(value));
  }
  const headers = {};
  if (session.information) headers['X-Relata-Page-Token'] = session.information.pageToken;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let reply;
  let text;
  try {
    reply = await fetch(address, {
      method, headers, signal, body: body === undefined ? undefined : jsonText(body), credentials: 'same-origin', cache: 'no-store',
    });
    text = await reply.text();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ServerError(0, 0, String(error.message));
  }
  if (reply.status === 401) session.end();
  if (reply.ok && reply.headers.get('content-type')?.startsWith('image/')) return text;
  let json;
  try {
    json = jsonValue(text);
  } catch {
    json = {};
  }
  if (!reply.ok) throw new ServerError(reply.status, json.code ?? 0, json.error ?? `HTTP ${reply.status}`);
  return json;
}

const segment = encodeURIComponent;

export const server = {
  classes: async () => (await send('GET', 'classes')).results,
  changes: () => send('GET', 'changes'),
  diagram: () => send('GET', 'diagram.svg'),
  counts: (className, relations, ids) => send('GET', `counts/${segment(className)}`, { query: { relations, ids } }),
  find: (className, query, signal) => send('GET', `parse/classes/${segment(className)}`, { query, signal }),
  object: (className, id, query) => send('GET', `parse/classes/${segment(className)}/${segment(id)}`, { query }),
  deletionPlan: (className, id) =>
    send('GET', `parse/classes/${segment(className)}/${segment(id)}`, { query: { deletionPlan: '1' } }),
  request: (method, path, options) => send(method, 'parse' + path, options),
};

export function pointer(className, objectId) { return { __type: 'Pointer', className, objectId }; }
