// A client of Parse's REST API, for `relata serve` and Parse Server.

/** The server refused a request. The codes are Parse's. */
export class ParseError extends Error {
  static objectNotFound = 101;
  static deletionDenied = 119;
  static duplicateValue = 137;

  constructor({ code, error }) {
    super(error);
    this.code = code;
  }
}

/** The server can't be reached, or can't answer at the moment. */
export class Unreachable extends Error {}

export const pointer = (className, objectId) => ({ __type: "Pointer", className, objectId });

/** An id for a new object, so that other objects in the same batch can point at it. Requires --custom-object-ids. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(36).padStart(2, "0")).join("");
}

export class Client {
  constructor({ applicationId, path = "/parse" }) {
    this.path = path;
    this.applicationId = applicationId;
  }

  /** Objects of a class: { results, count }. `where` is a condition; other parameters are `order`, `include`, `limit` … */
  find(className, { where = {}, ...parameters } = {}) {
    const query = new URLSearchParams({ where: JSON.stringify(where), ...parameters });
    return this.send("GET", `/classes/${className}?${query}`);
  }

  get(className, id, parameters = {}) {
    return this.send("GET", `/classes/${className}/${id}?${new URLSearchParams(parameters)}`);
  }

  create(className, fields) {
    return this.send("POST", `/classes/${className}`, fields);
  }

  update(className, id, fields) {
    return this.send("PUT", `/classes/${className}/${id}`, fields);
  }

  delete(className, id) {
    return this.send("DELETE", `/classes/${className}/${id}`);
  }

  /** The objects that a deletion would delete or be prevented by: { deleted, blockers, isDenied }. Deletes nothing. */
  deletionPlan(className, id) {
    return this.get(className, id, { deletionPlan: 1 });
  }

  /** Stores a file. Resolves to a value for an object's field. The server deletes files that no object refers to. */
  async upload(name, blob) {
    const { name: stored, url } = await this.send("POST", `/files/${encodeURIComponent(name)}`, blob);
    return { __type: "File", name: stored, url };
  }

  /** The address of a file on the page's own origin, with the signature that the server may have added. */
  fileAddress({ name, url }) {
    const [signature = ""] = String(url).match(/\?.*$/) ?? [];
    return `${this.path}/files/${encodeURIComponent(this.applicationId)}/${encodeURIComponent(name)}${signature}`;
  }

  /** Sends several requests as one transaction: ["POST", "/classes/Book", fields]. */
  transaction(...requests) {
    const parts = requests.map(([method, path, body]) => ({ method, path: this.path + path, body }));
    return this.send("POST", "/batch", { requests: parts, transaction: true });
  }

  /**
   * Follows a class by a live query: calls `changed` whenever its objects change, and when the connection is lost or
   * restored, because changes may have been missed. Reconnects automatically, unless the server refuses: then `changed`
   * is called with the error.
   */
  follow(className, changed, query = {}) {
    const address = new URL(this.path, location.href.replace(/^http/, "ws"));
    let wait = 0.5;
    let isRefused = false;
    const open = () => {
      const socket = new WebSocket(address);
      const send = (message) => socket.send(JSON.stringify(message));
      socket.onopen = () => send({ op: "connect", applicationId: this.applicationId });
      socket.onmessage = ({ data }) => {
        const { op, code, error, reconnect } = JSON.parse(data);
        if (op === "error") {
          isRefused = !reconnect;
          return changed(new ParseError({ code, error }));
        }
        if (op === "connected") return send({ op: "subscribe", requestId: 1, query: { className, where: {}, ...query } });
        if (op === "subscribed") wait = 0.5;
        changed();
      };
      socket.onclose = () => {
        if (isRefused) return;
        setTimeout(open, wait * 1000);
        wait = Math.min(wait * 2, 30);
        changed();
      };
    };
    open();
  }

  async send(method, path, body) {
    const headers = { "X-Parse-Application-Id": this.applicationId };
    const isBlob = body instanceof Blob;
    if (body) headers["Content-Type"] = isBlob ? body.type : "application/json";
    // If the reply is lost, the request is sent again with the same id, so it still takes effect only once.
    if (method !== "GET") headers["X-Parse-Request-Id"] = newId();
    const options = { method, headers, body: isBlob ? body : body && JSON.stringify(body) };
    let response;
    try {
      response = await this.attempt(path, options).catch(() => this.attempt(path, options));
    } catch {
      throw new Unreachable();
    }
    if (response.status >= 500) throw new Unreachable();
    const reply = await response.json();
    if (!response.ok) throw new ParseError(reply);
    return reply;
  }

  attempt(path, options) {
    return fetch(this.path + path, { ...options, cache: "no-store", signal: AbortSignal.timeout(10_000) });
  }
}
