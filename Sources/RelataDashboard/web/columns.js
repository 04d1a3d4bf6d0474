// The columns of a class: those that are shown, their order and their widths, remembered by the browser.
import { fill, h, iconButton, memory, typeLabel } from './dom.js';
import { t } from './language.js';
import { doneFooter, openDialog } from './overlay.js';
import { typeText } from './schema.js';

const widths = {
  objectId: 120, Boolean: 90, Number: 110, Date: 190, Relation: 130, Pointer: 190, String: 220,
};

function usual(known) {
  const shown = known.fields.length > 14 ? 10 : known.fields.length;
  return known.fields.map((field, place) => ({
    name: field.name, width: widths[field.name] ?? (known.titleFields.includes(field.name) ? 260 : widths[field.type] ?? 180),
    isHidden: place >= shown && !['createdAt', 'updatedAt'].includes(field.name),
  }));
}

const keyOf = (store, known) => `columns.${store}.${known.name}`;

/** All columns of a class, also those that are hidden; new ones are at the end. */
export function readColumns(store, known) {
  const kept = memory.read(keyOf(store, known), []).filter(({ name }) => known.field(name));
  const names = new Set(kept.map(({ name }) => name));
  const others = usual(known).filter(({ name }) => !names.has(name));
  return kept.length ? [...kept, ...others] : others;
}

export function keepColumns(store, known, columns) { memory.write(keyOf(store, known), columns); }

/** Puts those that a grid shows back among all. */
export function merged(all, shown) {
  const hidden = all.filter(({ name }) => !shown.some((column) => column.name === name));
  return [...shown.map((column) => ({ ...column, isHidden: false })), ...hidden];
}

/** Lets somebody choose; calls `change` with all columns after each step. */
export function chooseColumns(known, columns, change) {
  let all = columns;
  return openDialog(t('columns'), (close) => {
    const list = h('ul', { class: 'column-list' });
    const set = (changed, focus) => {
      all = changed;
      change(all);
      draw();
      focus && list.querySelector(focus)?.focus();
    };
    const move = (place, step) => {
      const changed = [...all];
      changed.splice(place + step, 0, ...changed.splice(place, 1));
      set(changed, `[data-move="${place + step}.${step}"]:enabled, [data-move^="${place + step}."]:enabled`);
    };
    const draw = () => fill(list, all.map((column, place) => h('li',
      h('label', h('input', {
        type: 'checkbox', checked: !column.isHidden, 'data-check': place,
        onchange: () => set(all.map((other) => (other === column ? { ...column, isHidden: !column.isHidden } : other)), `[data-check="${place}"]`),
      }), h('span', column.name), typeLabel(typeText(known.field(column.name)))),
      [[-1, 'up', 'moveUp'], [1, 'down', 'moveDown']].map(([step, shape, text]) => iconButton(shape, t(text, { name: column.name }), () => move(place, step), {
        disabled: place + step < 0 || place + step >= all.length, 'data-move': `${place}.${step}`,
      })))));
    draw();
    return [list, doneFooter(close, h('button', { onclick: () => set(usual(known)) }, t('asAtFirst')))];
  });
}
