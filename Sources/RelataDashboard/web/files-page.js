// The page of all files: the number of objects that refer to each, and the end of those without any.
import { server, session } from './api.js';
import { checkbox, fill, h, icon, iconButton, labelLine, note, problemLine, smallButton } from './dom.js';
import { openFile } from './files.js';
import { dateText, t } from './language.js';
import { cancelButton, openDialog, problemText } from './overlay.js';
import { fillPage, table } from './page.js';

export class FilesPage {
  #files = [];
  #reply = null;
  #run = 0;

  constructor(main, { openSide }) {
    this.unused = checkbox('unused-only', { onchange: () => this.show() });
    this.list = h('div', { class: 'files' });
    this.more = h('button', { hidden: true, onclick: () => this.#load(true) }, t('showMore'));
    fillPage(main, {
      openSide, title: t('files'), actions: [labelLine(this.unused, t('unusedOnly')), iconButton('reload', t('reload'), () => this.show())],
    }, this.list, this.more);
  }

  async show() { await this.#load(false); }

  /** Fetches the first page, or the next one. */
  async #load(isMore) {
    const run = ++this.#run;
    this.list.setAttribute('aria-busy', 'true');
    try {
      const reply = await server.files({ after: isMore ? this.#reply.next : null, unused: this.unused.checked });
      if (run !== this.#run) return;
      const shown = isMore ? this.#files.length : 0;
      this.#files = isMore ? [...this.#files, ...reply.results] : reply.results;
      this.#reply = reply;
      this.#draw();
      // The button may be gone, so the keyboard goes on with the first of the new ones.
      if (isMore) this.list.querySelectorAll('tbody tr')[shown]?.querySelector('button').focus();
    } catch (error) {
      if (run === this.#run) fill(this.list, problemLine(problemText(error)));
    } finally {
      if (run === this.#run) this.list.setAttribute('aria-busy', 'false');
    }
  }

  #draw() {
    this.more.hidden = !this.#reply.next;
    if (!this.#reply.isOn) return fill(this.list, note(t('filesAreOff')));
    if (!this.#files.length) return fill(this.list, h('p', { class: 'note', role: 'status' }, t(this.unused.checked ? 'noUnusedFiles' : 'noFiles')));
    const columns = ['file', 'type', 'size', 'uploaded', 'uses', ...(session.isReadOnly ? [] : ['delete'])];
    fill(this.list, table(columns, this.#files.map((file) => [
      h('button', { class: 'link', title: file.name, onclick: () => openFile(file) }, file.title),
      file.type, t('bytes', { count: file.size }), h('time', { datetime: file.createdAt ?? '' }, dateText(new Date(file.createdAt))),
      this.#usesText(file),
      ...(session.isReadOnly ? [] : [
        smallButton('trash', t('deleteFile', { name: file.title }), () => this.#delete(file)),
      ]),
    ]), t('files')));
  }

  #usesText({ uses, wasUsed, deletedAt }) {
    if (uses) return t('usedBy', { count: uses });
    if (!wasUsed) return t('neverUsed');
    if (!this.#reply.deletesUnused) return t('unused');
    if (!deletedAt) return t('unusedForNow');
    const date = new Date(deletedAt);
    return date > new Date() ? t('unusedUntil', { date: dateText(date) }) : t('unusedSoon');
  }

  /** Deletes a file. If objects refer to it, the server refuses, and it is deleted only by force. */
  async #delete(file) {
    const isDeleted = await openDialog(t('deleteFile', { name: file.title }), (close) => {
      let isForced = false;
      const problem = problemLine();
      const hint = note(file.uses ? `${t('usedBy', { count: file.uses })}.` : t('deleteFileHint'));
      const confirm = h('button', {
        class: 'danger',
        onclick: async () => {
          confirm.disabled = true;
          try {
            await server.deleteFile(file.name, isForced);
            close(true);
          } catch (error) {
            fill(problem, problemText(error));
            if (!isForced && error.message.includes('force=1')) {
              isForced = true;
              fill(hint, t('forceHint'));
              fill(confirm, icon('trash'), t('deleteAnyway'));
            }
          }
          confirm.disabled = false;
        },
      }, icon('trash'), t('deleteNow'));
      return [h('div', { class: 'changes' }, hint, problem), h('footer', cancelButton(close), confirm)];
    });
    if (!isDeleted) return;
    const place = this.#files.indexOf(file);
    this.#files = this.#files.filter((other) => other !== file);
    this.#draw();
    const rows = this.list.querySelectorAll('tbody tr');
    (rows[Math.min(place, rows.length - 1)]?.querySelector('button') ?? this.unused).focus();
  }
}
