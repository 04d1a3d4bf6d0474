// Deleting: what would happen is shown before anything does.
import { server } from './api.js';
import { fill, h, icon } from './dom.js';
import { edits } from './edits.js';
import { t } from './language.js';
import { openDialog, problemText } from './overlay.js';
import { schema, selection, titleOf } from './schema.js';

const shown = 10;

/** Shows the plan of a deletion, which is then among the changes. Resolves to whether it is. */
export function planDeletion(className, row) {
  return openDialog(t('deleteObject', { name: String(titleOf(row, className)) }), (close) => {
    const body = h('div', { class: 'changes', 'aria-busy': 'true' }, h('p', { class: 'note' }, t('loading')));
    const confirm = h('button', {
      type: 'button', class: 'danger', disabled: true,
      onclick: () => {
        edits.remove(className, row);
        close(true);
      },
    }, icon('trash'), t('stageDeletion'));
    server.deletionPlan(className, row.objectId).then((plan) => {
      fill(body, planTree(plan));
      confirm.disabled = plan.isDenied;
      if (!plan.isDenied) confirm.focus();
    }, (error) => fill(body, h('p', { class: 'form-problem', role: 'alert' }, problemText(error)))).finally(() => body.setAttribute('aria-busy', 'false'));
    return [body, h('footer', {}, h('button', { type: 'button', onclick: () => close(false) }, t('cancel')), confirm)];
  }, { wide: true });
}

function planTree(plan) {
  const count = (groups, part) => groups.reduce((all, group) => all + group[part].length, 0);
  const sections = [
    plan.isDenied && h('p', { class: 'denied', role: 'alert' }, icon('lock'), t('denied')),
    section('planBlocked', plan.blockers.length, plan.blockers.map(({ object, field, blocked }) =>
      h('li', {}, named(object.className, object.objectId), ' ', t('isLinkedTo', { field }), ' ', named(blocked.className, blocked.objectId))), 'bad'),
    section('planShort', plan.shortages.length, plan.shortages.map(({ object, field, message }) => h('li', {}, named(object.className, object.objectId), ` ${field}: ${message}`)), 'bad'),
    section('planDeleted', count(plan.deleted, 'objectIds'), plan.deleted.map(({ className, objectIds }) => group(className, className, objectIds))),
    section('planUnset', count(plan.unset, 'objectIds'), plan.unset.map(({ className, field, objectIds }) => group(`${className}.${field}`, className, objectIds))),
    section('planLeft', count(plan.removedRelations, 'pairs'), plan.removedRelations.map(({ relation, pairs }) => h('li', {}, h('span', { class: 'branch-name' }, relation), ' ', h('span', { class: 'count' }, t('links', { count: pairs.length }))))),
  ];
  return h('div', { class: 'plan' }, sections);
}

function section(title, count, items, look = '') {
  return count > 0 && h('section', { class: look }, h('h3', {}, t(title, { count })), h('ul', { class: 'tree' }, items));
}

function group(label, className, ids) {
  const names = h('ul', {}, ids.slice(0, shown).map((id) => h('li', {}, named(className, id))),
    ids.length > shown && h('li', { class: 'note' }, t('more', { count: ids.length - shown })));
  return h('li', {}, h('span', { class: 'branch-name' }, label), ' ', h('span', { class: 'count' }, t('objects', { count: ids.length })), names);
}

/** An object by its name, which comes once it is known. */
function named(className, id) {
  const element = h('span', { class: 'named' }, `${className} ${id}`);
  const known = schema.get(className);
  if (known?.titleFields.length) {
    server.object(className, id, selection(known, known.titleFields)).then((object) => fill(element, titleOf(object, className), h('span', { class: 'type' }, ` ${className} ${id}`)), () => {});
  }
  return element;
}
