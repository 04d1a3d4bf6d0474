// The list of unsaved edits, and their saving.
import { badge, fill, h, icon, note, problemLine, smallButton, spacer, typeLabel } from './dom.js';
import { edits } from './edits.js';
import { t } from './language.js';
import { cancelButton, notify, openDialog, problemText, reportProblem } from './overlay.js';
import { schema } from './schema.js';
import { unset, valueText } from './values.js';

/** Shows the list; saving and taking back is done there. */
export function showChanges() {
  return openDialog(t('changes'), (close) => {
    const body = h('div', { class: 'changes' });
    const problem = problemLine();
    const [undo, redo] = ['undo', 'redo'].map((name) => h('button', { onclick: () => edits[name]() }, icon(name), t(name)));
    const save = h('button', { class: 'primary', onclick: () => run() }, t('saveAll'));
    const draw = () => {
      fill(body, edits.list.length ? h('ul', edits.list.map(item)) : note(t('noChanges')));
      undo.disabled = !edits.canUndo;
      redo.disabled = !edits.canRedo;
      save.disabled = !edits.list.length;
    };
    const run = async () => {
      save.disabled = true;
      fill(problem);
      try {
        if (await saveEdits()) close();
      } catch (error) {
        fill(problem, problemText(error));
      } finally {
        draw();
      }
    };
    edits.addEventListener('change', draw);
    draw();
    return [body, problem, h('footer', undo, redo,
      h('button', { class: 'plain', onclick: () => edits.discard() }, t('discardAll')), spacer(), save)];
  }, { wide: true });
}

function item(edit) {
  const known = schema.get(edit.className);
  const kinds = { change: 'changed', new: 'new', delete: 'deleted' };
  const value = (field, content) => (content === undefined ? unset('—') : h('span', valueText(content, field).slice(0, 200)));
  const fromTo = (field, before, after) =>
    [edit.kind !== 'new' && [h('del', value(field, before)), h('span', { 'aria-hidden': 'true' }, ' → ')], h('ins', value(field, after))];
  return h('li', { class: `edit ${edit.kind}` },
    h('div', { class: 'edit-head' }, h('span', { class: `kind ${edit.kind}` }, t(`kind.${kinds[edit.kind]}`)), badge(edit.className),
      h('strong', edit.title || t('newOne')), spacer(),
      smallButton('close', t('discard', { name: edit.title }), () => edits.discard(edit))),
    h('dl', Object.entries(edit.fields).map(([name, { before, after }]) => {
      const field = known?.field(name) ?? { name, type: 'String' };
      return [h('dt', name), h('dd', fromTo(field, before, after))];
    }), Object.entries(edit.members).map(([name, { added, removed, order }]) => [
      h('dt', name), h('dd', order && [fromTo({ type: 'Relation' }, order.before, order.after), ' '], added.map(({ title }) => [h('ins', `+ ${title}`), ' ']), removed.map(({ title }) => [h('del', `− ${title}`), ' '])),
    ])));
}

/** Saves; if somebody else changed the same values, asks which ones to keep. Resolves to whether all is saved. */
async function saveEdits() {
  if (!edits.list.length) return true;
  try {
    const saved = await edits.save();
    const canRevert = saved.every(({ kind, members }) => kind === 'change' && !Object.keys(members).length);
    notify(t('saved', { count: saved.length }), canRevert ? { action: { text: t('revert'), run: () => edits.revert(saved) } } : {});
    return true;
  } catch (error) {
    if (error.status !== 409) throw error;
    const conflicts = await edits.conflicts();
    if (!conflicts.length) throw error;
    return await resolveConflicts(conflicts) ? saveEdits() : false;
  }
}

/** Saves from where no list is shown. */
export function saveAndTell() { saveEdits().catch(reportProblem); }

function resolveConflicts(conflicts) {
  return openDialog(t('conflict'), (close) => {
    const choices = conflicts.map(() => 'theirs');
    return [h('div', { class: 'changes' }, note(t('conflictHint')), h('ul', conflicts.map((conflict, place) => {
      const { edit, name, theirs } = conflict;
      const field = schema.get(edit.className)?.field(name);
      const choice = (which, text, value) => h('label', { class: 'choice' }, h('input', {
        type: 'radio', name: `conflict-${place}`, checked: which === 'theirs', onchange: () => { choices[place] = which; },
      }), typeLabel(text), h('span', { class: 'choice-value' }, value === undefined ? '—' : valueText(value, field)));
      return h('li', { class: 'edit' }, h('div', { class: 'edit-head' }, badge(edit.className), h('strong', edit.title), name && h('code', name)),
        name === undefined ? h('p', t('gone')) : h('fieldset', h('legend', { class: 'hidden-text' }, `${edit.title} ${name}`),
          choice('theirs', t('theirs'), theirs), choice('mine', t('mine'), edit.members[name]?.order?.after ?? edit.fields[name].after)));
    }))),
    h('footer', cancelButton(close), h('button', {
      class: 'primary',
      onclick: () => {
        conflicts.forEach((conflict, place) => edits.resolve(conflict, choices[place] === 'mine'));
        close(true);
      },
    }, t('saveSo')))];
  }, { wide: true });
}
