// What the server does and holds: its figures, its slow requests, its changes as they come, contradictions, who did what.
import { server, session } from './api.js';
import { drawCharts } from './charts.js';
import { consoleSection } from './console.js';
import { fill, h, icon } from './dom.js';
import { dateText, number, t } from './language.js';
import { notify, problemText } from './overlay.js';
import { pageTitle, table } from './page.js';
import { address } from './place.js';
import { schema } from './schema.js';

const shownChanges = 50;

export class InsidePage {
  #last = 0;
  #changes = [];

  constructor(main, { openSide }) {
    this.charts = h('div', { class: 'charts' });
    this.feed = h('ul', { class: 'file-list' }, h('li', { class: 'note' }, t('noChangesYet')));
    this.slow = h('div', {});
    this.audit = h('div', {});
    this.findings = h('div', { 'aria-live': 'polite' });
    const again = (name, draw) => h('button', { type: 'button', class: 'plain square', 'aria-label': `${t(name)}: ${t('reload')}`, title: t('reload'), onclick: draw }, icon('reload'));
    this.check = h('button', { type: 'button', onclick: () => this.#check() }, icon('save'), t('checkNow'));
    fill(main, h('header', { class: 'page-head' }, pageTitle(openSide, h('h1', {}, t('inside')))),
    h('div', { class: 'page-scroll' }, h('div', { class: 'inside-cards' }, consoleSection(),
      card('figures', t('figuresHint'), null, this.charts),
      card('liveChanges', t('liveChangesHint'), null, this.feed),
      card('slowRequests', t('slowRequestsHint'), again('slowRequests', () => this.#drawSlow()), this.slow),
      card('integrity', t('integrityHint'), this.check, this.findings),
      card('audit', t('auditHint'), again('audit', () => this.#drawAudit()), this.audit))));
  }

  async show() {
    const follow = setInterval(() => {
      if (!this.charts.isConnected) clearInterval(follow);
      else if (document.visibilityState === 'visible' && session.information) this.#follow();
    }, 2000);
    this.#drawSlow();
    this.#drawAudit();
    await this.#follow();
  }

  /** What is told anew as long as the page is in sight. A server that is gone for a while is asked again. */
  async #follow() {
    try {
      await drawCharts(this.charts);
      await this.#followChanges();
    } catch (error) {
      if (error.status !== 401) fill(this.charts, h('p', { class: 'form-problem', role: 'alert' }, problemText(error)));
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

  async #drawSlow() {
    await this.#into(this.slow, async () => {
      const rows = await server.slow();
      if (!rows.length) return h('p', { class: 'note' }, t('nothingSlow'));
      return table(['milliseconds', 'request', 'status', 'at'], rows.map((row) => [number(row.milliseconds), h('code', {}, `${row.method} ${row.target}`), row.status, dateText(new Date(row.at))]), t('slowRequests'));
    });
  }

  async #drawAudit() {
    await this.#into(this.audit, async () => {
      const rows = await server.audit();
      if (!rows.length) return h('p', { class: 'note' }, t('none'));
      return table(['at', 'action', 'status', 'session', 'peer'], rows.map((row) => [
        dateText(new Date(row.at)), [h('code', {}, row.action), row.details?.map((text) => h('div', {}, h('code', {}, text)))].flat().filter(Boolean), row.status, row.session, row.peer,
      ]), t('audit'));
    });
  }

  async #check() {
    this.check.disabled = true;
    fill(this.findings, h('p', { class: 'note' }, t('checking')));
    await this.#into(this.findings, async () => {
      const found = await server.check();
      if (!found.length) return h('p', { role: 'status' }, t('noFindings'));
      return [h('p', { role: 'status', class: 'form-problem' }, t('findings', { count: found.length })), found.map(finding)];
    });
    this.check.disabled = false;
  }

  async #into(element, make) {
    try {
      fill(element, await make());
    } catch (error) {
      fill(element, h('p', { class: 'form-problem', role: 'alert' }, problemText(error)));
    }
  }
}

function card(name, hint, action, ...content) {
  return h('section', { class: 'card', 'aria-labelledby': `${name}-title` }, h('div', { class: 'card-head' }, h('h2', { id: `${name}-title` }, t(name)), h('span', { class: 'spacer' }), action), h('p', { class: 'note' }, hint), content);
}

function changeLine({ at, className, kind, count, objectIds, fields, origin }) {
  const known = schema.get(className);
  const names = objectIds.map((id) => (known && kind !== 'delete' ? h('a', { class: 'link', href: address({ page: 'class', className, open: [{ className, id }] }) }, id) : id));
  return h('li', {}, h('time', {}, dateText(new Date(at))), ' ', h('span', { class: `kind ${{ insert: 'new', delete: 'delete' }[kind] ?? ''}` }, t(`change.${kind}`)), ' ', h('strong', {}, className), ' ',
    names.map((name, place) => [place ? ', ' : '', name]), count > objectIds.length && ` ${t('more', { count: count - objectIds.length })}`, fields.length > 0 && h('span', { class: 'type' }, ` ${fields.join(', ')}`), origin && h('span', { class: 'badge' }, origin));
}

function finding({ subject, message, fix }) {
  return h('div', { class: 'finding' }, h('p', {}, h('strong', {}, subject), `: ${message}`), h('p', {}, `${t('fix')}: `, h('code', {}, fix), ' ', h('button', {
    type: 'button', class: 'plain square small', 'aria-label': `${t('fix')}: ${t('copy')}`, title: t('copy'), onclick: () => navigator.clipboard.writeText(fix).then(() => notify(t('copiedText')), () => {}),
  }, icon('copy'))));
}
