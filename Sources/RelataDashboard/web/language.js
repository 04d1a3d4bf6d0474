// The texts of the pages, in the viewer's language.
import { memory } from './dom.js';
import english from './strings.en.js';
import chinese from './strings.zh-Hans.js';

const languages = { en: english, 'zh-Hans': chinese };
export const languageNames = { en: 'English', 'zh-Hans': '简体中文' };

function preferred() {
  const kept = memory.read('language', null);
  if (languages[kept]) return kept;
  return navigator.languages.find((name) => /^(en|zh)\b/i.test(name))?.toLowerCase().startsWith('zh') ? 'zh-Hans' : 'en';
}

export let language = preferred();
document.documentElement.lang = language;

export function setLanguage(name) {
  language = name;
  memory.write('language', name);
  document.documentElement.lang = name;
}

/** A text: `t('objects', { count: 7 })`. A text of several forms is chosen by its `count`. */
export function t(name, values = {}) {
  let text = languages[language][name];
  if (typeof text === 'object') {
    const form = new Intl.PluralRules(language).select(Number(values.count));
    text = text[form] ?? text.other;
  }
  return text.replace(/\{(\w+)\}/g, (whole, key) => {
    const value = values[key];
    return typeof value === 'number' || typeof value === 'bigint' ? number(value) : String(value ?? whole);
  });
}

export function number(value) { return new Intl.NumberFormat(language, { maximumFractionDigits: 20 }).format(value); }

/** A number, rounded: `1.2 million`. */
export function roundNumber(value, compactDisplay = 'long') {
  return new Intl.NumberFormat(language, { notation: 'compact', compactDisplay, maximumSignificantDigits: 2 }).format(value);
}

export function dateText(date) {
  if (Number.isNaN(date.getTime())) return '';
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(date);
}
