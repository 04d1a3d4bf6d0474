// A request of Parse's protocol as somebody writes it, with what came back; of a find also its SQL and its plan.
import { jsonText, jsonValue, server, session } from './api.js';
import { fill, h } from './dom.js';
import { number, t } from './language.js';
import { problemText } from './overlay.js';
import { code } from './query-dialog.js';

const written = { method: 'GET', path: '/classes/', body: '' };

export function consoleSection() {
  const methods = session.isReadOnly ? ['GET'] : ['GET', 'POST', 'PUT', 'DELETE'];
  const method = h('select', { 'aria-label': t('method'), onchange: () => { bodyLine.hidden = method.value === 'GET'; } }, methods.map((name) => h('option', { value: name, selected: name === written.method }, name)));
  const path = h('input', { type: 'text', class: 'predicate', spellcheck: 'false', autocomplete: 'off', 'aria-label': t('path'), value: written.path });
  const body = h('textarea', { class: 'code', rows: 5, spellcheck: 'false', 'aria-label': t('body'), placeholder: '{"name": "…"}' });
  body.value = written.body;
  const bodyLine = h('div', { hidden: method.value === 'GET' }, body);
  const result = h('div', { 'aria-live': 'polite' });
  const run = async () => {
    Object.assign(written, { method: method.value, path: path.value.trim(), body: body.value });
    const target = written.path.replace(/^(\/parse)?\/?/, '/');
    fill(result, h('p', { class: 'note' }, t('loading')));
    try {
      const { status, text, milliseconds } = await server.ask(written.method, target, written.method === 'GET' ? '' : written.body);
      fill(result, h('p', { role: 'status' }, h('span', { class: status < 400 ? 'kind new' : 'kind delete' }, status), ' ', t('took', { time: number(Number(milliseconds.toPrecision(3))) })),
        code(t('reply'), pretty(text)));
      if (status < 400 && written.method === 'GET' && /^\/classes\/[^/?]+(\?|$)/.test(target)) await explain(target, result);
    } catch (error) {
      fill(result, h('p', { class: 'form-problem', role: 'alert' }, problemText(error)));
    }
  };
  return h('section', { class: 'card', 'aria-labelledby': 'console-title' }, h('h2', { id: 'console-title' }, t('console')), h('p', { class: 'note' }, t('consoleHint')),
    h('form', {
      class: 'move-form',
      onsubmit: (event) => {
        event.preventDefault();
        run();
      },
      onkeydown: (event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        run();
      },
    }, h('div', { class: 'move-line' }, method, path, h('button', { type: 'submit', class: 'primary' }, t('send'))), bodyLine), result);
}

async function explain(target, result) {
  const { status, text } = await server.ask('GET', `${target}${target.includes('?') ? '&' : '?'}explain=true`, '');
  if (status >= 400) return;
  const [found] = jsonValue(text).results ?? [];
  if (!found) return;
  result.append(code(t('sql'), found.sql), code(t('plan'), found.plan.map(({ detail }) => detail).join('\n')));
}

function pretty(text) {
  try {
    return jsonText(jsonValue(text), 2);
  } catch {
    return text;
  }
}
