// Editors of values, one for each type.
import { jsonText, server } from './api.js';
import { badge, fill, h, later, note, problemLine, select, setAttribute, smallButton, spacer, submitButton, typeLabel } from './dom.js';
import { edits } from './edits.js';
import { fileEditor } from './files.js';
import { t } from './language.js';
import { dialogForm, labelled, openDialog, problemText, showBelow } from './overlay.js';
import { quoted } from './predicate.js';
import { requiredText, schema, selection, titleOf, typeText } from './schema.js';
import { dateOf, localTime, parsedJSON } from './values.js';

/** An editor: `{ element, read(), focus }`; `read` throws for an invalid value. */
function editorFor(field, value, { id, commit } = {}) {
  const common = { id, 'aria-label': field.name };
  switch (field.type) {
    case 'String': {
      const text = String(value ?? '');
      const area = h('textarea', { ...common, rows: text.length > 60 || text.includes('\n') ? 6 : 2, spellcheck: 'false', value: text });
      return simple(area, () => (area.value === '' && value === undefined ? undefined : area.value));
    }
    case 'Number': {
      const input = h('input', { ...common, type: 'text', inputmode: 'decimal', autocomplete: 'off', value: String(value ?? '') });
      return simple(input, () => readNumber(input.value));
    }
    case 'Boolean': {
      const list = select(common, [['', t('unset')], ['true', t('yes')], ['false', t('no')]], String(value ?? ''));
      return simple(list, () => (list.value === '' ? undefined : list.value === 'true'));
    }
    case 'Date': {
      const input = h('input', { ...common, type: 'datetime-local', step: '0.001', value: value ? localTime(dateOf(value)) : '' });
      return simple(input, () => (input.value === '' ? undefined : { __type: 'Date', iso: new Date(input.value).toISOString() }));
    }
    case 'Pointer': return picker(field, value, { ...common, commit });
    case 'Relation': return memberPicker(field, common);
    case 'File': return fileEditor(value, common);
    default: {
      const area = h('textarea', { ...common, rows: 8, class: 'code', spellcheck: 'false', value: value === undefined ? '' : jsonText(value, 2) });
      return simple(area, () => readJSON(area.value, field));
    }
  }
}

function simple(element, read) { return { element, focus: element, read }; }

/** The value of a text, written as spreadsheets write values of a type. */
export function readText(field, text) {
  if (text === '') return undefined;
  switch (field.type) {
    case 'String': return text;
    case 'Number': return readNumber(text);
    case 'Boolean': {
      const word = text.trim().toLowerCase();
      if (['true', 'yes', '1', t('yes')].includes(word)) return true;
      if (['false', 'no', '0', t('no')].includes(word)) return false;
      throw noValue(field);
    }
    case 'Date': {
      const date = new Date(text);
      if (Number.isNaN(date.getTime())) throw noValue(field);
      return { __type: 'Date', iso: date.toISOString() };
    }
    default: return readJSON(text, field);
  }
}

function noValue(field) { return new Error(t('noValue', { type: typeText(field) })); }

function readNumber(text) {
  const plain = text.trim();
  if (plain === '') return undefined;
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain)) throw new Error(t('noNumber'));
  const value = Number(plain);
  return /^[-+]?\d+$/.test(plain) && !Number.isSafeInteger(value) ? BigInt(plain) : value;
}

function readJSON(text, field) {
  if (text.trim() === '') return undefined;
  const value = parsedJSON(text);
  const isArray = Array.isArray(value);
  if (field.type === 'Array' ? !isArray : isArray || typeof value !== 'object' || value === null) {
    throw noValue(field);
  }
  return value;
}

// MARK: Finding objects

/** Objects of a class whose names hold a text; those first that are to be made with the next save. */
export async function findByTitle(className, text, signal) {
  const known = schema.get(className);
  const wanted = text.trim();
  const cases = known.titleFields.map((name) => `\`${name}\` CONTAINS[cd] ${quoted(wanted)}`);
  if (known.keyFields.length === 1 && !cases.length) cases.push(`objectId == ${/^-?\d+$/.test(wanted) ? wanted : quoted(wanted)}`);
  const query = { ...selection(known, known.titleKeys), limit: '20', predicate: wanted && cases.join(' OR ') };
  const stored = (await server.find(className, query, signal)).results.map((object) => ({ ...object, className }));
  const title = (object) => String(titleOf(object, className)).toLowerCase();
  return [...edits.newOnes(className).filter((object) => title(object).includes(wanted.toLowerCase())).map((object) => ({ ...object, isNew: true })), ...stored];
}

/** A field to search for an object in. */
function picker({ targetClass, name }, value, { id, commit }) {
  let chosen = value;
  let found = [];
  let place = -1;
  let stop = new AbortController();
  const listID = `choices-${name}`;
  const list = h('ul', { class: 'choices', role: 'listbox', id: listID, 'aria-label': targetClass });
  const input = h('input', {
    type: 'text', id, role: 'combobox', autocomplete: 'off', 'aria-label': name, 'aria-expanded': 'true', 'aria-controls': listID, 'aria-autocomplete': 'list',
    placeholder: t('searchFor', { name: targetClass }), value: value ? String(titleOf(value, targetClass)) : '',
  });
  const mark = () => {
    for (const [index, option] of [...list.children].entries()) option.setAttribute('aria-selected', String(index === place));
    setAttribute(input, 'aria-activedescendant', place >= 0 && `${listID}-${place}`);
    list.children[place]?.scrollIntoView({ block: 'nearest' });
  };
  const choose = (object) => {
    chosen = object;
    input.value = String(titleOf(object, targetClass));
    fill(list);
    place = -1;
    commit?.();
  };
  const say = (text) => fill(list, h('li', { role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false', class: 'note' }, text));
  const search = async () => {
    stop.abort();
    stop = new AbortController();
    try {
      found = await findByTitle(targetClass, input.value, stop.signal);
      place = -1;
      fill(list, found.map((object, index) => h('li', { role: 'option', id: `${listID}-${index}`, 'aria-selected': 'false', onclick: () => choose(object) },
        h('span', titleOf(object, targetClass)), object.isNew ? h('span', { class: 'kind new' }, t('kind.new')) : typeLabel(object.objectId))));
      if (!found.length) say(t('nothingFound'));
    } catch (error) {
      if (error.name !== 'AbortError') say(problemText(error));
    }
  };
  const searchSoon = later(150, search);
  input.addEventListener('input', () => {
    if (input.value === '') chosen = undefined;
    // Objects found for an earlier text no longer match, and neither does a search that still runs.
    stop.abort();
    found = [];
    place = -1;
    fill(list);
    searchSoon();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!found.length) return;
      place = (place + (event.key === 'ArrowDown' ? 1 : -1) + found.length) % found.length;
      mark();
    } else if (event.key === 'Enter' && place >= 0) choose(found[place]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  input.addEventListener('focus', () => {
    input.select();
    if (!list.children.length) search();
  }, { once: true });
  return {
    element: h('div', { class: 'picker' }, input, list), focus: input,
    read: () => {
      if (chosen ? input.value !== String(titleOf(chosen, targetClass)) : input.value.trim()) throw new Error(t('chooseOne'));
      return chosen;
    },
  };
}

/** A list of objects, each of which is searched for. */
function memberPicker(field, { id }) {
  const members = [];
  const list = h('ul', { class: 'members' });
  const place = h('div');
  let found;
  const draw = () => fill(list, members.map((member, index) => {
    const title = titleOf(member, field.targetClass);
    return h('li', { class: 'badge' }, title, smallButton('close', `${title}: ${t('takeOut')}`, () => {
      members.splice(index, 1);
      draw();
      found.focus.focus();
    }));
  }));
  const next = (focuses) => {
    found = picker(field, undefined, {
      id,
      commit: () => {
        const member = found.read();
        if (member && !members.some(({ objectId }) => objectId === member.objectId)) members.push(member);
        draw();
        next(true);
      },
    });
    fill(place, found.element);
    if (focuses) found.focus.focus();
  };
  next(false);
  return {
    element: h('div', list, place), get focus() { return found.focus; },
    read: () => {
      found.read();
      return members.length ? [...members] : undefined;
    },
  };
}

// MARK: In place

/** Edits a value over the cell where it stands. Resolves to `{ value }`, or to nothing where it is given up. */
export function editInPlace(cell, field, value) {
  return new Promise((resolve) => {
    let result;
    const form = h('form', {
      class: 'editor', role: 'dialog', 'aria-label': field.name, onsubmit: () => commit(),
      onkeydown: (event) => {
        const isText = event.target instanceof HTMLTextAreaElement;
        if (event.key === 'Enter' && isText && (event.ctrlKey || event.metaKey || !event.shiftKey && field.type === 'String')) {
          event.preventDefault();
          commit();
        }
        event.stopPropagation();
      },
    });
    const problem = problemLine();
    const commit = () => {
      try {
        result = { value: checked(editor.read(), field) };
        form.hidePopover();
      } catch (error) {
        fill(problem, error.message);
        editor.focus.setAttribute('aria-invalid', 'true');
      }
    };
    const editor = editorFor(field, value, { commit });
    form.append(editor.element, problem, h('footer', typeLabel(typeText(field)), spacer(),
      !field.required && value !== undefined && field.type !== 'File' && h('button', { class: 'plain', onclick: () => { result = { value: undefined }; form.hidePopover(); } }, t('toUnset')),
      submitButton(t('ok'))));
    form.style.minWidth = `${Math.max(280, Math.min(cell.offsetWidth, 560))}px`;
    showBelow(form, cell, () => resolve(result));
    const place = cell.getBoundingClientRect();
    if (place.top + form.offsetHeight < innerHeight - 8) form.style.top = `${place.top}px`;
    editor.focus.focus();
    editor.focus.select?.();
  });
}

/** A form for a new object. Resolves to its values. */
export function editNew(known) {
  const editors = known.fields.filter(({ name }) => !known.isOfEvery(name)).map((field) => [field, editorFor(field, field.defaultValue, { id: `new-${field.name}` })]);
  const rows = editors.map(([field, editor]) => labelled(`new-${field.name}`, [field.name, typeLabel(requiredText(field))], editor.element));
  return openDialog(t('newObject', { name: known.name }), (close) => dialogForm(close, t('stage'), rows.length ? rows : note(t('noFields')), () => {
    const values = {};
    for (const [field, editor] of editors) {
      try {
        const value = checked(editor.read(), field);
        if (value !== undefined) values[field.name] = value;
      } catch (error) {
        editor.focus.focus();
        throw new Error(`${field.name}: ${error.message}`);
      }
    }
    return values;
  }, { novalidate: true }));
}

/** A value for a field, which may need one. */
export function checked(value, field) {
  if (value === undefined && field.required) throw new Error(t('required', { name: field.name }));
  return value;
}

/** Lets somebody choose an object to add to a relation. */
export function chooseMember(field) {
  return openDialog(t('addTo', { name: field.name }), (close) => {
    const found = picker(field, undefined, { id: 'member', commit: () => close(found.read()) });
    queueMicrotask(() => found.focus.focus());
    return h('div', { class: 'member-form' }, found.element, note(badge(field.targetClass), t('chooseHint')));
  });
}
