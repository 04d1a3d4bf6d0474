// The schema: the relationships of the classes as a picture, and their fields, rules and indexes.
import { server, session } from './api.js';
import { badge, checkbox, fill, h, icon, labelLine, note, select, smallButton, spacer } from './dom.js';
import { t } from './language.js';
import { dialogForm, labelled, notify, openDialog, reportProblem } from './overlay.js';
import { fillPage, line, saveFile } from './page.js';
import { classAddress } from './place.js';
import { compareSchema } from './schema-file.js';
import { ruleTexts, schema, typeText } from './schema.js';

const types = 'String Number Boolean Date Object Array Pointer Relation GeoPoint Polygon File Bytes'.split(' ');
const rules = ['', 'nullify', 'cascade', 'deny', 'noAction'];

export class SchemaPage {
  #picture = new Blob();

  constructor(main, { openSide, classesChanged, store }) {
    this.classesChanged = classesChanged;
    this.figure = h('figure', { class: 'diagram', tabindex: '0', role: 'group', 'aria-label': t('diagram') });
    this.list = h('div', { class: 'class-cards' });
    fillPage(main, {
      openSide, title: t('schema'),
      actions: [
        !session.isReadOnly && h('button', { class: 'plain', onclick: () => this.#addClass() }, icon('plus'), t('newClass')),
        h('button', { class: 'plain', onclick: () => saveFile(`${store}.svg`, this.#picture) }, icon('save'), t('exportSVG')),
      ],
      below: line(
        h('button', { onclick: () => this.#compare().catch(reportProblem) }, icon('diagram'), t('compareSchema')),
        h('button', { onclick: () => this.#save(store).catch(reportProblem) }, icon('save'), t('saveSchema'))),
    }, this.figure, this.list);
  }

  show() {
    fill(this.list, schema.classes.map((known) => this.#card(known)));
    this.#drawPicture().catch(reportProblem);
  }

  async #drawPicture() {
    this.#picture = new Blob([await server.diagram()], { type: 'image/svg+xml' });
    const url = URL.createObjectURL(this.#picture);
    // As a picture it runs nothing, whatever the names of classes hold.
    const image = h('img', { src: url, alt: t('diagramOf', { names: schema.classes.map(({ name }) => name).join(', ') }) });
    image.addEventListener('load', () => URL.revokeObjectURL(url), { once: true });
    fill(this.figure, image);
  }

  async #save(store) { saveFile(`${store}.schema.json`, await server.schemaFile()); }

  async #compare() { if (await compareSchema()) await this.#changed(); }

  #card(known) {
    const { indexes = {}, uniqueIndexes = {} } = known.description;
    const all = Object.entries({ indexes, uniqueIndexes }).flatMap(([kind, some]) => Object.entries(some).map(([name, fields]) => ({ name, fields, kind })))
      .filter(({ name }) => name !== '_id_');
    return h('section', { class: 'class-card', 'aria-label': known.name },
      h('header', h('h2', h('a', { href: classAddress(known.name) }, icon('table'), known.name)), spacer(),
        !session.isReadOnly && [h('button', { class: 'plain', onclick: () => this.#addField(known) }, icon('plus'), t('field')),
          h('button', { class: 'plain', onclick: () => this.#addIndex(known) }, icon('plus'), t('index'))]),
      h('table', h('thead', h('tr', ['field', 'type', 'rules'].map((name) => h('th', { scope: 'col' }, t(name))), !session.isReadOnly && h('td'))),
        h('tbody', known.fields.map((field) => h('tr',
          h('th', { scope: 'row' }, field.name, known.keyFields.includes(field.name) || field.name === 'objectId' ? h('span', { class: 'key', title: t('key') }, icon('key')) : null),
          h('td', h('code', field.targetClass ? [`${field.type}<`, h('a', { class: 'link', href: classAddress(field.targetClass) }, field.targetClass), '>'] : typeText(field))),
          h('td', ruleTexts(field).map((text) => badge(text))),
          !session.isReadOnly && h('td', { class: 'end' }, !known.isOfEvery(field.name) && smallButton('trash', t('removeField', { name: field.name }), () => this.#remove(known, field))))))),
      all.length > 0 && h('ul', { class: 'indexes' }, all.map(({ name, fields, kind }) => h('li', badge(t(kind === 'indexes' ? 'index' : 'uniqueIndex')), h('strong', name),
        h('code', Object.entries(fields).map(([field, direction]) => (direction < 0 ? '-' : '') + field).join(', ')), spacer(),
        !session.isReadOnly && smallButton('trash', t('removeIndex', { name }), () => this.#change(known.name, { [kind]: { [name]: { __op: 'Delete' } } }).catch(reportProblem))))));
  }

  // MARK: Changing

  async #change(className, body, method = 'PUT') {
    await server.request(method, `/schemas/${encodeURIComponent(className)}`, { body: { className, ...body } });
    await this.#changed();
  }

  async #changed() {
    await schema.load();
    this.classesChanged();
    this.show();
    notify(t('schemaChanged'));
  }

  /** A dialog whose form changes the schema. */
  #ask(title, rows, submit) {
    return openDialog(title, (close) => dialogForm(close, t('ok'), rows, submit));
  }

  #addClass() {
    const name = nameInput('class-name');
    return this.#ask(t('newClass'), [labelled('class-name', t('name'), name)], () => this.#change(name.value.trim(), { fields: {} }, 'POST'));
  }

  #addField(known) {
    const name = nameInput('field-name');
    const type = select({ id: 'field-type' }, types);
    const target = select({ id: 'field-target' }, schema.classes.map(({ name: value }) => value));
    const required = checkbox('field-required');
    const rule = select({ id: 'field-rule' }, rules.map((value) => [value, value || t('asUsual')]));
    const targetRow = labelled('field-target', t('targetClass'), target);
    const ruleRow = labelled('field-rule', t('whenTargetIsDeleted'), rule);
    const requiredRow = labelLine(required, t('isRequired'));
    const update = () => {
      targetRow.hidden = !['Pointer', 'Relation'].includes(type.value);
      ruleRow.hidden = type.value !== 'Pointer';
      requiredRow.hidden = type.value === 'Relation';
    };
    type.addEventListener('change', update);
    update();
    return this.#ask(t('newFieldOf', { name: known.name }), [labelled('field-name', t('name'), name), labelled('field-type', t('type'), type), targetRow, ruleRow, requiredRow], async () => {
      if (known.field(name.value.trim())) throw new Error(t('fieldExists', { name: name.value.trim() }));
      const field = { type: type.value };
      if (!targetRow.hidden) field.targetClass = target.value;
      if (!ruleRow.hidden && rule.value) field.onTargetDelete = rule.value;
      if (!requiredRow.hidden && required.checked) field.required = true;
      return this.#change(known.name, { fields: { [name.value.trim()]: field } });
    });
  }

  #addIndex(known) {
    const name = nameInput('index-name');
    const unique = checkbox('index-unique');
    const boxes = known.stored.filter(({ name: field }) => field !== 'objectId').map((field) => [field.name, checkbox(`index-${field.name}`)]);
    return this.#ask(t('newIndexOf', { name: known.name }), [labelled('index-name', t('name'), name),
      h('fieldset', { class: 'object-field' }, h('legend', t('fields')), boxes.map(([field, box]) => labelLine(box, field))),
      labelLine(unique, t('isUnique'))], () => {
      const fields = Object.fromEntries(boxes.filter(([, box]) => box.checked).map(([field]) => [field, 1]));
      return this.#change(known.name, { [unique.checked ? 'uniqueIndexes' : 'indexes']: { [name.value.trim()]: fields } });
    });
  }

  #remove(known, field) {
    return this.#ask(t('removeField', { name: `${known.name}.${field.name}` }), note(t('removeFieldHint')),
      () => this.#change(known.name, { fields: { [field.name]: { __op: 'Delete' } } }));
  }
}

function nameInput(id) {
  return h('input', { type: 'text', id, required: true, pattern: '[A-Za-z][A-Za-z0-9_]*', autocomplete: 'off', spellcheck: 'false', title: t('nameHint') });
}
