// The panel beside the grid: an object, and its related objects, level by level.
import { pointer, server, session } from './api.js';
import { arranged, canEdit, edits, firstMembers } from './edits.js';
import { chooseMember } from './editors.js';
import { badge, fill, h, iconButton, linkButton, note, noteItem, smallButton, spacer, twist, typeLabel } from './dom.js';
import { filePreview, openFile } from './files.js';
import { number, t } from './language.js';
import { nameElement, remember } from './names.js';
import { problemText } from './overlay.js';
import { crumbMark } from './page.js';
import { pathText } from './place.js';
import { schema, selection, titleOf, typeText } from './schema.js';
import { valueContent } from './values.js';
import { whySection } from './view.js';

const shownMembers = 20;
/** The number of members that can be put in another order. */
const orderedMembers = 100;

/**
 * Events: `go` with the objects that lead to the next one, `relation` with `{ className, id, field }`, `close`,
 * `edit` with `{ className, row, field, anchor }`.
 */
class RelataInspector extends HTMLElement {
  #path = [];
  #run = 0;
  /** The branches that are open, as long as the same object is shown. */
  #open = new Set();
  #isMoving = false;

  connectedCallback() {
    this.setAttribute('role', 'complementary');
    this.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#send('close');
    });
  }

  /** Shows the last object of a path; the others lead to it. */
  async show(path, { actions = [], focus = false } = {}) {
    // While members are moved, their list stays.
    if (this.#isMoving) return fill(this.staged, this.#stagedLine());
    if (pathText(path) !== pathText(this.#path)) this.#open.clear();
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
    this.staged = h('div', this.#stagedLine());
    this.news = h('p', { class: 'hidden-text', role: 'status' });
    fill(this, this.news, h('header',
      h('div', { class: 'inspector-top' }, badge(className),
        spacer(),
        actions.map((action) => iconButton(action.icon, action.text, action.run)),
        iconButton('close', t('close'), () => this.#send('close'))),
      trail, heading, this.staged), body);
    this.#trail(trail);
    if (focus) heading.focus();
    if (!known) return fill(body, note(t('noClass', { name: className })));
    try {
      const object = await server.object(className, id, selection(known, known.stored.map(({ name }) => name)));
      if (run !== this.#run) return;
      remember(className, object);
      fill(heading, titleOf(object, className));
      fill(body, this.#fields(known, object), this.#related(known, object));
    } catch (error) {
      if (run !== this.#run) return;
      fill(body, note(error.code !== 101 ? problemText(error) : session.viewer ? t('notForViewer') : t('gone')));
    } finally {
      if (run === this.#run && session.viewer) body.append(whySection(className, id));
      body.setAttribute('aria-busy', 'false');
    }
  }

  /** The edits of the object. */
  #stagedLine() {
    const { className, id } = this.#path.at(-1);
    const staged = edits.of(className, id);
    if (!staged) return null;
    const members = Object.entries(staged.members).flatMap(([name, { added, removed, order }]) =>
      [...order ? [`${name}: ${t('otherOrder')}`] : [], ...added.map(({ title }) => `${name} + ${title}`), ...removed.map(({ title }) => `${name} − ${title}`)]);
    return h('p', { class: 'staged-line' }, staged.kind === 'delete' ? t('isToBeDeleted') : t('isToBeSaved'), members.map((text) => badge(text)));
  }

  #send(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  #trail(element) {
    if (this.#path.length < 2) return;
    fill(element, this.#path.slice(0, -1).map((part, place) => [
      h('button', { class: 'crumb', onclick: () => this.#send('go', this.#path.slice(0, place + 1)) }, nameElement(part.className, part.id)),
      crumbMark(),
    ]));
  }

  #fields(known, object) {
    return h('dl', { class: 'fields' }, known.stored.map((field) => {
      const staged = edits.of(known.name, object.objectId)?.fields;
      const isStaged = staged !== undefined && field.name in staged;
      const value = edits.value(known.name, object, field.name);
      const isLink = field.type === 'Pointer' && value && edits.of(value.className, value.objectId)?.kind !== 'new';
      const follow = isLink ? () => this.#send('go', [...this.#path, { className: value.className, id: value.objectId }])
        : field.type === 'File' && value && !value.file && (() => openFile(value));
      const content = field.type === 'String' && value ? h('span', { class: 'text' }, value) : valueContent(value, field, object);
      return [
        h('dt', field.name, spacer(), typeLabel(typeText(field)),
          canEdit(field) && smallButton('pencil', t('edit', { name: field.name }), ({ currentTarget }) => this.#send('edit', { className: known.name, row: object, field, anchor: currentTarget.closest('dt') }))),
        h('dd', { class: isStaged ? 'staged' : '' }, follow ? linkButton(follow, content) : content, field.type === 'File' && value && filePreview(value)),
      ];
    }));
  }

  /** The related objects, as a tree whose branches are fetched when they are opened. */
  #related(known, object) {
    const branches = this.#branches(known, object, this.#path);
    if (!branches.length) return null;
    return h('section', { class: 'related' }, h('h3', t('related')), h('ul', { class: 'tree' }, branches));
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
      [h('span', { class: 'branch-name' }, field.name), count, typeLabel(typeText(field))],
      [!session.isReadOnly && iconButton('plus', t('addTo', { name: field.name }), async () => {
        const member = await chooseMember(field);
        if (member) edits.setMember(known.name, object, field.name, member, true);
      }),
      iconButton('table', t('showInGrid'), () => this.#send('relation', { ...owner, field: field.name }), { 'aria-label': `${field.name}: ${t('showInGrid')}` })],
      async () => {
        // The inverse of a pointer has an order only if it says so.
        const isOrdered = field.order ?? !field.inverse;
        const stored = await firstMembers(owner.className, owner.id, field, isOrdered ? orderedMembers : shownMembers);
        const staged = edits.of(known.name, object.objectId);
        const results = arranged(stored, staged?.members[field.name]?.order?.after ?? []);
        const more = (await total ?? 0) - results.length;
        const items = results.map((member) => this.#objectBranch(field.targetClass, member, path, undefined,
          () => edits.setMember(known.name, object, field.name, member, false)));
        if (isOrdered && results.length > 1 && !session.isReadOnly && staged?.kind !== 'delete') {
          this.#makeMovable(items, results, () => edits.setOrder(known.name, object, field.name, stored, results));
        }
        return [
          items,
          more > 0 && h('li', linkButton(() => this.#send('relation', { ...owner, field: field.name }), t('more', { count: more }))),
        ];
      }, pathText([...path, { id: field.name }]));
  }

  /** Lets somebody move the members of a list, which changes in place: by dragging, by buttons, by Alt with an arrow. */
  #makeMovable(items, members, moved) {
    let dragged = null;
    const move = (item, step) => {
      const from = items.indexOf(item);
      const to = Math.max(0, Math.min(items.length - 1, from + step));
      if (to === from) return;
      const focused = document.activeElement;
      items[to][step > 0 ? 'after' : 'before'](item);
      focused.focus();
      for (const list of [items, members]) list.splice(to, 0, ...list.splice(from, 1));
      this.#isMoving = true;
      moved();
      this.#isMoving = false;
      fill(this.news, t('movedTo', { name: titleOf(members[to], members[to].className), place: to + 1, count: items.length }));
    };
    for (const [index, item] of items.entries()) {
      const name = titleOf(members[index], members[index].className);
      item.draggable = true;
      item.firstChild.append(iconButton('up', t('moveUp', { name }), () => move(item, -1)), iconButton('down', t('moveDown', { name }), () => move(item, 1)));
      item.onkeydown = (event) => {
        const step = event.altKey && { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        event.stopPropagation();
        move(item, step);
      };
      item.ondragstart = (event) => {
        event.stopPropagation();
        dragged = item;
      };
      item.ondragover = (event) => { if (dragged) event.preventDefault(); };
      item.ondrop = (event) => {
        if (!dragged) return;
        event.preventDefault();
        event.stopPropagation();
        move(dragged, items.indexOf(item) - items.indexOf(dragged));
      };
      item.ondragend = () => { dragged = null; };
    }
  }

  #objectBranch(className, object, path, role, remove) {
    const known = schema.get(className);
    const below = [...path, { className, id: object.objectId }];
    const title = titleOf(object, className);
    remember(className, object);
    return this.#branch(
      [role && h('span', { class: 'branch-name' }, role), linkButton(() => this.#send('go', below), title)],
      [badge(className), remove && !session.isReadOnly && iconButton('minus', t('takeOut'), remove, { 'aria-label': `${title}: ${t('takeOut')}` })],
      known && (known.relations.length || known.pointers.length) ? async () => {
        const whole = await server.object(className, object.objectId, selection(known, known.pointers.map(({ name }) => name)));
        return this.#branches(known, whole, below);
      } : null);
  }

  #branch(label, side, load, place) {
    const children = h('ul', { hidden: true });
    const name = label.filter(Boolean).map((part) => part.textContent).join(' ');
    const toggle = twist(name, children, async (opens) => {
      this.#open[opens ? 'add' : 'delete'](place);
      if (!opens || children.childElementCount) return;
      fill(children, noteItem(t('loading')));
      try {
        fill(children, await load());
        if (!children.childElementCount) fill(children, noteItem(t('none')));
      } catch (error) {
        fill(children, noteItem(problemText(error)));
      }
    });
    if (place && this.#open.has(place)) toggle.click();
    return h('li', h('div', { class: 'branch' }, load ? toggle : h('span', { class: 'twist' }), label, spacer(), side), children);
  }
}

customElements.define('relata-inspector', RelataInspector);
