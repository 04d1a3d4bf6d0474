// Conditions of the form as text, and back: those that are comparisons joined by AND, or by OR.
import { schema } from './schema.js';
import { localTime } from './values.js';

const operators = {
  String: ['contains', 'equal', 'unequal', 'begins', 'ends', 'set', 'unset'],
  Number: ['equal', 'unequal', 'less', 'atMost', 'greater', 'atLeast', 'set', 'unset'],
  Date: ['less', 'greater', 'set', 'unset'],
  Boolean: ['true', 'false', 'set', 'unset'],
  Pointer: ['set', 'unset'],
  Relation: ['equal', 'greater', 'less'],
};

const symbols = {
  contains: 'CONTAINS[cd]', begins: 'BEGINSWITH[cd]', ends: 'ENDSWITH[cd]', equal: '==', unequal: '!=', less: '<', atMost: '<=', greater: '>', atLeast: '>=',
};
const endings = { set: '!= nil', unset: '== nil', true: '== TRUE', false: '== FALSE' };

export function operatorsOf({ type }) { return operators[type] ?? ['set', 'unset']; }

export function emptyTerm(known) {
  const path = known.titleFields[0] ?? known.fields[0].name;
  return { path, operator: operatorsOf(known.field(path))[0], value: '' };
}

function fieldAt(path, known) {
  const [first, second] = path.split('.');
  const field = known.field(first);
  return second === undefined ? field : schema.get(field?.targetClass)?.field(second);
}

/** A name as it stands in a condition: one that isn't a plain word stands between backquotes. */
function nameText(path) {
  return path.split('.').map((name) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? (keywords.has(name.toUpperCase()) ? '#' + name : name) : '`' + name + '`')).join('.');
}

const keywords = new Set('AND OR NOT IN LIKE MATCHES CONTAINS BEGINSWITH ENDSWITH BETWEEN ANY SOME ALL NONE NIL NULL TRUE FALSE YES NO SELF TRUEPREDICATE FALSEPREDICATE SUBQUERY'.split(' '));

export function quoted(text) { return `"${text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n').replace(/\t/g, '\\t')}"`; }

/** The text of a condition of several terms. */
export function conditionText(terms, joint, known) {
  return terms.map(({ path, operator, value }) => {
    const field = fieldAt(path, known);
    const name = nameText(path) + (field?.type === 'Relation' ? '.@count' : '');
    if (endings[operator]) return `${name} ${endings[operator]}`;
    if (value === '' && field?.type !== 'String') return null;
    if (field?.type === 'Number' || field?.type === 'Relation') return `${name} ${symbols[operator]} ${value}`;
    if (field?.type === 'Date') return `${name} ${symbols[operator]} "${new Date(value).toISOString()}"`;
    return `${name} ${symbols[operator]} ${quoted(value)}`;
  }).filter(Boolean).join(` ${joint} `);
}

/** The terms of a condition; `null` for one that the form can't say. */
export function readCondition(text, known) {
  let rest = text.trim();
  const terms = [];
  let joint = null;
  const take = (pattern) => {
    const match = rest.match(pattern);
    if (match) rest = rest.slice(match[0].length).trimStart();
    return match;
  };
  while (rest !== '') {
    const name = take(/^(?:#?[A-Za-z_]\w*|`[^`]+`)(?:\.(?:#?[A-Za-z_]\w*|`[^`]+`))?(\.@count)?/);
    if (!name) return null;
    const path = name[0].replace(/\.@count$/, '').replace(/[#`]/g, '');
    const field = fieldAt(path, known);
    if (!field || (field.type === 'Relation') !== Boolean(name[1])) return null;
    const symbol = take(/^(?:CONTAINS\[cd\]|BEGINSWITH\[cd\]|ENDSWITH\[cd\]|==|!=|<=|>=|<|>)/i);
    const value = symbol && take(/^(?:"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?)|(nil|TRUE|FALSE)\b)/i);
    if (!value) return null;
    const term = { path, operator: null, value: '' };
    if (value[3]) term.operator = Object.keys(endings).find((key) => endings[key].toUpperCase() === `${symbol[0]} ${value[3]}`.toUpperCase());
    else {
      term.operator = Object.keys(symbols).find((key) => symbols[key] === symbol[0].toUpperCase());
      term.value = value[2] ?? value[1].replace(/\\(.)/g, (whole, letter) => ({ n: '\n', t: '\t' })[letter] ?? letter);
      if (field.type === 'Date') term.value = localTime(new Date(term.value), 19);
    }
    if (!operatorsOf(field).includes(term.operator)) return null;
    terms.push(term);
    if (rest === '') break;
    const word = take(/^(AND|OR)\b/i)?.[1].toUpperCase();
    if (!word || joint && joint !== word || rest === '') return null;
    joint = word;
  }
  return { terms, joint: joint ?? 'AND' };
}
