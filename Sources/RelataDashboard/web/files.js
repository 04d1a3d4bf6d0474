// Files that objects refer to: their names for people, opening, showing and choosing them.
import { server } from './api.js';
import { fill, h, iconButton, linkButton, note } from './dom.js';
import { t } from './language.js';
import { notify, reportProblem } from './overlay.js';

/** The server's own names begin with random characters. */
const own = /^[0-9a-f]{32}_/;

/** The file's original name. */
export function fileTitle(value) { return String(value?.name ?? '').replace(own, ''); }

/** An address may end, so it is asked for when it is needed. Other files are stored elsewhere. */
async function addressOf({ name, url }) { return own.test(name) ? server.fileURL(name) : url; }

/** Shows a picture, also one that isn't uploaded yet; nothing for another file. */
export function filePreview(value) {
  if (!/\.(png|jpe?g|gif|webp|avif)$/i.test(value.name)) return null;
  const image = h('img', { class: 'preview', alt: fileTitle(value) });
  const show = (url) => {
    // The pages show nothing from elsewhere.
    if (new URL(url).origin === location.origin) image.src = url;
    else image.remove();
  };
  if (value.file) show(URL.createObjectURL(value.file));
  else addressOf(value).then(show).catch(() => image.remove());
  image.onload = () => URL.revokeObjectURL(image.src);
  image.onerror = () => image.remove();
  return image;
}

/** Lets somebody choose a file, or drop one here. It is uploaded when all is saved. */
export function fileEditor(value, attributes) {
  let chosen = value;
  const shown = h('div', { class: 'chosen-file' });
  const draw = () => fill(shown, chosen && [
    chosen.file ? h('span', chosen.name) : linkButton(() => openFile(chosen), fileTitle(chosen)),
    iconButton('close', t('clear'), () => choose()), filePreview(chosen),
  ]);
  const choose = (file) => {
    chosen = file && { __type: 'File', name: file.name, file };
    draw();
    if (file) return;
    input.value = '';
    input.focus();
  };
  const input = h('input', { ...attributes, type: 'file', onchange: () => { if (input.files.length) choose(input.files[0]); } });
  draw();
  return {
    element: h('div', {
      class: 'file-editor', ondragover: (event) => event.preventDefault(),
      ondrop: (event) => {
        event.preventDefault();
        if (event.dataTransfer.files.length) choose(event.dataTransfer.files[0]);
      },
    }, shown, input, note(t('dropHint'))), focus: input, read: () => chosen,
  };
}

/** Opens a file in another tab; the browser saves it if it can't show it. */
export async function openFile(value) {
  const name = String(value?.name ?? '');
  try {
    const url = await addressOf(value);
    if (!/^https?:\/\//i.test(String(url ?? ''))) return notify(t('noFileAddress', { name }), { isProblem: true });
    h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }).click();
  } catch (error) {
    reportProblem(error);
  }
}
