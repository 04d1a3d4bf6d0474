// What the grid asks: as a request of Parse's protocol, as SQL, and as the steps of the database's plan.
import { jsonText, server } from './api.js';
import { fill, h, icon } from './dom.js';
import { t } from './language.js';
import { notify, openDialog, problemText } from './overlay.js';

/** @param query The parameters of a request for objects of a class. */
export function showQuery(className, query) {
  return openDialog(t('query'), (close) => {
    const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => [name, typeof value === 'string' ? value : jsonText(value)]));
    const request = `GET /parse/classes/${encodeURIComponent(className)}?${parameters}`;
    const sql = h('div', { 'aria-busy': 'true' }, h('p', { class: 'note' }, t('loading')));
    server.find(className, { ...query, explain: 'true' }).then(({ results: [found] }) => {
      fill(sql, code(t('sql'), found.sql), code(t('plan'), found.plan.map(({ detail }) => detail).join('\n')));
    }, (error) => fill(sql, h('p', { class: 'form-problem', role: 'alert' }, problemText(error)))).finally(() => sql.setAttribute('aria-busy', 'false'));
    return [h('div', { class: 'changes' }, code(t('request'), request), sql), h('footer', {}, h('button', { type: 'button', class: 'primary', onclick: () => close() }, t('done')))];
  }, { wide: true });
}

/** A text to copy, such as SQL. */
export function code(title, text) {
  return h('section', { class: 'code-block' }, h('header', {}, h('h3', {}, title), h('span', { class: 'spacer' }), h('button', {
    type: 'button', class: 'plain square small', 'aria-label': `${title}: ${t('copy')}`, title: t('copy'),
    onclick: () => navigator.clipboard.writeText(text).then(() => notify(t('copiedText')), () => {}),
  }, icon('copy'))), h('pre', { tabindex: '0' }, text));
}
