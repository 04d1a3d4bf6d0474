// How the schema differs from one in a file, and the deployment of the file's.
import { jsonText, jsonValue, server, session } from './api.js';
import { fill, h } from './dom.js';
import { t } from './language.js';
import { openDialog, problemText } from './overlay.js';
import { table } from './page.js';
import { ruleTexts, typeText } from './schema.js';

/** Asks for a file and compares. Gives whether the schema was changed. */
export function compareSchema() {
  return openDialog(t('compareSchema'), (close) => {
    const input = h('input', { type: 'file', id: 'schema-file', accept: '.json', onchange: () => compare() });
    const removes = h('input', { type: 'checkbox', id: 'schema-removes', onchange: () => compare() });
    const result = h('div', { class: 'plan', 'aria-live': 'polite' });
    const problem = h('p', { class: 'form-problem', role: 'alert' });
    const deploy = h('button', { type: 'button', class: 'primary', disabled: true, onclick: () => run() }, t('deploy'));
    let body;
    const compare = async (text = '') => {
      const mine = { removes: removes.checked };
      body = mine;
      deploy.disabled = true;
      fill(problem, text);
      fill(result);
      if (!input.files.length) return;
      try {
        mine.schema = await content(input.files[0]);
        const { results } = await server.schemaFile('comparison', mine);
        const plan = !session.isReadOnly && await server.schemaFile('plan', mine);
        // Another file may have been chosen meanwhile.
        if (body !== mine) return;
        mine.expected = plan.changes;
        fill(result, comparison(results), plan && planList(plan));
        deploy.disabled = !plan || !plan.changes.length || plan.refusals.length > 0;
      } catch (error) {
        if (body === mine) fill(problem, problemText(error));
      }
    };
    const run = async () => {
      deploy.disabled = true;
      try {
        await server.schemaFile('deployment', body);
        close(true);
      } catch (error) {
        // Somebody may have changed the schema, and with it the plan.
        await compare(problemText(error));
      }
    };
    return h('div', { class: 'object-form' }, h('div', { class: 'object-fields' }, h('p', { class: 'note' }, t('compareSchemaHint')),
      h('div', { class: 'object-field' }, h('label', { for: 'schema-file' }, t('column.file')), input),
      !session.isReadOnly && h('div', { class: 'line' }, removes, h('label', { for: 'schema-removes' }, t('schemaRemoves'))), result),
    h('footer', {}, problem, h('span', { class: 'spacer' }), h('button', { type: 'button', onclick: () => close() }, t('cancel')), !session.isReadOnly && deploy));
  }, { wide: true });
}

async function content(file) {
  const text = await file.text();
  try {
    return jsonValue(text);
  } catch (error) {
    throw new Error(t('noJSON', { problem: error.message }));
  }
}

function comparison(differences) {
  if (!differences.length) return h('p', {}, t('noDifferences'));
  return [h('p', {}, t('differences', { count: differences.length })), table(['class', 'part', 'here', 'there'], differences.map(({ className, kind, name, here, there }) => [
    className, kind === 'class' ? t('column.class') : [h('span', { class: 'badge' }, t(kind)), ' ', name], side(kind, here), side(kind, there)]), t('compareSchema'))];
}

/** What one of the two has. */
function side(kind, value) {
  if (value === undefined) return h('span', { class: 'unset' }, t('none'));
  if (kind === 'class') return value.join(', ') || t('noFields');
  if (kind !== 'field') return h('code', {}, jsonText(value));
  return [h('code', {}, typeText(value)), ruleTexts({ ...value, order: value.order?.toString() }).map((text) => [' ', h('span', { class: 'badge' }, text)])];
}

function planList({ changes, kept, refusals }) {
  const item = (name) => (text) => h('li', { class: name }, text);
  return [h('h3', {}, t('schemaPlan')), h('ul', {}, changes.map(item('')), kept.map(item('note')), refusals.map(item('form-problem')), !changes.length && !refusals.length && h('li', {}, t('none')))];
}
