// The search and the condition of a grid: the words of a full-text search, and a condition, as text, in the format of
// predicates, and as a form that writes that text.
import { fill, h, icon, iconButton, note, select, spacer, submitButton } from './dom.js';
import { t } from './language.js';
import { showBelow } from './overlay.js';
import { conditionText, emptyTerm, operatorsOf, readCondition } from './predicate.js';
import { schema } from './schema.js';

/** Events: `apply` with `{ search, predicate }`: the words of a full-text search, and the text of a condition. */
class RelataFilter extends HTMLElement {
  #known = null;

  constructor() {
    super();
    this.words = this.#field('search', { class: 'words' }, t('clearSearch'));
    this.condition = this.#field('predicate', { class: 'predicate', 'aria-label': t('condition'), 'aria-describedby': 'predicate-problem' }, t('clear'));
    this.input = this.condition.input;
    this.problem = h('p', { id: 'predicate-problem', class: 'predicate-problem', role: 'alert' });
    this.builder = h('button', { 'aria-haspopup': 'dialog', 'aria-label': t('filter'), onclick: () => this.#build() }, icon('filter'), h('span', { class: 'only-wide' }, t('filter')));
  }

  /** A field, and the button that clears it. */
  #field(name, attributes, clearText) {
    const input = h('input', {
      type: 'text', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', ...attributes,
      onkeydown: (event) => {
        if (event.key === 'Enter') this.#apply();
        else if (event.key === 'Escape') input.value = this.applied[name];
      },
    });
    const clear = iconButton('close', clearText, () => {
      input.value = '';
      this.#apply();
      input.focus();
    });
    return { input, clear, box: h('div', { class: `${name}-box` }, icon('search'), input, clear) };
  }

  connectedCallback() {
    if (this.firstChild) return;
    this.append(h('div', { class: 'filter-line', role: 'search' }, this.words.box, this.builder, this.condition.box), this.problem);
  }

  /** Shows the search and the condition of a class: `{ search, predicate }`. */
  set(known, applied) {
    this.#known = known;
    this.applied = applied;
    for (const [{ input, clear }, text] of [[this.words, applied.search], [this.condition, applied.predicate]]) {
      input.value = text;
      clear.hidden = text === '';
    }
    this.words.box.hidden = known.searchFields.length === 0;
    this.words.input.placeholder = this.words.input.ariaLabel = t('searchFor', { name: known.searchFields.join(', ') });
    this.input.placeholder = placeholder(known);
    this.input.removeAttribute('aria-invalid');
    fill(this.problem);
  }

  /** Shows an error of the condition, and its place. */
  showProblem(message) {
    const [, words, column] = message.match(/^(.*) at column (\d+) of "/s) ?? [null, message, null];
    this.input.setAttribute('aria-invalid', 'true');
    if (column === null) return void fill(this.problem, words);
    const place = Number(column) - 1;
    const text = [...this.applied.predicate];
    fill(this.problem, h('span', { class: 'pointer-line', 'aria-hidden': 'true' }, text.slice(0, place).join(''), h('mark', text[place] ?? ' '), text.slice(place + 1).join('')),
      t('atColumn', { column: Number(column) }), ' ', words);
    if (document.activeElement === this.input) {
      const offset = text.slice(0, place).join('').length;
      this.input.setSelectionRange(offset, offset + (text[place]?.length ?? 0));
    }
  }

  /** Applies the texts of the fields. */
  #apply() {
    const detail = { search: this.words.input.value.trim(), predicate: this.input.value.trim() };
    if (detail.search === this.applied.search && detail.predicate === this.applied.predicate && !this.input.hasAttribute('aria-invalid')) return;
    this.dispatchEvent(new CustomEvent('apply', { detail }));
  }

  // MARK: The form

  #build() {
    const read = readCondition(this.input.value, this.#known);
    const form = h('form', { class: 'builder', role: 'dialog', 'aria-label': t('filter') });
    let { terms, joint } = read ?? { terms: [], joint: 'AND' };
    if (!terms.length) terms = [emptyTerm(this.#known)];
    const draw = (focus) => {
      fill(form,
        read === null && note(t('conditionByHand')),
        h('div', { class: 'builder-joint', role: 'radiogroup', 'aria-label': t('joint') }, ['AND', 'OR'].map((name) => h('label',
          h('input', { type: 'radio', name: 'joint', value: name, checked: joint === name, onchange: () => { joint = name; } }), t(name === 'AND' ? 'allOfThem' : 'anyOfThem')))),
        h('ul', terms.map((term, place) => this.#term(term, () => draw(`[data-value="${place}"]`), () => {
          terms.splice(place, 1);
          draw('[data-add]');
        }, place))),
        h('footer',
          h('button', { 'data-add': '', onclick: () => { terms.push(emptyTerm(this.#known)); draw(`li:last-child select`); } }, icon('plus'), t('addCondition')),
          spacer(),
          submitButton(t('apply'))));
      if (focus) form.querySelector(focus)?.focus();
    };
    form.addEventListener('submit', () => {
      form.hidePopover();
      this.input.value = conditionText(terms, joint, this.#known);
      this.#apply();
      this.input.focus();
    });
    draw();
    showBelow(form, this.builder, () => this.builder.focus());
    form.querySelector('select').focus();
  }

  #term(term, redraw, remove, place) {
    const paths = pathsOf(this.#known);
    const field = paths.get(term.path) ?? [...paths.values()][0];
    const operators = operatorsOf(field);
    if (!operators.includes(term.operator)) [term.operator] = operators;
    const needsValue = !['set', 'unset', 'true', 'false'].includes(term.operator);
    return h('li',
      select({ 'aria-label': t('field'), onchange: ({ target }) => { term.path = target.value; redraw(); } }, [...paths.keys()], term.path),
      select({ 'aria-label': t('comparison'), onchange: ({ target }) => { term.operator = target.value; redraw(); } },
        operators.map((name) => [name, t(`operator.${name}`)]), term.operator),
      needsValue && h('input', {
        type: field.type === 'Number' || field.type === 'Relation' ? 'number' : field.type === 'Date' ? 'datetime-local' : 'text', step: 'any',
        'aria-label': t('value'), 'data-value': place, value: term.value, oninput: ({ target }) => { term.value = target.value; },
      }),
      iconButton('close', t('removeCondition'), remove));
  }
}

/** The fields for conditions: those of a class, and those of its pointers' targets. */
function pathsOf(known) {
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
