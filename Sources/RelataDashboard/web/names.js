// The names of objects that are mentioned where they themselves aren't shown.
import { server } from './api.js';
import { fill, h } from './dom.js';
import { schema, titleOf } from './schema.js';

const known = new Map();

/** Keeps the name of an object that is here anyway. */
export function remember(className, object) { known.set(`${className}/${object.objectId}`, String(titleOf(object, className))); }

/** Forgets all names: another viewer may not see the objects. */
export function forgetNames() { known.clear(); }

/** An element with the name of an object: its id, until the name is known. */
export function nameElement(className, id) {
  const key = `${className}/${id}`;
  const element = h('span', known.get(key) ?? id);
  const description = schema.get(className);
  if (!known.has(key) && description) {
    server.object(className, id, { keys: description.titleKeys.join(',') }).then((object) => {
      remember(className, object);
      fill(element, known.get(key));
    }, () => {}); // Of one that is gone, the id is all there is to say.
  }
  return element;
}
