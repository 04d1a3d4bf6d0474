// The plan of a deletion, shown before the deletion is among the edits.
import { server } from './api.js';
import { fill, h, icon, noteItem, twist, typeLabel } from './dom.js';
import { edits } from './edits.js';
import { t } from './language.js';
import { cancelButton, fillLater, openDialog } from './overlay.js';
import { schema, selection, titleOf } from './schema.js';

const shown = 10;

/** Shows the plan of a deletion, which is then among the changes. Resolves to whether it is. */
export function planDeletion(className, row) {
  return openDialog(t('deleteObject', { name: String(titleOf(row, className)) }), (close) => {
    const body = h('div', { class: 'changes' });
    const confirm = h('button', {
      class: 'danger', disabled: true,
      onclick: () => {
        edits.remove(className, row);
        close(true);
      },
    }, icon('trash'), t('stageDeletion'));
    fillLater(body, async () => {
      const plan = await server.deletionPlan(className, row.objectId);
      confirm.disabled = plan.isDenied;
      if (!plan.isDenied) confirm.focus();
      return planTree(plan, className);
    });
    return [body, h('footer', cancelButton(close), confirm)];
  }, { wide: true });
}

/** The classes as a tree of cascades, and at each the effects on the objects that are linked to its own. */
function planTree(plan, root) {
  const sum = (groups, part) => groups.reduce((all, group) => all + group[part].length, 0);
  const counts = [['planDeleted', sum(plan.deleted, 'objectIds'), ''], ['planUnset', sum(plan.unset, 'objectIds'), ''],
    ['planLeft', sum(plan.removedRelations, 'pairs'), ''], ['planBlocked', plan.blockers.length, 'bad'], ['planShort', plan.shortages.length, 'bad']];
  const places = placed(plan, root);
  return h('div', { class: 'plan' },
    plan.isDenied && h('p', { class: 'denied', role: 'alert' }, icon('lock'), t('denied')),
    h('ul', { class: 'plan-counts' }, counts.filter(([, count]) => count > 0).map(([name, count, look]) => h('li', { class: `badge ${look}` }, t(name, { count })))),
    h('ul', { class: 'tree' }, classNode(plan, places, root, root, new Set())));
}

/** The plan's other effects, by the class whose deleted objects cause them. */
function placed(plan, root) {
  const going = new Set([root, ...plan.deleted.map(({ className }) => className)]);
  const places = new Map([...going].map((name) => [name, []]));
  const put = (names, item) => places.get(names.find((name) => going.has(name)) ?? root).push(item);
  for (const { object, field, blocked, reason } of plan.blockers) {
    put([blocked.className], [3, h('li', { class: 'bad' }, icon('lock'), ' ', named(object.className, object.objectId), ' ', t('isLinkedTo', { field }), ' ', named(blocked.className, blocked.objectId), reason ? `: ${reason}` : '')]);
  }
  for (const { object, field, message } of plan.shortages) {
    put([], [4, h('li', { class: 'bad' }, icon('alert'), ' ', named(object.className, object.objectId), ` ${field}: ${message}`)]);
  }
  for (const { className, field, objectIds } of plan.unset) {
    put([schema.get(className)?.field(field)?.targetClass], [1, branch(`${className}.${field}`, t('planUnset', { count: objectIds.length }), className, objectIds)]);
  }
  for (const { relation, pairs } of plan.removedRelations) {
    const [className, field] = relation.split(/\.(.*)/s);
    const ends = [className, schema.get(className)?.field(field)?.targetClass];
    put(ends, [2, h('li', h('div', { class: 'branch' }, h('span', { class: 'branch-name' }, relation), h('span', { class: 'count' }, t('links', { count: pairs.length }))))]);
  }
  return places;
}

function classNode(plan, places, className, label, seen) {
  seen.add(className);
  const ids = plan.deleted.find((group) => group.className === className)?.objectIds ?? [];
  const below = plan.cascades.filter((path) => path.className === className && !seen.has(path.target));
  const others = (places.get(className) ?? []).sort(([one], [other]) => one - other).map(([, element]) => element);
  const text = label === className ? className : `${label} → ${className}`;
  return branch(text, t('planDeleted', { count: ids.length }), className, ids, [
    below.map((path) => !seen.has(path.target) && classNode(plan, places, path.target, path.relation, seen)), others,
  ]);
}

/** A line of the tree that opens to its objects; the lines below it are open. */
function branch(label, count, className, ids, below = []) {
  const names = h('ul', { hidden: ids.length > 3 });
  const draw = () => fill(names, ids.slice(0, shown).map((id) => h('li', named(className, id))),
    ids.length > shown && noteItem(t('more', { count: ids.length - shown })));
  if (!names.hidden) draw();
  const toggle = twist(`${label}: ${count}`, names, () => { if (!names.childElementCount) draw(); });
  return h('li', h('div', { class: 'branch' }, toggle, h('span', { class: 'branch-name' }, label), h('span', { class: 'count' }, count)), names, h('ul', below));
}

/** An object by its name, which comes once it is known. */
function named(className, id) {
  const element = h('span', { class: 'named' }, `${className} ${id}`);
  const known = schema.get(className);
  if (known?.titleFields.length) {
    server.object(className, id, selection(known, known.titleFields)).then((object) => fill(element, titleOf(object, className), typeLabel(` ${className} ${id}`)), () => {});
  }
  return element;
}
