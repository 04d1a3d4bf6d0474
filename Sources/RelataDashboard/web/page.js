// What the pages have in common: their heads, tables, and files that the browser saves.
import { h, iconButton } from './dom.js';
import { t } from './language.js';

/** The first line of a page; where the page is narrow, with the button to the classes. */
export function pageTitle(openSide, ...content) {
  return h('div', { class: 'page-title' },
    iconButton('menu', t('classes'), openSide, { class: 'plain square only-narrow' }), content);
}

/** A table of cells, under the names of its columns. */
export function table(names, rows, label) {
  return h('div', { class: 'table-scroll', tabindex: '0', role: 'group', 'aria-label': label }, h('table', { class: 'plain-table' },
    h('thead', {}, h('tr', {}, names.map((name) => h('th', { scope: 'col' }, t(`column.${name}`))))),
    h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, cell)))))));
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
