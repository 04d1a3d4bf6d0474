// Layers over the page: menus, dialogs and notices.
import { fill, h, icon, iconButton, note, problemLine, smallButton, spacer, submitButton } from './dom.js';
import { t } from './language.js';

/** A menu below a button: `[{ text, icon, action, isOn }]`. */
export function openMenu(button, items) {
  const menu = h('div', { class: 'menu', role: 'menu' });
  const close = () => {
    menu.hidePopover?.();
    button.focus();
  };
  fill(menu, items.map((item) => h('button', {
    role: item.isOn === undefined ? 'menuitem' : 'menuitemradio', 'aria-checked': item.isOn === undefined ? undefined : String(item.isOn), tabindex: '-1',
    onclick: () => {
      close();
      item.action();
    },
  }, h('span', { class: 'menu-mark' }, item.isOn ? icon('save') : item.icon && icon(item.icon)), item.text)));
  const buttons = [...menu.children];
  menu.addEventListener('keydown', (event) => {
    const place = buttons.indexOf(document.activeElement);
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (next !== undefined) buttons[(next + buttons.length) % buttons.length].focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  button.setAttribute('aria-expanded', 'true');
  showBelow(menu, button, () => button.setAttribute('aria-expanded', 'false'));
  (buttons.find((other) => other.getAttribute('aria-checked') === 'true') ?? buttons[0])?.focus();
}

/** Shows an element over the page, below a button, until it is closed or somebody goes on elsewhere. */
export function showBelow(element, button, closed) {
  element.popover = 'auto';
  element.addEventListener('toggle', ({ newState }) => {
    if (newState !== 'closed') return;
    element.remove();
    closed();
  });
  document.body.append(element);
  element.showPopover();
  placeBelow(element, button);
}

/** Puts an element below a button, within the window. */
function placeBelow(element, button) {
  const place = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = element;
  const left = Math.max(8, Math.min(place.left, innerWidth - width - 8));
  const below = place.bottom + 4;
  element.style.left = `${left}px`;
  element.style.top = `${below + height > innerHeight - 8 ? Math.max(8, place.top - height - 4) : below}px`;
}

/** A dialog that has the keys until it is closed. `build(close)` makes its content. */
export function openDialog(title, build, { wide = false } = {}) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    let result;
    const dialog = h('dialog', { class: wide ? 'wide' : '', 'aria-label': title });
    const close = (value) => {
      result = value;
      dialog.close();
    };
    fill(dialog, h('header', h('h2', title), iconButton('close', t('close'), () => close())), build(close));
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    // The focus is on the dialog's first field, not on the button that closes it.
    (dialog.querySelector('input, select, textarea') ?? dialog.querySelector('footer button:enabled:last-of-type') ?? dialog).focus();
  });
}

/** A form in a dialog, which it closes with the result of `submit`, or shows its error. */
export function dialogForm(close, text, content, submit, more) {
  const problem = problemLine();
  return h('form', {
    class: 'object-form', ...more,
    onsubmit: async () => {
      fill(problem);
      try {
        close(await submit());
      } catch (error) {
        fill(problem, problemText(error));
      }
    },
  }, h('div', { class: 'object-fields' }, content),
  h('footer', problem, spacer(), cancelButton(close), submitButton(text)));
}

export function cancelButton(close) { return h('button', { onclick: () => close() }, t('cancel')); }

/** The end of a dialog that only shows. */
export function doneFooter(close, ...before) {
  return h('footer', before, h('button', { class: 'primary', onclick: () => close() }, t('done')));
}

/** A field with its name in front. */
export function labelled(id, label, element) { return h('div', { class: 'object-field' }, h('label', { for: id }, label), element); }

/** Shows a fetched content, or the error; a text until then. */
export async function fillLater(element, load, text = t('loading')) {
  element.setAttribute('aria-busy', 'true');
  if (text) fill(element, note(text));
  try {
    fill(element, await load());
  } catch (error) {
    fill(element, problemLine(problemText(error)));
  } finally {
    element.setAttribute('aria-busy', 'false');
  }
}

/** A button that copies a text. */
export function copyButton(name, text) {
  const copy = () => navigator.clipboard.writeText(text).then(() => notify(t('copiedText')), () => {});
  return smallButton('copy', t('copy'), copy, { 'aria-label': `${name}: ${t('copy')}` });
}

let notices;

/** Shows a notice for a while; a problem stays until it is closed. */
export function notify(text, { isProblem = false, action } = {}) {
  notices ??= document.body.appendChild(h('div', { class: 'notices', role: 'status', 'aria-live': 'polite' }));
  const notice = h('div', { class: isProblem ? 'notice problem' : 'notice' }, isProblem && icon('alert'), h('span', text),
    action && h('button', { class: 'plain', onclick: () => { notice.remove(); action.run(); } }, action.text),
    iconButton('close', t('close'), () => notice.remove()));
  // News takes the place of older news; problems stay.
  if (!isProblem) for (const older of notices.querySelectorAll('.notice:not(.problem)')) older.remove();
  notices.append(notice);
  if (!isProblem) setTimeout(() => notice.remove(), 5000);
  return notice;
}

/** The text of an error for the viewer. */
export function problemText(error) {
  if (error.status === 0) return t('unreachable');
  if (error.status === 401) return t('signedOut');
  return error.message;
}

export function reportProblem(error) {
  if (error.name === 'AbortError' || error.status === 401) return;
  notify(problemText(error), { isProblem: true });
}
