// Moves objects out of the store, and into it: files go a piece at a time, and on where they were after an interruption.
import { server } from './api.js';
import { memory } from './dom.js';

const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

/** An export or an import that goes on whatever page is shown. It tells `change`. */
class Job extends EventTarget {
  /** `sending`, `running` and `fetching` until it is `done`, `refused`, `failed` or `cancelled`. */
  phase = 'running';
  /** The number of bytes or rows that are done, and of all bytes, if that is known. */
  done = 0;
  total = 0;
  name = '';
  isWaiting = false;
  files = [];
  report = null;
  badRows = [];
  problem = null;
  id = null;

  get isRunning() { return ['sending', 'running', 'fetching'].includes(this.phase); }

  tell(news) {
    Object.assign(this, news);
    this.dispatchEvent(new Event('change'));
  }

  cancel() {
    this.tell({ phase: 'cancelled' });
    if (this.id) server.endTransfer(this.id).catch(() => {});
  }

  /** Asks again while the server can't be reached or has no room. */
  async patiently(action) {
    for (let tries = 0; ; tries += 1) {
      try {
        const result = await action();
        if (this.isWaiting) this.tell({ isWaiting: false });
        return result;
      } catch (error) {
        if (!this.isRunning || tries === 8 || error.status !== 0 && error.status !== 503) throw error;
        this.tell({ isWaiting: true });
        await pause(Math.min(500 * 2 ** tries, 8000));
      }
    }
  }

  /** Waits until the server has finished the step. */
  async finish(transfer) {
    for (let wait = 100; transfer.phase === 'running' && this.isRunning; wait = Math.min(wait * 1.5, 1000)) {
      await pause(wait);
      transfer = await this.patiently(() => server.transfer(this.id));
      const { progress } = transfer;
      this.tell({ name: progress?.name ?? '', done: progress?.rows ?? 0, total: 0 });
    }
    return transfer;
  }

  async run(work) {
    try {
      await work();
    } catch (error) {
      if (this.isRunning) this.tell({ phase: 'failed', problem: error, isWaiting: false });
    }
  }
}

/** The jobs that run, or ran last: `{ export, import }`. */
export const jobs = {};

export function startExport(classes, format, storeName) {
  const job = new Job();
  jobs.export = job;
  job.run(async () => {
    const begun = await server.beginExport(classes, format);
    job.id = begun.id;
    const transfer = await job.finish(begun);
    if (transfer.phase !== 'done') return job.tell({ phase: 'failed', problem: new Error(transfer.problem) });
    const total = sizeOf(transfer.files);
    job.tell({ phase: 'fetching', total, done: 0, report: transfer.report });
    for (const { name, size } of transfer.files) {
      const parts = [];
      for (let offset = 0; offset < size && job.isRunning;) {
        const piece = await job.patiently(() => server.piece(job.id, name, offset));
        parts.push(piece);
        offset += piece.size;
        job.tell({ name, done: job.done + piece.size });
      }
      // A file of several classes is named after the store.
      job.files.push({ name: name === 'objects.jsonl' && classes.length !== 1 ? `${storeName}.${format}` : name, blob: new Blob(parts) });
    }
    if (!job.isRunning) return;
    job.tell({ phase: 'done' });
    server.endTransfer(job.id).catch(() => {});
  });
  return job;
}

/** Sends files and imports them; pieces of the same files that were sent before are kept. */
export function startImport(files, options) {
  const job = new Job();
  jobs.import = job;
  job.phase = 'sending';
  job.run(async () => {
    let transfer = await resumed(files) ?? await server.beginImport(files.map(({ name, size }) => ({ name, size })));
    job.id = transfer.id;
    memory.write('import', { id: job.id, files: described(files) });
    job.tell({ total: sizeOf(files) });
    if (transfer.phase === 'receiving') {
      for (const file of files) transfer = await bring(job, file, transfer);
    }
    if (!job.isRunning) return;
    job.tell({ phase: 'running', done: 0, total: 0, name: '' });
    transfer = await job.finish(await server.runImport(job.id, options));
    if (!job.isRunning) return;
    const isDone = transfer.phase === 'done' && !options.isDryRun;
    if (isDone) {
      memory.write('import', null);
      server.endTransfer(job.id).catch(() => {});
    }
    job.tell({ phase: transfer.phase, report: transfer.report, badRows: transfer.badRows, problem: transfer.problem && new Error(transfer.problem) });
  });
  return job;
}

async function bring(job, file, transfer) {
  const have = (known) => known.files.find(({ name }) => name === file.name).size;
  let offset = have(transfer);
  let before = sizeOf(transfer.files) - offset;
  while (offset < file.size && job.isRunning) {
    try {
      const piece = file.slice(offset, offset + transfer.pieceSize);
      offset = (await job.patiently(() => server.addPiece(job.id, file.name, offset, piece))).size;
    } catch (error) {
      // A piece may arrive though its reply didn't: the size on the server counts.
      if (error.status !== 409) throw error;
      const known = have(await server.transfer(job.id));
      if (known === offset) throw error;
      offset = known;
    }
    job.tell({ name: file.name, done: before + offset });
  }
  return { ...transfer, files: transfer.files.map((known) => (known.name === file.name ? { ...known, size: offset } : known)) };
}

function sizeOf(files) { return files.reduce((sum, { size }) => sum + size, 0); }

function described(files) { return JSON.stringify(files.map(({ name, size, lastModified }) => [name, size, lastModified])); }

/** The transfer of these files that the server still has. */
async function resumed(files) {
  const known = memory.read('import', null);
  if (known?.files !== described(files)) return null;
  try {
    const transfer = await server.transfer(known.id);
    return transfer.phase === 'running' ? null : transfer;
  } catch {
    return null;
  }
}
