// The schema: how classes are related, as a picture, and what their fields are and which rules they keep.
import { server, session } from './api.js';
import { fill, h, icon } from './dom.js';
import { t } from './language.js';
import { notify, openDialog, problemText, reportProblem } from './overlay.js';
import { pageTitle, saveFile } from './page.js';
import { address } from './place.js';
import { compareSchema } from './schema-file.js';
import { ruleTexts, schema, typeText } from './schema.js';

const types = ['String', 'Number', 'Boolean', 'Date', 'Object', 'Array', 'Pointer', 'Relation', 'GeoPoint', 'Polygon', 'File', 'Bytes'];
const rules = ['', 'nullify', 'cascade', 'deny', 'noAction'];

export class SchemaPage {
  #picture = '';

  constructor(main, { openSide, classesChanged, store }) {
    this.classesChanged = classesChanged;
    this.store = store;
    this.figure = h('figure', { class: 'diagram', tabindex: '0', role: 'group', 'aria-label': t('diagram') });
    this.list = h('div', { class: 'class-cards' });
    fill(main, h('header', { class: 'page-head' }, pageTitle(openSide,
      h('h1', {}, t('schema')), h('span', { class: 'spacer' }),
      !session.isReadOnly && h('button', { type: 'button', class: 'plain', onclick: () => this.#addClass() }, icon('plus'), t('newClass')),
      h('button', { type: 'button', class: 'plain', onclick: () => this.#export() }, icon('save'), t('exportSVG'))),
    h('div', { class: 'move-line' }, h('button', { type: 'button', onclick: () => this.#compare().catch(reportProblem) }, icon('diagram'), t('compareSchema')),
      h('button', { type: 'button', onclick: () => this.#save().catch(reportProblem) }, icon('save'), t('saveSchema')))),
    h('div', { class: 'page-scroll' }, this.figure, this.list));
  }

  show() {
    this.#drawClasses();
    this.#drawPicture().catch(reportProblem);
  }

  async #drawPicture() {
    this.#picture = await server.diagram();
    const url = URL.createObjectURL(new Blob([this.#picture], { type: 'image/svg+xml' }));
    // As a picture it runs nothing, whatever the names of classes hold.
    const image = h('img', { src: url, alt: t('diagramOf', { names: schema.classes.map(({ name }) => name).join(', ') }) });
    image.addEventListener('load', () => URL.revokeObjectURL(url), { once: true });
    fill(this.figure, image);
  }

  #export() {
    saveFile(`${this.store}.svg`, new Blob([this.#picture], { type: 'image/svg+xml' }));
  }

  async #save() { saveFile(`${this.store}.schema.json`, await server.schemaFile()); }

  async #compare() { if (await compareSchema()) await this.#changed(); }

  #drawClasses() {
    fill(this.list, schema.classes.map((known) => this.#card(known)));
  }

  #card(known) {
    const { indexes = {}, uniqueIndexes = {} } = known.description;
    const all = [...Object.entries(indexes).map(([name, fields]) => ({ name, fields, kind: 'indexes' })),
      ...Object.entries(uniqueIndexes).map(([name, fields]) => ({ name, fields, kind: 'uniqueIndexes' }))].filter(({ name }) => name !== '_id_');
    return h('section', { class: 'class-card', 'aria-label': known.name },
      h('header', {}, h('h2', {}, h('a', { href: address({ page: 'class', className: known.name }) }, icon('table'), known.name)), h('span', { class: 'spacer' }),
        !session.isReadOnly && [h('button', { type: 'button', class: 'plain', onclick: () => this.#addField(known) }, icon('plus'), t('field')),
          h('button', { type: 'button', class: 'plain', onclick: () => this.#addIndex(known) }, icon('plus'), t('index'))]),
      h('table', {}, h('thead', {}, h('tr', {}, ['field', 'type', 'rules'].map((name) => h('th', { scope: 'col' }, t(name))), !session.isReadOnly && h('td', {}))),
        h('tbody', {}, known.fields.map((field) => h('tr', {},
          h('th', { scope: 'row' }, field.name, known.keyFields.includes(field.name) || field.name === 'objectId' ? h('span', { class: 'key', title: t('key') }, icon('key')) : null),
          h('td', {}, h('code', {}, field.targetClass ? [`${field.type}<`, h('a', { class: 'link', href: address({ page: 'class', className: field.targetClass }) }, field.targetClass), '>'] : typeText(field))),
          h('td', {}, ruleTexts(field).map((text) => h('span', { class: 'badge' }, text))),
          !session.isReadOnly && h('td', { class: 'end' }, !known.isOfEvery(field.name) && h('button', {
            type: 'button', class: 'plain square small', 'aria-label': t('removeField', { name: field.name }), title: t('removeField', { name: field.name }), onclick: () => this.#remove(known, field),
          }, icon('trash'))))))),
      all.length > 0 && h('ul', { class: 'indexes' }, all.map(({ name, fields, kind }) => h('li', {}, h('span', { class: 'badge' }, t(kind === 'indexes' ? 'index' : 'uniqueIndex')), h('strong', {}, name),
        h('code', {}, Object.entries(fields).map(([field, direction]) => (direction < 0 ? '-' : '') + field).join(', ')), h('span', { class: 'spacer' }),
        !session.isReadOnly && h('button', {
          type: 'button', class: 'plain square small', 'aria-label': t('removeIndex', { name }), title: t('removeIndex', { name }),
          onclick: () => this.#change(known.name, { [kind]: { [name]: { __op: 'Delete' } } }).catch(reportProblem),
        }, icon('trash'))))));
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

  /** A dialog whose form changes the schema; what the server refuses is told in it. */
  #ask(title, rows, submit) {
    return openDialog(title, (close) => {
      const problem = h('p', { class: 'form-problem', role: 'alert' });
      return h('form', {
        class: 'object-form',
        onsubmit: async (event) => {
          event.preventDefault();
          fill(problem);
          try {
            await submit();
            close();
          } catch (error) {
            fill(problem, problemText(error));
          }
        },
      }, h('div', { class: 'object-fields' }, rows), h('footer', {}, problem, h('span', { class: 'spacer' }),
        h('button', { type: 'button', onclick: () => close() }, t('cancel')), h('button', { type: 'submit', class: 'primary' }, t('ok'))));
    });
  }

  #addClass() {
    const name = nameInput('class-name');
    return this.#ask(t('newClass'), [row('class-name', t('name'), name)], () => this.#change(name.value.trim(), { fields: {} }, 'POST'));
  }

  #addField(known) {
    const name = nameInput('field-name');
    const type = select('field-type', types.map((value) => [value, value]));
    const target = select('field-target', schema.classes.map(({ name: value }) => [value, value]));
    const required = h('input', { type: 'checkbox', id: 'field-required' });
    const rule = select('field-rule', rules.map((value) => [value, value || t('asUsual')]));
    const targetRow = row('field-target', t('targetClass'), target);
    const ruleRow = row('field-rule', t('whenTargetIsDeleted'), rule);
    const requiredRow = h('div', { class: 'object-field line' }, required, h('label', { for: 'field-required' }, t('isRequired')));
    const update = () => {
      targetRow.hidden = !['Pointer', 'Relation'].includes(type.value);
      ruleRow.hidden = type.value !== 'Pointer';
      requiredRow.hidden = type.value === 'Relation';
    };
    type.addEventListener('change', update);
    update();
    return this.#ask(t('newFieldOf', { name: known.name }), [row('field-name', t('name'), name), row('field-type', t('type'), type), targetRow, ruleRow, requiredRow], async () => {
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
    const unique = h('input', { type: 'checkbox', id: 'index-unique' });
    const boxes = known.fields.filter(({ type, name: field }) => type !== 'Relation' && field !== 'objectId').map((field) => [field.name, h('input', { type: 'checkbox', id: `index-${field.name}` })]);
    return this.#ask(t('newIndexOf', { name: known.name }), [row('index-name', t('name'), name),
      h('fieldset', { class: 'object-field' }, h('legend', {}, t('fields')), boxes.map(([field, box]) => h('div', { class: 'line' }, box, h('label', { for: `index-${field}` }, field)))),
      h('div', { class: 'object-field line' }, unique, h('label', { for: 'index-unique' }, t('isUnique')))], () => {
      const fields = Object.fromEntries(boxes.filter(([, box]) => box.checked).map(([field]) => [field, 1]));
      return this.#change(known.name, { [unique.checked ? 'uniqueIndexes' : 'indexes']: { [name.value.trim()]: fields } });
    });
  }

  #remove(known, field) {
    return this.#ask(t('removeField', { name: `${known.name}.${field.name}` }), h('p', { class: 'note' }, t('removeFieldHint')),
      () => this.#change(known.name, { fields: { [field.name]: { __op: 'Delete' } } }));
  }
}

function nameInput(id) {
  return h('input', { type: 'text', id, required: true, pattern: '[A-Za-z][A-Za-z0-9_]*', autocomplete: 'off', spellcheck: 'false', title: t('nameHint') });
}

function select(id, options) { return h('select', { id }, options.map(([value, text]) => h('option', { value }, text))); }

function row(id, label, element) { return h('div', { class: 'object-field' }, h('label', { for: id }, label), element); }
