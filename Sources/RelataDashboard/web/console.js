// A request of Parse's protocol as somebody writes it, with its reply; of a find also its SQL and its plan.
import { jsonText, jsonValue, server, session } from './api.js';
import { fill, h, note, problemLine, select, submitButton } from './dom.js';
import { number, t } from './language.js';
import { problemText } from './overlay.js';
import { card, line } from './page.js';
import { code, planSections } from './query-dialog.js';

const written = { method: 'GET', path: '/classes/', body: '' };

export function consoleSection() {
  const methods = session.isReadOnly ? ['GET'] : ['GET', 'POST', 'PUT', 'DELETE'];
  const method = select({ 'aria-label': t('method'), onchange: () => { bodyLine.hidden = method.value === 'GET'; } }, methods, written.method);
  const path = h('input', { type: 'text', class: 'predicate', spellcheck: 'false', autocomplete: 'off', 'aria-label': t('path'), value: written.path });
  const body = h('textarea', { class: 'code', rows: 5, spellcheck: 'false', 'aria-label': t('body'), placeholder: '{"name": "…"}', value: written.body });
  const bodyLine = h('div', { hidden: method.value === 'GET' }, body);
  const result = h('div', { 'aria-live': 'polite' });
  const run = async () => {
    Object.assign(written, { method: method.value, path: path.value.trim(), body: body.value });
    const target = written.path.replace(/^(\/parse)?\/?/, '/');
    fill(result, note(t('loading')));
    try {
      const { status, text, milliseconds } = await server.ask(written.method, target, written.method === 'GET' ? '' : written.body);
      fill(result, h('p', { role: 'status' }, h('span', { class: status < 400 ? 'kind new' : 'kind delete' }, status), ' ', t('took', { time: number(Number(milliseconds.toPrecision(3))) })),
        code(t('reply'), pretty(text)));
      if (status < 400 && written.method === 'GET' && /^\/classes\/[^/?]+(\?|$)/.test(target)) await explain(target, result);
    } catch (error) {
      fill(result, problemLine(problemText(error)));
    }
  };
  return card('console', null,
    h('form', {
      class: 'move-form',
      onsubmit: run,
      onkeydown: (event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        run();
      },
    }, line(method, path, submitButton(t('send'))), bodyLine), result);
}

async function explain(target, result) {
  const { status, text } = await server.ask('GET', `${target}${target.includes('?') ? '&' : '?'}explain=true`, '');
  if (status >= 400) return;
  const [found] = jsonValue(text).results ?? [];
  if (!found) return;
  result.append(...planSections(found));
}

function pretty(text) {
  try {
    return jsonText(jsonValue(text), 2);
  } catch {
    return text;
  }
}
