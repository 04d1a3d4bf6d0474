// The classes, as the server tells them.
import { jsonText, server } from './api.js';
import { t } from './language.js';

const everyObjects = ['objectId', 'createdAt', 'updatedAt'];

export const schema = {
  classes: [],
  byName: new Map(),

  async load() {
    const classes = (await server.classes()).map((description) => new ClassInformation(description));
    this.classes = classes.sort((a, b) => a.name.localeCompare(b.name));
    this.byName = new Map(classes.map((known) => [known.name, known]));
  },
  get(name) { return this.byName.get(name); },
};

class ClassInformation {
  constructor(description) {
    this.name = description.className;
    this.description = description;
    this.titleFields = description.title;
    this.keyFields = description.keyFields;
    this.searchFields = description.search ?? [];
    this.fields = Object.entries(description.fields)
      .filter(([name]) => name !== 'ACL')
      .map(([name, field]) => ({ name, ...field }));
    // The fields of an object's name come first, those of every object last.
    const rank = ({ name, type }) =>
      name === 'objectId' ? 0 : this.titleFields.includes(name) ? 1 : everyObjects.includes(name) ? 5
        : type === 'Relation' ? 4 : type === 'Pointer' ? 3 : 2;
    this.fields = this.fields.map((field, place) => ({ field, place }))
      .sort((a, b) => rank(a.field) - rank(b.field) || a.place - b.place).map(({ field }) => field);
    this.byName = new Map(this.fields.map((field) => [field.name, field]));
  }

  field(name) { return this.byName.get(name); }

  /** All but relations. */
  get stored() { return this.fields.filter(({ type }) => type !== 'Relation'); }
  get relations() { return this.fields.filter(({ type }) => type === 'Relation'); }
  get pointers() { return this.fields.filter(({ type }) => type === 'Pointer'); }
  /** The fields that a query selects if only the objects' names matter. */
  get titleKeys() { return this.titleFields.length ? this.titleFields : ['objectId']; }

  isOfEvery(name) { return everyObjects.includes(name); }
}

/** `Pointer<Genre>`, `String`. */
export function typeText({ type, targetClass }) { return targetClass ? `${type}<${targetClass}>` : type; }

/** The type, with a mark where a value is required. */
export function requiredText(field) { return typeText(field) + (field.required ? ' *' : ''); }

/** The rules of a field besides its type. */
export function ruleTexts(field) {
  return [
    field.required && t('isRequired'),
    field.defaultValue !== undefined && t('defaultIs', { value: jsonText(field.defaultValue) }),
    field.inverse && t('inverseIs', { name: field.inverse }),
    field.deleteRule && t('deleteRuleIs', { name: field.deleteRule }),
    field.onTargetDelete && t('targetRuleIs', { name: field.onTargetDelete }),
    typeof field.order === 'string' && t('orderIs', { name: field.order }),
  ].filter(Boolean);
}

/** The name by which a person knows an object. */
export function titleOf(object, className) {
  const known = schema.get(className);
  const words = (known?.titleFields ?? []).map((name) => object[name]).filter((word) => word !== undefined && word !== '');
  return words.length ? words.join(' ') : object.objectId;
}

/** `include` and `keys` of a query that shows some fields of a class, and the names of what its pointers lead to. */
export function selection(known, names) {
  const include = [];
  const keys = ['objectId'];
  for (const name of names) {
    const field = known.field(name);
    if (!field) continue;
    const target = field.type === 'Pointer' ? schema.get(field.targetClass) : undefined;
    if (target) {
      include.push(name);
      keys.push(...target.titleKeys.map((key) => `${name}.${key}`));
    } else {
      keys.push(name);
    }
  }
  return { include: include.join(','), keys: [...new Set(keys)].join(',') };
}
