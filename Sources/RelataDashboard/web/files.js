// Files that objects refer to: their names for people, and opening them.
import { server } from './api.js';
import { h } from './dom.js';
import { t } from './language.js';
import { notify, reportProblem } from './overlay.js';

/** The server's own names begin with random characters. */
const own = /^[0-9a-f]{32}_/;

/** The name that the file had where it came from. */
export function fileTitle(value) { return String(value?.name ?? '').replace(own, ''); }

/** Opens a file in another tab; the browser saves what it doesn't show. */
export async function openFile(value) {
  const name = String(value?.name ?? '');
  try {
    // An address may end, so it is asked for when it is needed. Other files are stored elsewhere.
    const url = own.test(name) ? await server.fileURL(name) : value?.url;
    if (!/^https?:\/\//i.test(String(url ?? ''))) return notify(t('noFileAddress', { name }), { isProblem: true });
    h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }).click();
  } catch (error) {
    reportProblem(error);
  }
}
