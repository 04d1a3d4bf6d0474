// The panel beside the grid: an object, and what is related to it, level by level.
import { pointer, server, session } from './api.js';
import { canEdit, edits } from './edits.js';
import { chooseMember, pencil } from './editors.js';
import { fill, h, icon } from './dom.js';
import { openFile } from './files.js';
import { number, t } from './language.js';
import { nameElement, remember } from './names.js';
import { problemText } from './overlay.js';
import { schema, selection, titleOf, typeText } from './schema.js';
import { valueContent } from './values.js';
import { whySection } from './view.js';

const shownMembers = 20;

/**
 * Events: `go` with the objects that lead to what is to be shown, `relation` with `{ className, id, field }`, `close`,
 * `edit` with `{ className, row, field, anchor }`.
 */
export class RelataInspector extends HTMLElement {
  #path = [];
  #run = 0;

  connectedCallback() {
    this.setAttribute('role', 'complementary');
    this.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#send('close');
    });
  }

  /** Shows the last object of a path; the others lead to it. */
  async show(path, { actions = [], focus = false } = {}) {
    this.#path = path;
    this.hidden = path.length === 0;
    if (!path.length) return fill(this);
    const run = ++this.#run;
    const { className, id } = path.at(-1);
    this.setAttribute('aria-label', `${className} ${id}`);
    const known = schema.get(className);
    const body = h('div', { class: 'inspector-body', 'aria-busy': 'true' });
    const heading = h('h2', { tabindex: '-1' }, id);
    const trail = h('nav', { class: 'trail', 'aria-label': t('trail') });
    fill(this, h('header', {},
      h('div', { class: 'inspector-top' }, h('span', { class: 'badge' }, className),
        h('span', { class: 'spacer' }),
        actions.map((action) => h('button', { type: 'button', class: 'plain square', title: action.text, 'aria-label': action.text, onclick: action.run }, icon(action.icon))),
        h('button', { type: 'button', class: 'plain square', 'aria-label': t('close'), title: t('close'), onclick: () => this.#send('close') }, icon('close'))),
      trail, heading, this.#stagedLine()), body);
    this.#trail(trail);
    if (focus) heading.focus();
    if (!known) return fill(body, h('p', { class: 'note' }, t('noClass', { name: className })));
    try {
      const names = known.fields.filter(({ type }) => type !== 'Relation').map(({ name }) => name);
      const object = await server.object(className, id, selection(known, names));
      if (run !== this.#run) return;
      remember(className, object);
      fill(heading, titleOf(object, className));
      fill(body, this.#fields(known, object), this.#related(known, object));
    } catch (error) {
      if (run !== this.#run) return;
      fill(body, h('p', { class: 'note' }, error.code !== 101 ? problemText(error) : session.viewer ? t('notForViewer') : t('gone')));
    } finally {
      if (run === this.#run && session.viewer) body.append(whySection(className, id));
      body.setAttribute('aria-busy', 'false');
    }
  }

  /** What is to become of the object with the next save. */
  #stagedLine() {
    const { className, id } = this.#path.at(-1);
    const staged = edits.of(className, id);
    if (!staged) return null;
    const members = Object.entries(staged.members).flatMap(([name, { added, removed }]) =>
      [...added.map(({ title }) => `${name} + ${title}`), ...removed.map(({ title }) => `${name} − ${title}`)]);
    return h('p', { class: 'staged-line' }, staged.kind === 'delete' ? t('isToBeDeleted') : t('isToBeSaved'), members.map((text) => h('span', { class: 'badge' }, text)));
  }

  #send(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  #trail(element) {
    if (this.#path.length < 2) return;
    fill(element, this.#path.slice(0, -1).map((part, place) => [
      h('button', { type: 'button', class: 'crumb', onclick: () => this.#send('go', this.#path.slice(0, place + 1)) }, nameElement(part.className, part.id)),
      h('span', { class: 'crumb-mark', 'aria-hidden': 'true' }, '›'),
    ]));
  }

  #fields(known, object) {
    return h('dl', { class: 'fields' }, known.fields.filter(({ type }) => type !== 'Relation').map((field) => {
      const staged = edits.of(known.name, object.objectId)?.fields;
      const isStaged = staged !== undefined && field.name in staged;
      const value = isStaged ? staged[field.name].after : object[field.name];
      const isLink = field.type === 'Pointer' && value && edits.of(value.className, value.objectId)?.kind !== 'new';
      const follow = isLink ? () => this.#send('go', [...this.#path, { className: value.className, id: value.objectId }])
        : field.type === 'File' && value && (() => openFile(value));
      const content = field.type === 'String' && value ? h('span', { class: 'text' }, value) : valueContent(value, field, object);
      return [
        h('dt', {}, field.name, h('span', { class: 'spacer' }), h('span', { class: 'type' }, typeText(field)),
          canEdit(field) && pencil(t('edit', { name: field.name }), ({ currentTarget }) => this.#send('edit', { className: known.name, row: object, field, anchor: currentTarget.closest('dt') }))),
        h('dd', { class: isStaged ? 'staged' : '' }, follow ? h('button', { type: 'button', class: 'link', onclick: follow }, content) : content),
      ];
    }));
  }

  /** What is related to the object, as a tree whose branches are fetched when they are opened. */
  #related(known, object) {
    const branches = this.#branches(known, object, this.#path);
    if (!branches.length) return null;
    return h('section', { class: 'related' }, h('h3', {}, t('related')), h('ul', { class: 'tree' }, branches));
  }

  /** The relations of an object, and, below the object that is shown, its pointers. */
  #branches(known, object, path) {
    const relations = known.relations.map((field) => this.#relationBranch(field, known, object, path));
    const pointers = path === this.#path ? [] : known.pointers.filter(({ name }) => object[name]).map((field) => {
      const target = object[field.name];
      return this.#objectBranch(target.className, target, path, field.name);
    });
    return [...pointers, ...relations];
  }

  #relationBranch(field, known, object, path) {
    const owner = { className: known.name, id: object.objectId };
    const count = h('span', { class: 'count' }, '…');
    const total = server.counts(known.name, [field.name], [object.objectId]).then((counts) => {
      const found = counts[object.objectId]?.[field.name] ?? 0;
      fill(count, number(found));
      return found;
    }, () => null);
    return this.#branch(
      [h('span', { class: 'branch-name' }, field.name), count, h('span', { class: 'type' }, typeText(field))],
      [!session.isReadOnly && h('button', {
        type: 'button', class: 'plain square', title: t('addTo', { name: field.name }), 'aria-label': t('addTo', { name: field.name }),
        onclick: async () => {
          const member = await chooseMember(field);
          if (member) edits.setMember(known.name, object, field.name, member, true);
        },
      }, icon('plus')),
      h('button', {
        type: 'button', class: 'plain square', title: t('showInGrid'), 'aria-label': `${field.name}: ${t('showInGrid')}`,
        onclick: () => this.#send('relation', { ...owner, field: field.name }),
      }, icon('table'))],
      async () => {
        const target = schema.get(field.targetClass);
        const query = {
          where: { $relatedTo: { object: pointer(owner.className, owner.id), key: field.name } }, limit: String(shownMembers),
          ...selection(target, [...target.titleKeys, ...target.pointers.map(({ name }) => name)]),
        };
        const { results } = await server.find(field.targetClass, query);
        const more = (await total ?? 0) - results.length;
        return [
          results.map((member) => this.#objectBranch(field.targetClass, member, path, undefined,
            () => edits.setMember(known.name, object, field.name, { ...member, className: field.targetClass }, false))),
          results.length === 0 && h('li', { class: 'note' }, t('none')),
          more > 0 && h('li', {}, h('button', { type: 'button', class: 'link', onclick: () => this.#send('relation', { ...owner, field: field.name }) }, t('more', { count: more }))),
        ];
      });
  }

  #objectBranch(className, object, path, role, remove) {
    const known = schema.get(className);
    const below = [...path, { className, id: object.objectId }];
    remember(className, object);
    return this.#branch(
      [role && h('span', { class: 'branch-name' }, role), h('button', { type: 'button', class: 'link', onclick: () => this.#send('go', below) }, titleOf(object, className))],
      [h('span', { class: 'badge' }, className), remove && !session.isReadOnly && h('button', {
        type: 'button', class: 'plain square', title: t('takeOut'), 'aria-label': `${titleOf(object, className)}: ${t('takeOut')}`, onclick: remove,
      }, icon('minus'))],
      known && (known.relations.length || known.pointers.length) ? async () => {
        const whole = await server.object(className, object.objectId, selection(known, known.pointers.map(({ name }) => name)));
        return this.#branches(known, whole, below);
      } : null);
  }

  #branch(label, side, load) {
    const children = h('ul', { hidden: true });
    const name = label.filter(Boolean).map((part) => part.textContent).join(' ');
    const toggle = h('button', {
      type: 'button', class: 'plain twist', 'aria-expanded': 'false', 'aria-label': name,
      onclick: async () => {
        const opens = children.hidden;
        children.hidden = !opens;
        toggle.setAttribute('aria-expanded', String(opens));
        if (!opens || children.childElementCount) return;
        fill(children, h('li', { class: 'note' }, t('loading')));
        try {
          fill(children, await load());
          if (!children.childElementCount) fill(children, h('li', { class: 'note' }, t('none')));
        } catch (error) {
          fill(children, h('li', { class: 'note' }, problemText(error)));
        }
      },
    }, icon('right'));
    return h('li', {}, h('div', { class: 'branch' }, load ? toggle : h('span', { class: 'twist' }), label, h('span', { class: 'spacer' }), side), children);
  }
}

customElements.define('relata-inspector', RelataInspector);
