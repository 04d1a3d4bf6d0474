// Makes elements. Text is always text: no string is ever read as HTML, whatever the database holds.

/** An element: `h('button', { class: 'plain', onclick: save }, 'Save')`. Names with `on` are listeners. The attributes may be left out. */
export function h(tag, attributes = {}, ...children) {
  if (attributes?.constructor !== Object) return h(tag, {}, attributes, ...children);
  const element = document.createElement(tag);
  // No form sends itself, and a button does so only where it says so.
  if (tag === 'button') element.type = 'button';
  if (tag === 'form') element.addEventListener('submit', (event) => event.preventDefault());
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (['value', 'checked', 'disabled', 'indeterminate'].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

/** Sets an attribute, or takes it away where there is no value. */
export function setAttribute(element, name, value) {
  if (value) element.setAttribute(name, value);
  else element.removeAttribute(name);
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Puts other children in the place of an element's. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

const shapes = {
  table: 'M3 5h18v14H3zM3 10h18M3 15h18M9 10v9',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM16 16l4.5 4.5',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  filter: 'M4 5h16l-6 8v5l-4 2v-7z',
  columns: 'M4 5h16v14H4zM9.5 5v14M14.5 5v14',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  right: 'm9 5 7 7-7 7',
  down: 'm5 9 7 7 7-7',
  up: 'm5 15 7-7 7 7',
  close: 'm6 6 12 12M18 6 6 18',
  key: 'M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM11 12l9-9M16 7l3 3',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1.5-1.5',
  many: 'M4 6h4v4H4zM4 14h4v4H4zM12 8h8M12 16h8',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3 12h18M12 3c-6 6-6 12 0 18M12 3c6 6 6 12 0 18',
  leave: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
  diagram: 'M3 4h7v5H3zM14 15h7v5h-7zM6.5 9v8.5H14',
  undo: 'M9 7 4 12l5 5M4 12h10a6 6 0 0 1 6 6',
  redo: 'm15 7 5 5-5 5M20 12H10a6 6 0 0 0-6 6',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  menu: 'M4 6h16M4 12h16M4 18h16',
  copy: 'M8 8h12v12H8zM16 8V4H4v12h4',
  reload: 'M20 11a8 8 0 1 0-2 6M20 4v7h-7',
  lock: 'M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3',
  save: 'm5 13 4 4L19 7',
  code: 'm8 7-5 5 5 5M16 7l5 5-5 5',
  pencil: 'm4 20 1-4L16 5l3 3L8 19zM14 7l3 3',
  gauge: 'M4 18a9 9 0 1 1 16 0M12 14l4-5M12 14v.5',
  move: 'M4 8h13M13 4l4 4-4 4M20 16H7M11 12l-4 4 4 4',
  eye: 'M2.5 12C5 7 8.5 5 12 5s7 2 9.5 7c-2.5 5-6 7-9.5 7s-7-2-9.5-7ZM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6',
  alert: 'M12 4 2.5 20h19zM12 10v5M12 17v1',
};

/** An element of a picture. */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A picture that says nothing to those who hear the page. */
export function icon(name) {
  return svg('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' }, svg('path', { d: shapes[name] }));
}

export function spacer() { return h('span', { class: 'spacer' }); }
export function note(...content) { return h('p', { class: 'note' }, content); }
export function noteItem(...content) { return h('li', { class: 'note' }, content); }
/** A line for errors, which screen readers announce. */
export function problemLine(...content) { return h('p', { class: 'form-problem', role: 'alert' }, content); }
export function badge(...content) { return h('span', { class: 'badge' }, content); }
/** The type of something, beside its name. */
export function typeLabel(...content) { return h('span', { class: 'type' }, content); }

export function submitButton(...content) { return h('button', { type: 'submit', class: 'primary' }, content); }
/** A button that looks like a link, as it leads somewhere. */
export function linkButton(onclick, ...content) { return h('button', { class: 'link', onclick }, content); }

/** A button with a picture, whose text is for those who point at it or hear the page. */
export function iconButton(shape, text, onclick, more) {
  return h('button', { class: 'plain square', title: text, 'aria-label': text, onclick, ...more }, icon(shape));
}

/** The same beside a line of text. */
export function smallButton(shape, text, onclick, more) {
  return iconButton(shape, text, onclick, { class: 'plain square small', ...more });
}

export function checkbox(id, more) { return h('input', { type: 'checkbox', id, ...more }); }
/** A field or a box to check, and its purpose. */
export function labelLine(...content) { return h('label', { class: 'line' }, content); }

/** A button that opens and closes a list; `turned` is told whether it is open. */
export function twist(name, list, turned) {
  const button = h('button', {
    class: 'plain twist', 'aria-expanded': String(!list.hidden), 'aria-label': name,
    onclick: () => {
      list.hidden = !list.hidden;
      button.setAttribute('aria-expanded', String(!list.hidden));
      turned(!list.hidden);
    },
  }, icon('right'));
  return button;
}

/** A field to choose in: of each choice its value, or its value and its text. */
export function select(attributes, choices, chosen) {
  return h('select', attributes, choices.map((choice) => {
    const [value, text = value] = [choice].flat();
    return h('option', { value, selected: value === chosen }, text);
  }));
}

/** Calls a function once nothing has asked for it for a while. */
export function later(milliseconds, action) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

/** The settings that a browser keeps for this dashboard; none if it keeps nothing. */
export const memory = {
  read(name, otherwise) {
    try {
      const text = localStorage.getItem('relata.' + name);
      return text === null ? otherwise : JSON.parse(text);
    } catch {
      return otherwise;
    }
  },
  write(name, value) {
    try {
      localStorage.setItem('relata.' + name, JSON.stringify(value));
    } catch {
      // A browser that keeps nothing shows the same, until it is closed.
    }
  },
};
