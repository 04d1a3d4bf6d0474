// A grid of objects. Only what is visible is in the document, however many there are.
import { fill, h, icon, setAttribute, typeLabel } from './dom.js';
import { roundNumber, t } from './language.js';
import { searchPattern } from './marks.js';
import { pageSize, readSort } from './rows.js';
import { requiredText, typeText } from './schema.js';
import { valueContent } from './values.js';

const rowHeight = 34;
/** Browsers don't make anything taller. */
const tallest = 12_000_000;
const spareRows = 6;
const narrowest = 60;

/**
 * Events: `follow` with `{ row, field }`, `open` with `{ row }`, `edit` with `{ row, field, cell }`, `sort` with
 * `{ name, adds }`, `columns` with the columns after a change.
 */
class RelataGrid extends HTMLElement {
  #rows = null;
  #columns = [];
  #known = null;
  #sort = [];
  /** What a search looked for. */
  #pattern = null;
  /** The place of the cell that keys are for; row -1 is the header. */
  #active = { row: 0, column: 0 };
  /** The top of the visible part, if everything had its full height. */
  #top = 0;
  #lastScroll = 0;
  #frame = 0;
  #staged = null;

  connectedCallback() {
    if (this.firstChild) return;
    this.head = h('div', {
      class: 'grid-head', role: 'row', 'aria-rowindex': '1', onclick: (event) => this.#headClick(event), onpointerdown: (event) => this.#resize(event), ...this.#columnMoves(),
    });
    this.body = h('div', { class: 'grid-body', role: 'rowgroup', onclick: (event) => this.#click(event), ondblclick: (event) => this.#doubleClick(event) });
    this.space = h('div', { class: 'grid-space', role: 'presentation' });
    this.scroller = h('div', {
      class: 'grid-scroller', tabindex: '0', role: 'grid', 'aria-label': '', onscroll: () => this.#scrolled(), onkeydown: (event) => this.#key(event),
    }, h('div', { class: 'grid-sheet', role: 'presentation' }, h('div', { role: 'rowgroup', class: 'grid-top' }, this.head), this.body, this.space));
    this.append(this.scroller);
    new ResizeObserver(() => this.#draw()).observe(this.scroller);
  }

  /** Shows a query's objects. `staged(row)` tells what is changed of a row and not saved yet. */
  show({ rows, known, columns, sort, label, staged }) {
    this.#rows?.close();
    this.#rows = rows;
    this.#known = known;
    this.#staged = staged;
    this.#sort = readSort(sort);
    this.#pattern = searchPattern(rows.query.search);
    this.#active = { row: 0, column: 0 };
    this.#top = 0;
    this.scroller.scrollTop = 0;
    this.scroller.setAttribute('aria-label', label);
    rows.addEventListener('change', () => this.redraw());
    this.setColumns(columns);
  }

  /** Columns: `[{ name, width }]`. */
  setColumns(columns) {
    this.#columns = columns;
    this.#active.column = Math.min(this.#active.column, Math.max(columns.length - 1, 0));
    this.scroller.setAttribute('aria-colcount', columns.length);
    fill(this.head, columns.map((column, place) => this.#header(column, place)));
    this.#setWidths();
    this.redraw();
  }

  redraw() {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  focus() { this.scroller.focus(); }

  /** The object and the field of a cell that lies so many rows and columns behind the active one. */
  cellAt(down, right) {
    return { row: this.#rows?.row(this.#active.row + down), field: this.#field(this.#active.column + right) };
  }

  #send(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  #field(column) { return this.#known?.field(this.#columns[column]?.name); }

  // MARK: Columns

  #header({ name }, place) {
    const field = this.#known.field(name);
    const sort = this.#sort.find((term) => term.name === name);
    const order = sort ? (sort.descends ? 'descending' : 'ascending') : 'none';
    return this.#cell(-1, place, field, 'head', { role: 'columnheader', 'aria-sort': order, draggable: 'true', title: `${name}: ${typeText(field)}` },
      h('span', { class: 'head-name' }, name),
      typeLabel(requiredText(field)),
      sort && h('span', { class: 'head-sort' }, icon(sort.descends ? 'down' : 'up')),
      h('span', { class: 'grip', 'data-grip': place, 'aria-hidden': 'true' }));
  }

  #cell(row, column, { type }, look, attributes, ...content) {
    const cell = h('div', {
      class: `grid-cell ${look} ${type === 'Number' ? 'right' : ''} ${column === 0 ? 'first' : ''}`,
      id: `cell-${row}-${column}`, 'aria-colindex': column + 1, 'data-column': column, ...attributes,
    }, content);
    cell.style.width = `var(--w${column})`;
    return cell;
  }

  #setWidths() {
    this.#columns.forEach(({ width }, place) => this.style.setProperty(`--w${place}`, `${width}px`));
    const sum = this.#columns.reduce((all, { width }) => all + width, 0);
    this.style.setProperty('--sheet', `${sum}px`);
  }

  #widen(place, width) {
    this.#columns[place] = { ...this.#columns[place], width: Math.max(narrowest, Math.round(width)) };
    this.#setWidths();
  }

  #changed() { this.#send('columns', this.#columns); }

  #resize(event) {
    const grip = event.target.closest('[data-grip]');
    if (!grip) return;
    event.preventDefault();
    const place = Number(grip.dataset.grip);
    const [start, width] = [event.clientX, this.#columns[place].width];
    grip.setPointerCapture(event.pointerId);
    const move = (moved) => this.#widen(place, width + moved.clientX - start);
    grip.addEventListener('pointermove', move);
    grip.addEventListener('lostpointercapture', () => {
      grip.removeEventListener('pointermove', move);
      this.#changed();
    }, { once: true });
  }

  /** Lets somebody drag a column to another place. */
  #columnMoves() {
    let from = null;
    const place = (event) => Number(event.target.closest('[data-column]')?.dataset.column ?? NaN);
    return {
      ondragstart: (event) => {
        from = place(event);
        event.dataTransfer.effectAllowed = 'move';
      },
      ondragover: (event) => { if (from !== null) event.preventDefault(); },
      ondrop: (event) => {
        const to = place(event);
        if (from !== null && !Number.isNaN(to)) this.#moveColumn(from, to);
        from = null;
      },
      ondragend: () => { from = null; },
    };
  }

  #moveColumn(from, to) {
    if (from === to || to < 0 || to >= this.#columns.length) return;
    const columns = [...this.#columns];
    columns.splice(to, 0, ...columns.splice(from, 1));
    this.#active.column = to;
    this.setColumns(columns);
    this.#changed();
  }

  #headClick(event) {
    const head = event.target.closest('[data-column]');
    if (!head || event.target.closest('[data-grip]')) return;
    this.#sortBy(Number(head.dataset.column), event.shiftKey);
  }

  #sortBy(place, adds) {
    const { name } = this.#columns[place];
    if (['Array', 'Object', 'GeoPoint', 'Polygon', 'File', 'Relation', 'Bytes'].includes(this.#known.field(name).type)) return;
    this.#send('sort', { name, adds });
  }

  // MARK: Scrolling

  get #count() { return this.#rows?.length ?? 0; }
  get #height() { return this.#count * rowHeight; }
  get #viewHeight() { return this.scroller.clientHeight - this.head.offsetHeight; }
  get #maximumTop() { return Math.max(0, this.#height - this.#viewHeight); }
  get #maximumScroll() { return Math.max(0, Math.min(this.#height, tallest) - this.#viewHeight); }
  get #isScaled() { return this.#height > tallest; }

  #scrolled() {
    const scroll = this.scroller.scrollTop;
    const moved = scroll - this.#lastScroll;
    this.#lastScroll = scroll;
    if (!this.#isScaled) this.#top = scroll;
    else if (Math.abs(moved) > this.#viewHeight * 2) this.#top = scroll / this.#maximumScroll * this.#maximumTop;
    else this.#top = Math.min(this.#maximumTop, Math.max(0, this.#top + moved));
    this.redraw();
    if (this.#isScaled) this.#settle();
  }

  /** Once nothing moves, the bar shows where it is among all; at its ends at once. */
  #settle() {
    clearTimeout(this.settling);
    const wanted = this.#top / (this.#maximumTop || 1) * this.#maximumScroll;
    const isAtEnd = this.#lastScroll <= 0 || this.#lastScroll >= this.#maximumScroll - 1;
    this.settling = setTimeout(() => this.#scrollTo(wanted), isAtEnd ? 0 : 120);
  }

  #scrollTo(scroll) {
    this.scroller.scrollTop = scroll;
    this.#lastScroll = this.scroller.scrollTop;
    this.redraw();
  }

  #reveal(row) {
    if (row < 0) return;
    const [start, end] = [row * rowHeight, (row + 1) * rowHeight];
    if (start < this.#top) this.#top = start;
    else if (end > this.#top + this.#viewHeight) this.#top = end - this.#viewHeight;
    else return;
    this.#scrollTo(this.#isScaled ? this.#top / this.#maximumTop * this.#maximumScroll : this.#top);
  }

  #revealColumn() {
    const cell = this.querySelector(`#cell-${CSS.escape(`${this.#active.row}-${this.#active.column}`)}`);
    cell?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  // MARK: Drawing

  #draw() {
    if (!this.#rows) return;
    const count = this.#count;
    this.scroller.setAttribute('aria-rowcount', this.#rows.total === null ? -1 : count + 1);
    this.space.style.height = `${Math.min(this.#height, tallest)}px`;
    this.#top = Math.min(this.#top, this.#maximumTop);
    const first = Math.max(0, Math.floor(this.#top / rowHeight) - spareRows);
    const last = Math.min(count, Math.ceil((this.#top + this.#viewHeight) / rowHeight) + spareRows);
    // If the sheet is taller than browsers make elements, its scroll position differs from its visible one.
    const shift = this.scroller.scrollTop - this.#top;
    const rows = [];
    for (let place = first; place < last; place += 1) rows.push(this.#row(place, shift));
    fill(this.body, rows);
    const active = `cell-${this.#active.row}-${this.#active.column}`;
    setAttribute(this.scroller, 'aria-activedescendant', document.getElementById(active) && active);
    for (const [place, cell] of [...this.head.children].entries()) {
      cell.classList.toggle('active', this.#active.row === -1 && place === this.#active.column);
    }
    this.#loadVisible(first, last);
  }

  #row(place, shift) {
    const row = this.#rows.row(place);
    const staged = row && this.#staged?.(row);
    const element = h('div', {
      class: `grid-row ${row ? '' : 'waiting'} ${staged?.kind === 'delete' ? 'deleted' : ''} ${performance.now() - row?.changed < 2500 ? 'fresh' : ''} ${place % 2 ? 'odd' : ''}`, role: 'row',
      'aria-rowindex': place + 2, 'data-row': place,
    }, this.#columns.map(({ name }, column) => {
      const field = this.#known.field(name);
      const isActive = place === this.#active.row && column === this.#active.column;
      const isStaged = staged !== undefined && (name in staged.fields || name in staged.members);
      const value = staged && name in staged.fields ? staged.fields[name].after : row?.[name];
      const pattern = this.#known.searchFields.includes(name) && this.#pattern;
      const look = `${isActive ? 'active' : ''} ${isStaged ? 'staged' : ''} ${name === 'objectId' ? 'id' : ''}`;
      return this.#cell(place, column, field, look, { role: 'gridcell' }, row ? valueContent(value, field, row, pattern) : h('span', { class: 'bone' }));
    }));
    element.style.transform = `translateY(${Math.round(place * rowHeight + shift)}px)`;
    return element;
  }

  #loadVisible(first, last) {
    clearTimeout(this.loading);
    const pages = new Set();
    for (let page = Math.floor(first / pageSize); page <= Math.floor(Math.max(first, last - 1) / pageSize); page += 1) pages.add(page);
    const load = () => {
      for (const page of pages) {
        this.#rows.load(page).catch((error) => {
          if (error.name !== 'AbortError') this.#send('problem', error);
        });
      }
    };
    // Dragging the bar through a million objects doesn't fetch all of them.
    if (!this.#rows.row(first) && this.#count > pageSize) this.loading = setTimeout(load, 60);
    else load();
  }

  // MARK: Keys and clicks

  #place(event) {
    const cell = event.target.closest('[data-column]');
    const row = event.target.closest('[data-row]');
    return cell && row ? { row: Number(row.dataset.row), column: Number(cell.dataset.column), cell } : null;
  }

  #click(event) {
    const place = this.#place(event);
    if (!place) return;
    this.#active = { row: place.row, column: place.column };
    const row = this.#rows.row(place.row);
    if (!row) return;
    const field = this.#field(place.column);
    this.redraw();
    if (event.target.closest('[data-follow]')) this.#follow(row, field);
    else if (field.name === 'objectId') this.#open(row);
  }

  #doubleClick(event) {
    const place = this.#place(event);
    const row = place && this.#rows.row(place.row);
    if (row && !event.target.closest('[data-follow]')) this.#edit(row, place);
  }

  #follow(row, field) { this.#send('follow', { row, field }); }
  #open(row) { this.#send('open', { row }); }

  #edit(row, { row: place, column }) {
    const field = this.#field(column);
    const cell = this.querySelector(`[data-row="${place}"] [data-column="${column}"]`);
    this.#send('edit', { row, field, cell });
  }

  #move(row, column) {
    const lowest = this.#count - 1;
    this.#active = {
      row: Math.max(-1, Math.min(lowest, row)), column: Math.max(0, Math.min(this.#columns.length - 1, column)),
    };
    this.#reveal(this.#active.row);
    this.#draw();
    this.#revealColumn();
  }

  #key(event) {
    if (!this.#rows || event.target !== this.scroller) return;
    const { row, column } = this.#active;
    const page = Math.max(1, Math.floor(this.#viewHeight / rowHeight) - 1);
    if (row === -1 && this.#headKey(event, column)) return event.preventDefault();
    const isWhole = event.ctrlKey || event.metaKey;
    if (event.altKey || isWhole && !['Home', 'End'].includes(event.key)) return;
    const moves = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageDown: [row + page, column], PageUp: [Math.max(0, row - page), column],
      Home: isWhole ? [0, 0] : [row, 0], End: isWhole ? [this.#count - 1, this.#columns.length - 1] : [row, this.#columns.length - 1],
    };
    const object = this.#rows.row(row);
    const field = this.#field(column);
    if (moves[event.key]) this.#move(...moves[event.key]);
    else if (!object || !field) return;
    else if (event.key === ' ') this.#open(object);
    else if (event.key === 'F2') this.#edit(object, this.#active);
    else if (event.key === 'Delete') this.#send('remove', { row: object });
    else if (event.key === 'Enter') this.#enter(object, field);
    else return;
    event.preventDefault();
  }

  #enter(row, field) {
    const isLink = field.type === 'Relation' || ['Pointer', 'File'].includes(field.type) && row[field.name];
    if (isLink) this.#follow(row, field);
    else if (field.name === 'objectId') this.#open(row);
    else this.#edit(row, this.#active);
  }

  /** In the header, Enter sorts, Shift with an arrow makes a column wider, Alt with one moves it. */
  #headKey(event, column) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === 'Enter' || event.key === ' ') this.#sortBy(column, event.shiftKey);
    else if (step && event.altKey) this.#moveColumn(column, column + step);
    else if (step && event.shiftKey) {
      this.#widen(column, this.#columns[column].width + step * 20);
      this.#changed();
    } else return false;
    return true;
  }
}

customElements.define('relata-grid', RelataGrid);

export function countText(rows) {
  if (rows.isCounting) return t('counting');
  if (!rows.isGuess && rows.total !== null) return t('objects', { count: rows.total });
  const about = rows.total ?? rows.estimate;
  if (about !== null) return t('objectsAbout', { count: roundNumber(about) });
  return rows.known ? t('objectsAtLeast', { count: rows.known - 1 || rows.known }) : t('counting');
}
