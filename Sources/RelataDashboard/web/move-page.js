// The page that moves objects out of the store, and into it.
import { session } from './api.js';
import { checkbox, fill, h, icon, labelLine, linkButton, note, problemLine, select, spacer, submitButton } from './dom.js';
import { number, t } from './language.js';
import { problemText } from './overlay.js';
import { card, fillPage, line, saveFile, table } from './page.js';
import { schema } from './schema.js';
import { jobs, startExport, startImport } from './transfer.js';

export class MovePage {
  constructor(main, { openSide, store }) {
    this.store = store;
    this.out = h('div');
    this.in = h('div');
    fillPage(main, { openSide, title: t('move') }, this.out, !session.isReadOnly && this.in);
  }

  show() {
    this.#drawExport();
    this.#drawImport();
  }

  #drawExport() {
    const format = select({ id: 'export-format' }, [['jsonl', 'JSON Lines'], ['csv', 'CSV']]);
    const boxes = schema.classes.map(({ name }) => [name, checkbox(`export-${name}`, { checked: true })]);
    const state = h('div');
    const start = submitButton(icon('save'), t('export'));
    const all = h('button', {
      class: 'plain',
      onclick: () => {
        const isAll = boxes.every(([, box]) => box.checked);
        for (const [, box] of boxes) box.checked = !isAll;
      },
    }, t('allOrNone'));
    const watch = (job) => this.#watch(job, state, start, () => this.#exported(job));
    fill(this.out, card('export', null, h('form', {
      class: 'move-form',
      onsubmit: () => {
        const chosen = boxes.filter(([, box]) => box.checked).map(([name]) => name);
        if (!chosen.length) return fill(state, problemLine(t('chooseClasses')));
        watch(startExport(chosen.length === boxes.length && chosen.length > 1 ? [] : chosen, format.value, this.store));
      },
    }, h('fieldset', { class: 'class-boxes' }, h('legend', t('classes')), boxes.map(([name, box]) => h('label', box, name))),
    line(all, spacer(), labelLine(t('format'), format), start)), state));
    if (jobs.export) watch(jobs.export);
  }

  #exported(job) {
    const rows = job.report.parts.reduce((sum, part) => sum + part.rows, 0);
    const links = job.files.map(({ name, blob }) => h('li', linkButton(() => saveFile(name, blob), name), ' ', h('span', { class: 'count' }, t('bytes', { count: blob.size }))));
    if (job.files.length === 1 && !job.isSaved) saveFile(job.files[0].name, job.files[0].blob);
    job.isSaved = true;
    return [h('p', { role: 'status' }, t('exported', { count: rows })), h('ul', { class: 'file-list' }, links)];
  }

  #drawImport() {
    const files = h('input', { type: 'file', id: 'import-files', multiple: true, accept: '.jsonl,.ndjson,.csv', required: true });
    const conflict = select({ id: 'import-conflict' }, ['refuse', 'skip', 'update'].map((name) => [name, t(`conflict.${name}`)]));
    const into = select({ id: 'import-class' }, [['', t('asTheFileSays')], ...schema.classes.map(({ name }) => name)]);
    const state = h('div');
    const check = h('button', { type: 'submit', value: 'check' }, t('checkOnly'));
    const start = h('button', { type: 'submit', class: 'primary', value: 'import' }, t('import'));
    const intoLine = line(labelLine(t('intoClass'), into));
    files.addEventListener('change', () => { intoLine.hidden = files.files.length > 1; });
    const watch = (job) => this.#watch(job, state, start, () => this.#imported(job), check);
    fill(this.in, card('import', null, h('form', {
      class: 'move-form',
      onsubmit: (event) => {
        const options = { onConflict: conflict.value, isDryRun: event.submitter?.value === 'check' };
        if (files.files.length === 1 && into.value) options.className = into.value;
        watch(startImport([...files.files], options));
      },
    }, line(labelLine(t('files'), files)), intoLine,
    line(labelLine(t('onConflict'), conflict), spacer(), check, start)), state));
    if (jobs.import) watch(jobs.import);
  }

  #imported(job) {
    const { report, badRows } = job;
    const columns = ['inserted', 'updated', 'skipped', 'bad'];
    const words = job.phase === 'refused' ? t('importRefused', { count: report.badRowCount }) : t(report.isDryRun ? 'importChecked' : 'imported');
    return [h('p', { role: 'status', class: job.phase === 'refused' ? 'form-problem' : '' }, words),
      badRows.length > 0 && table(['file', 'line', 'field', 'reason'], badRows.map((row) => [row.file, row.line ?? '', row.field ?? '', row.reason]), t('badRows')),
      badRows.length < report.badRowCount && note(t('more', { count: report.badRowCount - badRows.length })),
      table(['class', ...columns], report.parts.map((part) => [part.name, ...columns.map((name) => number(part[name]))]), t('classes'))];
  }

  /** Shows the progress of a job, and its result. */
  #watch(job, state, start, result, other) {
    let shown = '';
    const draw = () => {
      if (!state.isConnected) return job.removeEventListener('change', draw);
      start.disabled = job.isRunning;
      if (other) other.disabled = job.isRunning;
      if (!job.isRunning) {
        shown = '';
        if (job.phase === 'failed') return fill(state, problemLine(problemText(job.problem)));
        return fill(state, job.phase === 'cancelled' ? note(t('cancelled')) : result());
      }
      // The button to end it keeps the focus while figures change.
      if (shown !== 'running') {
        shown = 'running';
        fill(state, h('div', { class: 'move-line job' }, h('progress', { 'aria-label': t('progress') }), h('span', { class: 'count', role: 'status' }), spacer(),
          h('button', { onclick: () => job.cancel() }, t('cancel'))));
      }
      const bar = state.querySelector('progress');
      if (job.total) Object.assign(bar, { max: job.total, value: job.done });
      else bar.removeAttribute('value');
      const figures = job.phase === 'running' ? job.done && t('rows', { count: job.done }) : t('bytes', { count: job.done });
      fill(state.querySelector('[role=status]'), [t(job.isWaiting ? 'waiting' : `phase.${job.phase}`), job.name, figures].filter(Boolean).join(' · '));
    };
    job.addEventListener('change', draw);
    draw();
  }
}
