// The condition: as text, in the format of predicates, and as a form that writes that text.
import { fill, h, icon } from './dom.js';
import { t } from './language.js';
import { placeBelow } from './overlay.js';
import { conditionText, emptyTerm, operatorsOf, readCondition } from './predicate.js';
import { schema } from './schema.js';

/** Events: `apply` with the text of a condition. */
export class RelataFilter extends HTMLElement {
  #known = null;

  constructor() {
    super();
    this.input = h('input', {
      type: 'text', class: 'predicate', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', 'aria-label': t('condition'), 'aria-describedby': 'predicate-problem',
      onkeydown: (event) => {
        if (event.key === 'Enter') this.#apply(this.input.value);
        else if (event.key === 'Escape') this.input.value = this.applied;
      },
    });
    this.clear = h('button', { type: 'button', class: 'plain square', 'aria-label': t('clear'), title: t('clear'), onclick: () => this.#apply('') }, icon('close'));
    this.problem = h('p', { id: 'predicate-problem', class: 'predicate-problem', role: 'alert' });
    this.builder = h('button', { type: 'button', 'aria-haspopup': 'dialog', 'aria-label': t('filter'), onclick: () => this.#build() }, icon('filter'), h('span', { class: 'only-wide' }, t('filter')));
  }

  connectedCallback() {
    if (this.firstChild) return;
    this.append(h('div', { class: 'filter-line', role: 'search' }, this.builder, h('div', { class: 'predicate-box' }, icon('search'), this.input, this.clear)), this.problem);
  }

  /** Shows a condition on the objects of a class. */
  set(known, text) {
    this.#known = known;
    this.applied = text;
    this.input.value = text;
    this.input.placeholder = placeholder(known);
    this.clear.hidden = text === '';
    this.input.removeAttribute('aria-invalid');
    fill(this.problem);
  }

  /** Says what is wrong with the condition, and where. */
  showProblem(message) {
    const [, words, column] = message.match(/^(.*) at column (\d+) of "/s) ?? [null, message, null];
    this.input.setAttribute('aria-invalid', 'true');
    if (column === null) return void fill(this.problem, words);
    const place = Number(column) - 1;
    const text = [...this.applied];
    fill(this.problem, h('span', { class: 'pointer-line', 'aria-hidden': 'true' }, text.slice(0, place).join(''), h('mark', {}, text[place] ?? ' '), text.slice(place + 1).join('')),
      t('atColumn', { column: Number(column) }), ' ', words);
    if (document.activeElement === this.input) {
      const offset = text.slice(0, place).join('').length;
      this.input.setSelectionRange(offset, offset + (text[place]?.length ?? 0));
    }
  }

  #apply(text) {
    if (text.trim() === this.applied && !this.input.hasAttribute('aria-invalid')) return;
    this.dispatchEvent(new CustomEvent('apply', { detail: text.trim() }));
  }

  // MARK: The form

  #build() {
    const read = readCondition(this.input.value, this.#known);
    const form = h('form', { class: 'builder', popover: 'auto', role: 'dialog', 'aria-label': t('filter') });
    let { terms, joint } = read ?? { terms: [], joint: 'AND' };
    if (!terms.length) terms = [emptyTerm(this.#known)];
    const close = () => form.hidePopover();
    const draw = (focus) => {
      fill(form,
        read === null && h('p', { class: 'note' }, t('conditionByHand')),
        h('div', { class: 'builder-joint', role: 'radiogroup', 'aria-label': t('joint') }, ['AND', 'OR'].map((name) => h('label', {},
          h('input', { type: 'radio', name: 'joint', value: name, checked: joint === name, onchange: () => { joint = name; } }), t(name === 'AND' ? 'allOfThem' : 'anyOfThem')))),
        h('ul', {}, terms.map((term, place) => this.#term(term, () => draw(`[data-value="${place}"]`), () => {
          terms.splice(place, 1);
          draw('[data-add]');
        }, place))),
        h('footer', {},
          h('button', { type: 'button', 'data-add': '', onclick: () => { terms.push(emptyTerm(this.#known)); draw(`li:last-child select`); } }, icon('plus'), t('addCondition')),
          h('span', { class: 'spacer' }),
          h('button', { type: 'submit', class: 'primary' }, t('apply'))));
      if (focus) form.querySelector(focus)?.focus();
    };
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      close();
      const text = conditionText(terms, joint, this.#known);
      this.input.value = text;
      this.#apply(text);
      this.input.focus();
    });
    form.addEventListener('toggle', (event) => {
      if (event.newState !== 'closed') return;
      form.remove();
      this.builder.focus();
    });
    document.body.append(form);
    form.showPopover();
    draw('select');
    placeBelow(form, this.builder);
  }

  #term(term, redraw, remove, place) {
    const paths = pathsOf(this.#known);
    const field = paths.get(term.path) ?? [...paths.values()][0];
    const operators = operatorsOf(field);
    if (!operators.includes(term.operator)) [term.operator] = operators;
    const needsValue = !['set', 'unset', 'true', 'false'].includes(term.operator);
    return h('li', {},
      h('select', { 'aria-label': t('field'), onchange: ({ target }) => { term.path = target.value; redraw(); } },
        [...paths.keys()].map((path) => h('option', { value: path, selected: path === term.path }, path))),
      h('select', { 'aria-label': t('comparison'), onchange: ({ target }) => { term.operator = target.value; redraw(); } },
        operators.map((name) => h('option', { value: name, selected: name === term.operator }, t(`operator.${name}`)))),
      needsValue && h('input', {
        type: field.type === 'Number' || field.type === 'Relation' ? 'number' : field.type === 'Date' ? 'datetime-local' : 'text', step: 'any',
        'aria-label': t('value'), 'data-value': place, value: term.value, oninput: ({ target }) => { term.value = target.value; },
      }),
      h('button', { type: 'button', class: 'plain square', 'aria-label': t('removeCondition'), title: t('removeCondition'), onclick: remove }, icon('close')));
  }
}

/** What conditions can be about: the fields of a class, and those of what its pointers lead to. */
export function pathsOf(known) {
  const paths = new Map();
  const simple = ['String', 'Number', 'Boolean', 'Date'];
  for (const field of known.fields) {
    if (simple.includes(field.type) || field.type === 'Relation') paths.set(field.name, field);
    if (field.type !== 'Pointer') continue;
    paths.set(field.name, field);
    for (const other of schema.get(field.targetClass)?.fields ?? []) {
      if (simple.includes(other.type) && !other.name.match(/^(createdAt|updatedAt|objectId)$/)) paths.set(`${field.name}.${other.name}`, other);
    }
  }
  return paths;
}

function placeholder(known) {
  const [title] = known.titleFields;
  const pointer = known.pointers.find(({ targetClass }) => schema.get(targetClass)?.titleFields.length);
  const parts = [title && `${title} CONTAINS[cd] "…"`, pointer && `${pointer.name}.${schema.get(pointer.targetClass).titleFields[0]} == "…"`].filter(Boolean);
  return parts.length ? t('conditionExample', { text: parts.join(' AND ') }) : t('condition');
}

customElements.define('relata-filter', RelataFilter);
