// How values are shown.
import { jsonText } from './api.js';
import { h, icon } from './dom.js';
import { fileTitle } from './files.js';
import { dateText, number, t } from './language.js';
import { schema, titleOf } from './schema.js';

const longest = 300;

/** A value in one line of text. */
export function valueText(value, field) {
  if (value === undefined || value === null) return '';
  switch (field.type) {
    case 'Date': return dateText(dateOf(value));
    case 'Number': return typeof value === 'object' ? jsonText(value) : String(value);
    case 'Boolean': return t(value ? 'yes' : 'no');
    case 'Pointer': return pointerTitle(value);
    case 'File': return value.name ?? '';
    case 'Relation': return value.map(({ title }) => title).join(', ');
    case 'Bytes': return t('bytes', { count: byteCount(value.base64 ?? '') });
    case 'GeoPoint': return `${value.latitude}, ${value.longitude}`;
    case 'Polygon': return t('corners', { count: value.coordinates?.length ?? 0 });
    default: return typeof value === 'string' ? value : jsonText(value);
  }
}

export function dateOf(value) { return new Date(typeof value === 'string' ? value : value.iso); }

function byteCount(base64) { return Math.floor(base64.replace(/=+$/, '').length * 3 / 4); }

/** The name of what a pointer leads to, as far as it came along. */
export function pointerTitle(value) { return titleOf(value, value.className) ?? value.objectId; }

/** What a cell holds. */
export function valueContent(value, field, row) {
  if (field.type === 'Relation') {
    const count = row.counts?.[field.name];
    if (count === undefined) return h('span', { class: 'unset' }, '…');
    return h('span', { class: count ? 'chip many' : 'chip many zero', 'data-follow': field.name }, icon('many'), number(count));
  }
  if (value === undefined || value === null) return h('span', { class: 'unset', title: t('unset') }, '—');
  switch (field.type) {
    case 'Pointer':
      return h('span', { class: 'chip', 'data-follow': field.name }, icon('link'), h('span', {}, clipped(pointerTitle(value))));
    case 'File': return h('span', { class: 'chip', 'data-follow': field.name, title: String(value.name ?? '') }, icon('file'), h('span', {}, clipped(fileTitle(value))));
    case 'Boolean': return h('span', { class: value ? 'truth yes' : 'truth no' }, valueText(value, field));
    case 'Date': return h('time', { datetime: dateOf(value).toJSON() ?? '' }, valueText(value, field));
    case 'Number': return h('span', { class: 'number' }, valueText(value, field));
    case 'String':
      if (value === '') return h('span', { class: 'unset' }, t('emptyText'));
      return h('span', {}, clipped(String(value).replace(/\s*\n\s*/g, ' ↵ ')));
    default: return h('code', {}, clipped(valueText(value, field)));
  }
}

function clipped(text) { return text.length > longest ? text.slice(0, longest) + '…' : text; }

/** What the class of an object is called where it stands beside its name. */
export function classBadge(name) { return h('span', { class: 'badge' }, name); }

