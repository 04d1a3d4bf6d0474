// The server from the inside: its figures, its slow requests, its changes as they come, contradictions, the audit log.
import { server, session } from './api.js';
import { drawCharts } from './charts.js';
import { consoleSection } from './console.js';
import { badge, fill, h, icon, iconButton, note, noteItem, problemLine, typeLabel } from './dom.js';
import { dateText, number, t } from './language.js';
import { copyButton, fillLater, problemText } from './overlay.js';
import { card, fillPage, repeatWhileShown, table } from './page.js';
import { classAddress } from './place.js';
import { schema } from './schema.js';

const shownChanges = 50;

export class InsidePage {
  #last = 0;
  #changes = [];

  constructor(main, { openSide }) {
    this.charts = h('div', { class: 'charts' });
    this.feed = h('ul', { class: 'file-list' }, noteItem(t('noChangesYet')));
    this.slow = h('div');
    this.audit = h('div');
    this.findings = h('div', { 'aria-live': 'polite' });
    const again = (name, draw) => iconButton('reload', t('reload'), draw, { 'aria-label': `${t(name)}: ${t('reload')}` });
    this.check = h('button', { onclick: () => this.#check() }, icon('save'), t('checkNow'));
    fillPage(main, { openSide, title: t('inside') }, h('div', { class: 'inside-cards' }, consoleSection(),
      card('figures', null, this.charts),
      card('liveChanges', null, this.feed),
      card('slowRequests', again('slowRequests', () => this.#drawSlow()), this.slow),
      card('integrity', this.check, this.findings),
      card('audit', again('audit', () => this.#drawAudit()), this.audit)));
  }

  async show() {
    repeatWhileShown(this.charts, () => this.#follow());
    this.#drawSlow();
    this.#drawAudit();
    await this.#follow();
  }

  /** Updates the page as long as it is visible. A server that is gone for a while is asked again. */
  async #follow() {
    try {
      await drawCharts(this.charts);
      await this.#followChanges();
    } catch (error) {
      if (error.status !== 401) fill(this.charts, problemLine(problemText(error)));
    }
  }

  async #followChanges() {
    const { epoch, last, changes } = await server.feed(this.#last);
    // Numbers of a server that was started anew begin again.
    if (last < this.#last) this.#changes = [];
    this.#last = last;
    this.feed.dataset.epoch = epoch;
    if (!changes.length) return;
    this.#changes = [...changes.reverse(), ...this.#changes].slice(0, shownChanges);
    fill(this.feed, this.#changes.map(changeLine));
  }

  #drawSlow() {
    return fillLater(this.slow, async () => {
      const rows = await server.slow();
      if (!rows.length) return note(t('nothingSlow'));
      return table(['milliseconds', 'request', 'status', 'at'], rows.map((row) => [number(row.milliseconds), h('code', `${row.method} ${row.target}`), row.status, dateText(new Date(row.at))]), t('slowRequests'));
    }, '');
  }

  #drawAudit() {
    return fillLater(this.audit, async () => {
      const rows = await server.audit();
      if (!rows.length) return note(t('none'));
      return table(['at', 'action', 'status', 'session', 'peer'], rows.map((row) => [
        dateText(new Date(row.at)), [h('code', row.action), row.details?.map((text) => h('div', h('code', text)))].flat().filter(Boolean), row.status, row.session, row.peer,
      ]), t('audit'));
    }, '');
  }

  async #check() {
    this.check.disabled = true;
    await fillLater(this.findings, async () => {
      const found = await server.check();
      if (!found.length) return h('p', { role: 'status' }, t('noFindings'));
      return [h('p', { role: 'status', class: 'form-problem' }, t('findings', { count: found.length })), found.map(finding)];
    }, t('checking'));
    this.check.disabled = false;
  }
}

function changeLine({ at, className, kind, count, objectIds, fields, origin }) {
  const known = schema.get(className);
  const names = objectIds.map((id) => (known && kind !== 'delete' ? h('a', { class: 'link', href: classAddress(className, { open: [{ className, id }] }) }, id) : id));
  return h('li', h('time', dateText(new Date(at))), ' ', h('span', { class: `kind ${{ insert: 'new', delete: 'delete' }[kind] ?? ''}` }, t(`change.${kind}`)), ' ', h('strong', className), ' ',
    names.map((name, place) => [place ? ', ' : '', name]), count > objectIds.length && ` ${t('more', { count: count - objectIds.length })}`, fields.length > 0 && typeLabel(` ${fields.join(', ')}`), origin && badge(origin));
}

function finding({ subject, message, fix }) {
  return h('div', { class: 'finding' }, h('p', h('strong', subject), `: ${message}`), h('p', `${t('fix')}: `, h('code', fix), ' ', copyButton(t('fix'), fix)));
}
