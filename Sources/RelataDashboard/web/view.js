// Viewing the store as somebody else: the objects that this caller sees, and the rule that decides about each operation.
import { server, session } from './api.js';
import { h, icon, linkButton, note, spacer } from './dom.js';
import { edits } from './edits.js';
import { t } from './language.js';
import { dialogForm, doneFooter, fillLater, labelled, notify, openDialog, openMenu, problemText } from './overlay.js';

/** The control by which the caller is chosen as whom the store is viewed. */
export function viewControl() {
  const { viewer } = session;
  const isOf = (kind) => viewer?.name.startsWith(kind + ':') ?? false;
  return h('button', {
    class: viewer ? 'viewer viewing' : 'viewer plain', 'aria-haspopup': 'menu', 'aria-expanded': 'false',
    onclick: ({ currentTarget }) => openMenu(currentTarget, [
      { text: t('viewMaster'), isOn: !viewer, action: () => view(null) },
      { text: t('viewNobody'), isOn: viewer?.name === 'nobody', action: () => view({ name: 'nobody', text: t('viewNobody') }) },
      { text: t('viewUser'), isOn: isOf('user'), action: () => choose('viewUser', t('viewUserHint'), server.user) },
      { text: t('viewRole'), isOn: isOf('role'), action: () => choose('viewRole', t('viewRoleHint'), server.role) },
    ]),
  }, icon('eye'), h('span', viewer ? t('viewingAs', { name: viewer.text }) : t('viewAs')));
}

function view(viewer) {
  // They couldn't be saved while somebody else is looking.
  if (edits.list.length) return notify(t('viewUnsaved'), { isProblem: true });
  session.view(viewer);
}

/** Asks for a name, and views as the user or role that has it. */
async function choose(title, hint, find) {
  const chosen = await openDialog(t(title), (close) => {
    const name = h('input', { type: 'text', id: 'view-name', autocomplete: 'off', spellcheck: 'false', required: true });
    return dialogForm(close, t('viewAs'), labelled('view-name', hint, name), async () => {
      const found = await find(name.value.trim());
      if (!found) throw new Error(t('viewUnknown', { name: name.value.trim() }));
      return found;
    });
  });
  if (chosen) view(chosen);
}

const outcomes = { allowed: ['accessAllowed', 'new'], hidden: ['accessHidden', ''], denied: ['accessDenied', 'delete'] };

function verdict(text, outcome) { return h('span', { class: `kind ${outcomes[outcome][1]}` }, text); }

/** The caller's rights on the objects of a class: a line above them. */
export function accessLine(access) {
  return h('div', { class: 'access-line' }, h('span', t('viewingAs', { name: session.viewer.text })),
    access.verdicts.map(({ operation, outcome }) => verdict(`${operation}: ${t(outcomes[outcome][0])}`, outcome)),
    linkButton(() => openDialog(t('why'), (close) => [
      h('div', { class: 'changes' }, accessList(access)), doneFooter(close)]), t('why')));
}

/** The outcome of each operation, and the rule behind it. */
function accessList({ caller, verdicts, hiddenFields, partlyHiddenFields }) {
  return [
    note(caller),
    h('dl', { class: 'fields' }, verdicts.map(({ operation, outcome, reason }) => [
      h('dt', operation, spacer(), verdict(t(outcomes[outcome][0]), outcome)), h('dd', reason)])),
    hiddenFields.length > 0 && h('p', t('accessHiddenFields', { names: hiddenFields.join(', ') })),
    partlyHiddenFields.length > 0 && h('p', t('accessPartlyHiddenFields', { names: partlyHiddenFields.join(', ') })),
  ];
}

/** The caller's rights on an object, with their reasons. */
export function whySection(className, id) {
  const found = h('div');
  fillLater(found, () => server.access(className, id).then(accessList, (error) => note(problemText(error))));
  return h('section', { class: 'related why' }, h('h3', t('why')), found);
}
