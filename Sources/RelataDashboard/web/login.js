// Signing in, by the master key or by a token that is good once.
import { session } from './api.js';
import { fill, h, icon, note, problemLine, submitButton } from './dom.js';
import { t } from './language.js';
import { problemText } from './overlay.js';

/** The token of the address that the server printed. It is taken out of the address, which others may see. */
export function tokenOfAddress() {
  const found = location.hash.match(/^#token=([A-Za-z0-9]+)$/);
  if (found) history.replaceState(null, '', location.pathname + location.search);
  return found?.[1] ?? null;
}

export function showLogin(root, { settings, problem, done }) {
  const words = problemLine(problem);
  const input = h('input', { type: 'password', id: 'key', name: 'key', autocomplete: 'current-password', required: true, spellcheck: 'false' });
  const button = submitButton(t('signIn'));
  const form = h('form', {
    class: 'login-form',
    onsubmit: async () => {
      button.disabled = true;
      fill(words);
      try {
        await session.signIn(input.value.trim());
        done();
      } catch (error) {
        fill(words, error.status === 403 ? t('wrongKey') : error.status === 429 ? t('tooManyAttempts') : problemText(error));
        input.select();
      } finally {
        button.disabled = false;
      }
    },
  }, h('img', { src: 'icon.svg', alt: '', width: '44', height: '44' }), h('h1', 'Relata'),
  h('label', { for: 'key' }, t('masterKeyOrToken')), input, words, button,
  note(icon('lock'), t('loginHint')));
  fill(root, h('main', { class: 'login' }, form, h('div', { class: 'login-settings' }, settings())));
  document.title = 'Relata';
  input.focus();
}
