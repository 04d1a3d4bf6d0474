// Values as text, and as elements.
import { jsonText, jsonValue } from './api.js';
import { h, icon } from './dom.js';
import { fileTitle } from './files.js';
import { dateText, number, t } from './language.js';
import { marked } from './marks.js';
import { titleOf } from './schema.js';

const longest = 300;

/** A value in one line of text. */
export function valueText(value, field) {
  if (value === undefined || value === null) return '';
  switch (field.type) {
    case 'Date': return dateText(dateOf(value));
    case 'Number': return typeof value === 'object' ? jsonText(value) : String(value);
    case 'Boolean': return t(value ? 'yes' : 'no');
    case 'Pointer': return titleOf(value, value.className);
    case 'File': return value.name ?? '';
    case 'Relation': return value.map(({ title }) => title).join(', ');
    case 'Bytes': return t('bytes', { count: byteCount(value.base64 ?? '') });
    case 'GeoPoint': return `${value.latitude}, ${value.longitude}`;
    case 'Polygon': return t('corners', { count: value.coordinates?.length ?? 0 });
    default: return typeof value === 'string' ? value : jsonText(value);
  }
}

/** The value of a text that somebody wrote or chose. */
export function parsedJSON(text) {
  try {
    return jsonValue(text);
  } catch (error) {
    throw new Error(t('noJSON', { problem: error.message }));
  }
}

/** A date as its fields in forms have it, which know no time zones. */
export function localTime(date, length = 23) {
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, length);
}

export function dateOf(value) { return new Date(typeof value === 'string' ? value : value.iso); }

function byteCount(base64) { return Math.floor(base64.replace(/=+$/, '').length * 3 / 4); }

/** The mark of an unset value. */
export function unset(text, more) { return h('span', { class: 'unset', ...more }, text); }

/** The content of a cell; in a text, what a search looks for is marked. */
export function valueContent(value, field, row, pattern) {
  if (field.type === 'Relation') {
    const count = row.counts?.[field.name];
    if (count === undefined) return unset('…');
    return h('span', { class: count ? 'chip many' : 'chip many zero', 'data-follow': field.name }, icon('many'), number(count));
  }
  if (value === undefined || value === null) return unset('—', { title: t('unset') });
  const text = valueText(value, field);
  switch (field.type) {
    case 'Pointer': return chip('link', text, field);
    case 'File': return chip('file', fileTitle(value), field, { title: String(value.name ?? '') });
    case 'Boolean': return h('span', { class: value ? 'truth yes' : 'truth no' }, text);
    case 'Date': return h('time', { datetime: dateOf(value).toJSON() ?? '' }, text);
    case 'Number': return h('span', { class: 'number' }, text);
    case 'String':
      if (text === '') return unset(t('emptyText'));
      return h('span', marked(clipped(text.replace(/\s*\n\s*/g, ' ↵ ')), pattern));
    default: return h('code', clipped(text));
  }
}

function chip(shape, text, { name }, more) {
  return h('span', { class: 'chip', 'data-follow': name, ...more }, icon(shape), h('span', clipped(text)));
}

function clipped(text) { return text.length > longest ? text.slice(0, longest) + '…' : text; }

