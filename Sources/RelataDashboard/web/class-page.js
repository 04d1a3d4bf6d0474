// The page of a class: its objects in a grid, found by a condition, with a panel for one of them.
import { server, session } from './api.js';
import { saveAndTell, showChanges } from './changes.js';
import { chooseColumns, keepColumns, merged, readColumns } from './columns.js';
import { planDeletion } from './deletion.js';
import { fill, h, icon, iconButton, spacer } from './dom.js';
import { editInPlace, editNew } from './editors.js';
import { canEdit, edits } from './edits.js';
import { openFile } from './files.js';
import './filter.js';
import { countText } from './grid.js';
import './inspector.js';
import { t } from './language.js';
import { notify, problemText, reportProblem } from './overlay.js';
import { crumbMark, emptyNotice, pageTitle, repeatWhileShown } from './page.js';
import { paste } from './paste.js';
import { address, classAddress, go, longestTrail, pathText, readPlace, step } from './place.js';
import { nameElement, remember } from './names.js';
import { showQuery } from './query-dialog.js';
import { readSort, Rows, sortText } from './rows.js';
import { schema } from './schema.js';
import { valueText } from './values.js';
import { accessLine } from './view.js';

export class ClassPage {
  #place = null;
  #rows = null;
  #columns = [];
  #query = '';

  /** @param access What the viewer may do, where somebody views as another. */
  constructor(main, className, { store, openSide, access }) {
    this.className = className;
    this.known = schema.get(className);
    this.store = store;
    this.hiddenFields = new Set(access?.hiddenFields);
    this.#columns = readColumns(store, this.known);
    this.grid = this.#makeGrid();
    this.inspector = this.#makeInspector();
    this.filter = h('relata-filter', {
      onapply: ({ detail }) => {
        // A new search shows the best matches first.
        const isNew = detail.search && detail.search !== this.#place.search;
        go({ ...this.#place, ...detail, sort: isNew ? '' : this.#place.sort, open: [] });
      },
    });
    this.trail = h('nav', { class: 'trail', 'aria-label': t('trail') });
    this.status = h('span', { class: 'status-count', role: 'status' });
    this.changes = h('button', { class: 'primary', hidden: true, onclick: () => showChanges().then(() => this.grid.focus()) });
    this.cover = h('div', { class: 'cover', hidden: true });
    fill(main,
      h('header', { class: 'page-head' },
        pageTitle(openSide,
          this.trail, spacer(), this.status,
          iconButton('code', t('query'), () => showQuery(className, this.#rows.firstQuery)),
          iconButton('reload', t('reload'), () => this.reload()),
          this.changes,
          !session.isReadOnly && h('button', { class: 'plain', 'aria-label': t('newObject', { name: className }), onclick: () => this.#create() }, icon('plus'), h('span', { class: 'only-wide' }, t('new'))),
          h('button', { class: 'plain', 'aria-label': t('columns'), onclick: () => this.#chooseColumns() }, icon('columns'), h('span', { class: 'only-wide' }, t('columns')))),
        access ? accessLine(access) : this.filter),
      h('div', { class: 'page-body' }, h('div', { class: 'grid-place' }, this.grid, this.cover), this.inspector));
    this.#listen();
  }

  #makeGrid() {
    return h('relata-grid', {
      onsort: ({ detail }) => this.#sortBy(detail),
      oncolumns: ({ detail }) => this.#keep(merged(this.#columns, detail)),
      onopen: ({ detail }) => this.#open([{ className: this.className, id: detail.row.objectId }]),
      onedit: ({ detail }) => this.#edit(this.className, detail.row, detail.field, detail.cell),
      onremove: ({ detail }) => this.#remove(this.className, detail.row),
      onfollow: ({ detail }) => this.#follow(detail),
      onproblem: ({ detail }) => this.#problem(detail),
      onpaste: (event) => {
        if (session.isReadOnly) return;
        event.preventDefault();
        paste(event.clipboardData.getData('text/plain'), this.className, (down, right) => this.grid.cellAt(down, right));
      },
      oncopy: (event) => {
        const { row, field } = this.grid.cellAt(0, 0);
        if (!row || !field || !getSelection().isCollapsed) return;
        event.preventDefault();
        event.clipboardData.setData('text/plain', valueText(edits.value(this.className, row, field.name), field));
      },
    });
  }

  #makeInspector() {
    return h('relata-inspector', {
      hidden: true,
      onedit: ({ detail }) => this.#edit(detail.className, detail.row, detail.field, detail.anchor),
      ongo: ({ detail }) => this.#open(detail),
      onrelation: ({ detail }) => this.#showRelation(detail),
      onclose: () => {
        this.#open([]);
        this.grid.focus();
      },
    });
  }

  #listen() {
    this.#whileShown(document, 'keydown', (event) => {
      if (!(event.ctrlKey || event.metaKey) || document.querySelector('dialog[open], .editor') || event.target.matches?.('input, textarea')) return;
      const key = event.key.toLowerCase();
      if (key === 'y' || key === 'z' && event.shiftKey) edits.redo();
      else if (key === 'z') edits.undo();
      else if (event.key === 's') saveAndTell();
      else return;
      event.preventDefault();
    });
    repeatWhileShown(this.grid, (stop) => this.#followChanges().catch((error) => {
      stop();
      reportProblem(error);
    }));
    this.#whileShown(edits, 'change', () => this.#showEdits());
    this.#whileShown(edits, 'save', () => this.reload());
  }

  /** Listens for as long as the page is in the document. */
  #whileShown(target, name, action) {
    const listener = (event) => {
      if (this.grid.isConnected) action(event);
      else target.removeEventListener(name, listener);
    };
    target.addEventListener(name, listener);
  }

  get visibleColumns() { return this.#columns.filter(({ isHidden, name }) => !isHidden && !this.hiddenFields.has(name)); }

  /** Shows the place of an address. */
  show(place) {
    const before = this.#place;
    this.#place = place;
    const query = JSON.stringify([place.predicate, place.search, place.sort, place.relation]);
    if (query !== this.#query) {
      this.#query = query;
      this.#load();
    }
    this.#showTrail();
    this.#countEdits();
    const opened = pathText(place.open);
    if (opened !== this.opened) {
      this.opened = opened;
      this.#showPanel(before !== null && place.open.length > 0);
    }
  }

  #showPanel(focus) {
    const { open } = this.#place;
    this.inspector.show(open, { actions: this.#actions(open.at(-1)), focus });
  }

  reload() {
    this.#load();
    this.opened = undefined;
    this.show(this.#place);
  }

  #load() {
    const { sort, relation } = this.#place;
    // Conditions as text are the master key's, and so are searches, of classes that have one.
    const predicate = session.viewer ? '' : this.#place.predicate;
    const search = session.viewer || !this.known.searchFields.length ? '' : this.#place.search;
    this.filter.set(this.known, { predicate, search });
    this.cover.hidden = true;
    this.#rows = new Rows({ className: this.className, predicate, search, sort, relation }, this.visibleColumns.map(({ name }) => name));
    const rows = this.#rows;
    rows.addEventListener('change', () => this.#changed(rows));
    this.grid.show({ rows, known: this.known, columns: this.visibleColumns, sort, label: this.className, staged: (row) => edits.of(this.className, row.objectId) });
    fill(this.status, t('loading'));
    // A viewer who may find objects may not be allowed to count them.
    rows.load(0).then(() => rows.total === null && rows.count().catch((error) => { if (!session.viewer) throw error; })).catch((error) => {
      if (rows === this.#rows) this.#problem(error);
    });
  }

  #changed(rows) {
    if (rows !== this.#rows) return;
    this.#showCount(rows);
    const isEmpty = rows.total === 0;
    this.cover.hidden = !isEmpty;
    if (!isEmpty) return;
    const { predicate, search } = rows.query;
    const isFound = predicate || search;
    fill(this.cover, emptyNotice('search', isFound ? t('nothingFound') : t('noObjects'), isFound && h('button', { onclick: () => go({ ...this.#place, predicate: '', search: '' }) }, t('showAll'))));
  }

  /** Shows the number of objects; a click on a guess counts them. */
  #showCount(rows) {
    const text = countText(rows);
    const isGuess = rows.isGuess && !rows.isCounting;
    // An unchanged button keeps the focus.
    if (this.status.textContent === text && Boolean(this.status.firstElementChild) === isGuess) return;
    fill(this.status, isGuess ? h('button', {
      class: 'link', title: t('countAll'),
      onclick: () => {
        this.grid.focus();
        rows.countAll().catch(reportProblem);
      },
    }, text) : text);
  }

  #problem(error) {
    if (error.name === 'AbortError' || error.status === 401) return;
    if (error.code === 102 && this.#place.predicate) {
      fill(this.status);
      this.filter.showProblem(error.message);
      this.#rows.total = 0;
      fill(this.cover, emptyNotice('search', t('conditionUnclear')));
      this.cover.hidden = false;
      return;
    }
    fill(this.cover, emptyNotice('alert', problemText(error), h('button', { onclick: () => this.reload() }, t('again'))));
    this.cover.hidden = false;
  }

  /** Shows the changes of others in place. */
  async #followChanges() {
    try {
      const { epoch, versions } = await server.changes();
      // Names of what pointers lead to, and counts of relations, are shown too.
      const shown = [this.className, ...this.known.fields.map(({ targetClass }) => targetClass).filter(Boolean)];
      const seen = JSON.stringify([epoch, shown.map((name) => versions[name] ?? 0)]);
      if (this.seen !== undefined && this.seen !== seen) {
        this.#rows.refresh();
        if (this.#place.open.length && !this.inspector.matches(':focus-within')) this.#showPanel(false);
      }
      this.seen = seen;
      this.grid.dataset.follows = '';
    } catch (error) {
      if (error.status !== 0 && error.status !== 401) throw error;
    }
  }

  // MARK: Order and columns

  #sortBy({ name, adds }) {
    const order = readSort(this.#place.sort);
    const known = order.find((term) => term.name === name);
    const next = !known ? { name, descends: false } : known.descends ? null : { name, descends: true };
    const others = adds ? order.filter((term) => term !== known) : [];
    const terms = adds && known && next ? order.map((term) => (term === known ? next : term)) : [...others, next];
    go({ ...this.#place, sort: sortText(terms.filter(Boolean)) });
  }

  #keep(columns) {
    this.#columns = columns;
    keepColumns(this.store, this.known, columns);
  }

  #chooseColumns() {
    const before = JSON.stringify(this.#columns);
    chooseColumns(this.known, this.#columns, (columns) => this.#keep(columns)).then(() => {
      if (JSON.stringify(this.#columns) !== before) this.#load();
      this.grid.focus();
    });
  }

  // MARK: Changes

  #countEdits() {
    const count = edits.list.length;
    this.changes.hidden = count === 0;
    fill(this.changes, t('unsaved', { count }));
  }

  #showEdits() {
    this.#countEdits();
    this.grid.redraw();
    if (this.#place?.open.length) this.#showPanel(false);
  }

  async #edit(className, row, field, anchor) {
    if (field.type === 'Relation' || !anchor || !canEdit(field)) return;
    if (edits.of(className, row.objectId)?.kind === 'delete') return;
    const result = await editInPlace(anchor, field, edits.value(className, row, field.name));
    if (result) edits.set(className, row, field.name, result.value);
    if (this.inspector.hidden) this.grid.focus();
  }

  async #create() {
    const values = await editNew(this.known);
    if (values) edits.create(this.className, values);
  }

  async #remove(className, row) {
    if (!session.isReadOnly) await planDeletion(className, row);
    this.grid.focus();
  }

  // MARK: Following

  #open(open) { go({ ...this.#place, open }); }

  #follow({ row, field }) {
    if (field.type === 'Relation') return this.#showRelation({ className: this.className, id: row.objectId, field: field.name });
    const target = row[field.name];
    if (!target) return;
    if (field.type === 'File') return openFile(target);
    remember(this.className, row);
    this.#open([{ className: this.className, id: row.objectId }, { className: target.className, id: target.objectId }]);
  }

  #showRelation(relation) {
    const target = schema.get(relation.className)?.field(relation.field)?.targetClass;
    if (!target) return;
    const trail = [...this.#place.trail, step(this.#place)].slice(-longestTrail);
    go({ page: 'class', className: target, relation, trail });
  }

  #actions(object) {
    if (!object) return [];
    return [!session.isReadOnly && {
      icon: 'trash', text: t('delete'), run: () => server.object(object.className, object.id).then((row) => this.#remove(object.className, row), reportProblem),
    }, {
      icon: 'link', text: t('copyLink'),
      run: async () => {
        const link = new URL(classAddress(object.className, { open: [object] }), location.href);
        try {
          await navigator.clipboard.writeText(link.href);
          notify(t('copied'));
        } catch {
          notify(link.href);
        }
      },
    }].filter(Boolean);
  }

  #showTrail() {
    const { trail } = this.#place;
    const steps = trail.map((text, place) => [this.#crumb(readPlace(text), trail.slice(0, place)), crumbMark()]);
    fill(this.trail, steps, this.#words(this.#place, true));
  }

  #crumb(place, trail) {
    return h('a', { class: 'crumb', href: address({ ...place, trail }) }, this.#words(place, false));
  }

  /** `Genre`, or `Fantasy › books`. */
  #words({ className, relation }, isHere) {
    const name = isHere ? (text) => h('h1', text) : (text) => text;
    if (!relation) return name(className);
    return [h('span', { class: 'owner' }, nameElement(relation.className, relation.id)), crumbMark(), name(relation.field)];
  }
}
