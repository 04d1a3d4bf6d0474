// The query of the grid: as a request of Parse's protocol, as SQL, and as the steps of the database's plan.
import { jsonText, server } from './api.js';
import { h, spacer } from './dom.js';
import { t } from './language.js';
import { copyButton, doneFooter, fillLater, openDialog } from './overlay.js';

/** @param query The parameters of a request for objects of a class. */
export function showQuery(className, query) {
  return openDialog(t('query'), (close) => {
    const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => [name, typeof value === 'string' ? value : jsonText(value)]));
    const request = `GET /parse/classes/${encodeURIComponent(className)}?${parameters}`;
    const sql = h('div');
    fillLater(sql, async () => planSections((await server.find(className, { ...query, explain: 'true' })).results[0]));
    return [h('div', { class: 'changes' }, code(t('request'), request), sql), doneFooter(close)];
  }, { wide: true });
}

/** The SQL of a query, and its plan. */
export function planSections({ sql, plan }) { return [code(t('sql'), sql), code(t('plan'), plan.map(({ detail }) => detail).join('\n'))]; }

/** A text to copy, such as SQL. */
export function code(title, text) {
  return h('section', { class: 'code-block' }, h('header', h('h3', title), spacer(), copyButton(title, text)), h('pre', { tabindex: '0' }, text));
}
