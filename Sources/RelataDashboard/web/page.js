// The common parts of the pages: their heads, tables, and files that the browser saves.
import { session } from './api.js';
import { fill, h, icon, iconButton, note, spacer } from './dom.js';
import { t } from './language.js';

/** The first line of a page; where the page is narrow, with the button to the classes. */
export function pageTitle(openSide, ...content) {
  return h('div', { class: 'page-title' },
    menuButton(openSide), content);
}

export function menuButton(openSide) { return iconButton('menu', t('classes'), openSide, { class: 'plain square only-narrow' }); }

/** Shows a page without a class: its name, its actions, a part below them, and its content. */
export function fillPage(main, { openSide, title, actions, below }, ...content) {
  fill(main, h('header', { class: 'page-head' }, pageTitle(openSide, h('h1', title), spacer(), actions), below), h('div', { class: 'page-scroll' }, content));
}

/** A line of fields and buttons. */
export function line(...content) { return h('div', { class: 'move-line' }, content); }

/** A part of a page, under the texts of its name and its hint. */
export function card(name, action, ...content) {
  return h('section', { class: 'card', 'aria-labelledby': `${name}-title` },
    h('div', { class: 'card-head' }, h('h2', { id: `${name}-title` }, t(name)), spacer(), action), note(t(`${name}Hint`)), content);
}

/** The content of a page or a grid that has nothing to show. */
export function emptyNotice(shape, text, ...more) { return h('div', { class: 'empty' }, icon(shape), h('p', { role: shape === 'alert' && 'alert' }, text), more); }

/** Does something every two seconds, as long as an element is shown to somebody who is signed in. */
export function repeatWhileShown(element, action) {
  const timer = setInterval(() => {
    if (!element.isConnected) clearInterval(timer);
    else if (document.visibilityState === 'visible' && session.information) action(() => clearInterval(timer));
  }, 2000);
}

/** The mark between the steps of a trail. */
export function crumbMark() { return h('span', { class: 'crumb-mark', 'aria-hidden': 'true' }, '›'); }

/** A table of cells, under the names of its columns. */
export function table(names, rows, label) {
  return h('div', { class: 'table-scroll', tabindex: '0', role: 'group', 'aria-label': label }, h('table', { class: 'plain-table' },
    h('thead', h('tr', names.map((name) => h('th', { scope: 'col' }, t(`column.${name}`))))),
    h('tbody', rows.map((row) => h('tr', row.map((cell) => h('td', cell)))))));
}

/** Has the browser save a file. */
export function saveFile(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
