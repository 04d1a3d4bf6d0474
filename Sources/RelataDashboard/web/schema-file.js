// The differences between the schema and one in a file, and the deployment of the file's.
import { jsonText, server, session } from './api.js';
import { badge, checkbox, fill, h, labelLine, note, problemLine, spacer } from './dom.js';
import { t } from './language.js';
import { cancelButton, labelled, openDialog, problemText } from './overlay.js';
import { table } from './page.js';
import { ruleTexts, typeText } from './schema.js';
import { parsedJSON, unset } from './values.js';

/** Asks for a file and compares. Gives whether the schema was changed. */
export function compareSchema() {
  return openDialog(t('compareSchema'), (close) => {
    const input = h('input', { type: 'file', id: 'schema-file', accept: '.json', onchange: () => compare() });
    const removes = checkbox('schema-removes', { onchange: () => compare() });
    const result = h('div', { class: 'plan', 'aria-live': 'polite' });
    const problem = problemLine();
    const deploy = h('button', { class: 'primary', disabled: true, onclick: () => run() }, t('deploy'));
    let body;
    const compare = async (text = '') => {
      const mine = { removes: removes.checked };
      body = mine;
      deploy.disabled = true;
      fill(problem, text);
      fill(result);
      if (!input.files.length) return;
      try {
        mine.schema = parsedJSON(await input.files[0].text());
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
    return h('div', { class: 'object-form' }, h('div', { class: 'object-fields' }, note(t('compareSchemaHint')),
      labelled('schema-file', t('column.file'), input),
      !session.isReadOnly && labelLine(removes, t('schemaRemoves')), result),
    h('footer', problem, spacer(), cancelButton(close), !session.isReadOnly && deploy));
  }, { wide: true });
}

function comparison(differences) {
  if (!differences.length) return h('p', t('noDifferences'));
  return [h('p', t('differences', { count: differences.length })), table(['class', 'part', 'here', 'there'], differences.map(({ className, kind, name, here, there }) => [
    className, kind === 'class' ? t('column.class') : [badge(t(kind)), ' ', name], side(kind, here), side(kind, there)]), t('compareSchema'))];
}

/** One side of a difference. */
function side(kind, value) {
  if (value === undefined) return unset(t('none'));
  if (kind === 'class') return value.join(', ') || t('noFields');
  if (kind !== 'field') return h('code', jsonText(value));
  return [h('code', typeText(value)), ruleTexts({ ...value, order: value.order?.toString() }).map((text) => [' ', badge(text)])];
}

function planList({ changes, kept, refusals }) {
  const item = (name) => (text) => h('li', { class: name }, text);
  return [h('h3', t('schemaPlan')), h('ul', changes.map(item('')), kept.map(item('note')), refusals.map(item('form-problem')), !changes.length && !refusals.length && h('li', t('none')))];
}
