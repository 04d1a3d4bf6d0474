// What a search looks for, marked in texts: words, as the server tells them apart.
import { h } from './dom.js';

const letter = '[\\p{L}\\p{M}\\p{N}]';
/** One of a script with spaces between words. In others, words begin and end anywhere. */
const spaced = `[${letter}--[\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]]`;
const edge = `(?!(?<=${spaced})${spaced})`;
const longest = 1000;

/** Letters without their accents, at the same places. */
function unaccented(text) { return text.replace(/[\u00c0-\u04ff\u1e00-\u1fff]/g, (accented) => accented.normalize('NFD')[0]); }

/** The pattern of a search such as `"blue moon" wait* -rain`; nothing for one without words. */
export function searchPattern(search) {
  const terms = search.slice(0, longest).normalize().replace(/[“”„‟«»＂]/g, '"').match(/(-*"[^"]*"?|[^\s"]+)\*?/g) ?? [];
  const phrases = terms.filter((term) => term !== 'OR' && !term.startsWith('-')).map((term) => {
    const words = unaccented(term).match(/[\p{L}\p{M}\p{N}]+/gu);
    return words && edge + words.join(`${edge}[^${letter}]*`) + (term.endsWith('*') ? `${spaced}*` : edge);
  }).filter(Boolean);
  return phrases.length && new RegExp(phrases.join('|'), 'giv');
}

/** The parts of a text, with marks around what a pattern finds. */
export function marked(text, pattern) {
  if (!pattern) return text;
  const whole = text.normalize();
  const parts = [];
  let end = 0;
  for (const { 0: found, index } of unaccented(whole).matchAll(pattern)) {
    parts.push(whole.slice(end, index), h('mark', whole.slice(index, index + found.length)));
    end = index + found.length;
  }
  return [...parts, whole.slice(end)];
}
