// The place that is shown: all of it is in the address, so that a link leads there.
//
// `#/Book?predicate=year > 1970&search=moon&sort=-title&from=Genre/1/books&open=Book/3,Genre/1&trail=["Genre"]`

const texts = ['predicate', 'search', 'sort'];

/** Reads an address. A step of the trail is an address without its own trail. */
export function readPlace(hash = location.hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const [name = '', ...rest] = path.split('/').map(decode);
  return {
    page: name === '' && rest.length ? rest[0] : name ? 'class' : 'home',
    className: name,
    ...Object.fromEntries(texts.map((name) => [name, parameters.get(name) ?? ''])),
    relation: readRelation(parameters.get('from')),
    open: (parameters.get('open') ?? '').split(',').filter(Boolean).map(readObject).filter(Boolean),
    trail: readTrail(parameters.get('trail')),
  };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readRelation(text) {
  const parts = (text ?? '').split('/').map(decode);
  return parts.length === 3 ? { className: parts[0], id: parts[1], field: parts[2] } : null;
}

function readObject(text) {
  const parts = text.split('/').map(decode);
  return parts.length === 2 ? { className: parts[0], id: parts[1] } : null;
}

function readTrail(text) {
  try {
    const steps = JSON.parse(text ?? '[]');
    return Array.isArray(steps) ? steps.filter((step) => typeof step === 'string') : [];
  } catch {
    return [];
  }
}

const encode = encodeURIComponent;

/** The address of a place. */
export function address(place) {
  if (place.page === 'home') return '#/';
  if (place.page !== 'class') return `#//${encode(place.page)}`;
  const parameters = new URLSearchParams();
  for (const name of texts) if (place[name]) parameters.set(name, place[name]);
  const { relation } = place;
  if (relation) parameters.set('from', [relation.className, relation.id, relation.field].map(encode).join('/'));
  if (place.open?.length) {
    parameters.set('open', place.open.map(({ className, id }) => `${encode(className)}/${encode(id)}`).join(','));
  }
  if (place.trail?.length) parameters.set('trail', JSON.stringify(place.trail));
  const query = parameters.toString();
  return `#/${encode(place.className)}${query ? '?' + query : ''}`;
}

/** The address of a class. */
export function classAddress(className, more) { return address({ page: 'class', className, ...more }); }

/** A text that identifies a path of objects. */
export function pathText(path) { return JSON.stringify(path.map(({ className, id }) => [className, id])); }

/** A place as a step of the trail of another. */
export function step(place) { return address({ ...place, trail: [], open: [] }); }

/** The longest trail that an address holds. */
export const longestTrail = 8;

export function go(place) {
  const wanted = address(place);
  if (wanted === location.hash) dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = wanted;
}
