// The frame of the dashboard: who is signed in, which classes there are, and the page that the address names.
import { server, session } from './api.js';
import { countAll, countSoon } from './counting.js';
import { fill, h, icon, iconButton, memory, noteItem, setAttribute, spacer } from './dom.js';
import { language, languageNames, number, roundNumber, setLanguage, t } from './language.js';
import { showLogin, tokenOfAddress } from './login.js';
import { forgetNames } from './names.js';
import { notify, openMenu, problemText, reportProblem } from './overlay.js';
import { emptyNotice, menuButton } from './page.js';
import { address, classAddress, readPlace } from './place.js';
import { schema } from './schema.js';
import { ClassPage } from './class-page.js';
import { FilesPage } from './files-page.js';
import { InsidePage } from './inside-page.js';
import { MovePage } from './move-page.js';
import { SchemaPage } from './schema-page.js';
import { viewControl } from './view.js';

const root = document.body.appendChild(h('div', { id: 'root' }));
/** The pages that are of no class, as they stand on the left. */
const pages = { schema: { icon: 'diagram', Page: SchemaPage }, files: { icon: 'file', Page: FilesPage }, move: { icon: 'move', Page: MovePage }, inside: { icon: 'gauge', Page: InsidePage } };
let page = null;
let counts = new Map();

// MARK: Looks and language

function applyScheme() {
  const scheme = memory.read('scheme', 'auto');
  if (scheme === 'auto') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
}

function settings() {
  const menu = (shape, text, choices, current, choose) => iconButton(shape, text, ({ currentTarget }) => openMenu(currentTarget,
    Object.entries(choices).map(([name, choice]) => ({ text: choice, isOn: current() === name, action: () => choose(name) }))),
  { 'aria-haspopup': 'menu', 'aria-expanded': 'false' });
  return [
    menu('sun', t('appearance'), { auto: t('schemeAuto'), light: t('schemeLight'), dark: t('schemeDark') }, () => memory.read('scheme', 'auto'), (name) => {
      memory.write('scheme', name);
      applyScheme();
    }),
    menu('globe', t('language'), languageNames, () => language, (name) => {
      setLanguage(name);
      start();
    }),
  ];
}

// MARK: The frame

function frame() {
  const { name } = session.information;
  const list = h('ul', {
    class: 'classes',
    onkeydown: (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const links = [...list.querySelectorAll('a')];
      const next = links.indexOf(document.activeElement) + step;
      (next < 0 ? search : links[Math.min(next, links.length - 1)]).focus();
    },
  });
  const search = h('input', {
    type: 'search', placeholder: t('findClass'), 'aria-label': t('findClass'), oninput: () => fillClasses(list, search.value),
    onkeydown: (event) => { if (event.key === 'ArrowDown') list.querySelector('a')?.focus(); },
  });
  const side = h('nav', { class: 'side', id: 'side', 'aria-label': t('classes') },
    h('div', { class: 'side-top' }, h('img', { src: 'icon.svg', alt: '', width: '26', height: '26' }),
      h('div', { class: 'side-name' }, h('strong', 'Relata'), h('span', { title: name }, name)),
      iconButton('close', t('close'), () => toggleSide(false), { class: 'plain square only-narrow' })),
    search, list,
    h('div', { class: 'side-links' }, Object.entries(pages).filter(([name]) => !session.viewer || !['files', 'move'].includes(name)).map(([name, { icon: shape }]) =>
      h('a', { class: 'side-link', href: address({ page: name }), 'data-page': name }, icon(shape), t(name)))),
    h('div', { class: 'side-bottom' },
      session.information.isReadOnly && h('p', { class: 'badge wide', title: t('readOnlyHint') }, icon('lock'), t('readOnly')),
      viewControl(),
      h('div', { class: 'side-buttons' }, settings(), spacer(),
        iconButton('leave', t('signOut'), () => session.signOut()))));
  const main = h('main', { id: 'main', tabindex: '-1' });
  fill(root, h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); main.focus(); } }, t('skip')),
    h('div', { class: 'frame' }, side, h('div', { class: 'shade only-narrow', onclick: () => toggleSide(false) }), main));
  fillClasses(list, '');
  return { main, list };
}

function toggleSide(isOpen) {
  document.querySelector('.frame')?.classList.toggle('side-open', isOpen);
  if (isOpen) document.querySelector('.side input')?.focus();
}

function fillClasses(list, text) {
  const { className } = readPlace();
  const wanted = text.trim().toLowerCase();
  const found = schema.classes.filter(({ name }) => name.toLowerCase().includes(wanted));
  fill(list, found.map(({ name }) => showCount(h('li', h('a', {
    href: classAddress(name), 'aria-current': name === className ? 'page' : undefined, 'data-class': name,
  }, icon('table'), h('span', { class: 'class-name' }, name), h('span', { class: 'count' }))), name)),
  found.length === 0 && noteItem(t('noClasses')));
}

/** Shows in the list how many objects a class has. A guess is a button that counts them. */
function showCount(item, name) {
  item.querySelector('button')?.remove();
  const { count, isExact } = counts.get(name) ?? { isExact: true };
  fill(item.querySelector('.count'), isExact && count !== undefined && number(count));
  if (!isExact) {
    item.append(h('button', {
      class: 'plain count', title: t('countAll'), onclick: async ({ currentTarget: button }) => {
        button.disabled = true;
        try {
          counts.set(name, await countAll(name));
          item.querySelector('a').focus();
          showCount(item, name);
        } catch (error) {
          button.disabled = false;
          reportProblem(error);
        }
      },
    }, count === null ? '…' : `≈ ${roundNumber(count, 'short')}`));
  }
  return item;
}

/** Counts come one by one, once everything else is there. */
async function countClasses(list) {
  let estimates;
  for (const { name } of schema.classes) {
    if (!session.information || !list.isConnected) return;
    try {
      estimates ??= await server.estimates();
      counts.set(name, await countSoon(name, {}, { estimate: estimates[name] }));
      const link = list.querySelector(`[data-class="${CSS.escape(name)}"]`);
      if (link) showCount(link.parentElement, name);
    } catch (error) {
      if (error.status === 0 || error.status === 401) return;
    }
  }
}

// MARK: Pages

async function show(main, list) {
  const place = readPlace();
  toggleSide(false);
  for (const link of document.querySelectorAll('.classes a, .side-link')) {
    const isHere = link.dataset.page === place.page || link.dataset.class !== undefined && link.dataset.class === place.className;
    setAttribute(link, 'aria-current', isHere && 'page');
  }
  if (place.page === 'class' && page?.className === place.className) return page.show(place);
  page = null;
  const other = Object.hasOwn(pages, place.page) && pages[place.page];
  if (other) {
    document.title = `${t(place.page)} · Relata`;
    const openSide = () => toggleSide(true);
    return new other.Page(main, { store: session.information.name, openSide, classesChanged: () => fillClasses(list, '') }).show();
  }
  if (place.page === 'class') {
    if (!schema.get(place.className)) {
      await schema.load();
      fillClasses(list, '');
    }
    document.title = `${place.className} · Relata`;
    if (!schema.get(place.className)) return fill(main, emptyPage(t('noClass', { name: place.className })));
    const access = session.viewer && await server.access(place.className);
    // Somebody may have gone on meanwhile.
    if (readPlace().className !== place.className || !main.isConnected) return;
    page = new ClassPage(main, place.className, { store: session.information.name, openSide: () => toggleSide(true), access });
    return page.show(readPlace());
  }
  document.title = `${session.information.name} · Relata`;
  const [first] = schema.classes;
  if (first) location.replace(classAddress(first.name));
  else fill(main, emptyPage(t('noClassesYet')));
}

function emptyPage(text) {
  return emptyNotice('table', text, menuButton(() => toggleSide(true)));
}

let shown = null;

async function start() {
  applyScheme();
  page = null;
  shown = null;
  counts = new Map();
  if (!session.information) return showLogin(root, { settings, done: start });
  try {
    await schema.load();
  } catch (error) {
    if (error.status === 401) return;
    return fill(root, h('main', { class: 'login' }, h('div', { class: 'login-form' }, h('p', { role: 'alert' }, problemText(error)),
      h('button', { class: 'primary', onclick: start }, t('again')))));
  }
  if (!session.information) return;
  shown = frame();
  await show(shown.main, shown.list).catch(reportProblem);
  countClasses(shown.list);
}

addEventListener('hashchange', async () => {
  const token = tokenOfAddress();
  if (token) return enter(token);
  if (shown && session.information) show(shown.main, shown.list).catch(reportProblem);
});

session.addEventListener('view', async () => {
  forgetNames();
  await start();
  document.querySelector('.viewer')?.focus();
});

session.addEventListener('end', () => {
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
  page = null;
  shown = null;
  showLogin(root, { settings, problem: t('signedOut'), done: start });
});

async function enter(token) {
  try {
    await (token ? session.signIn(token) : session.resume());
  } catch (error) {
    if (token && error.status === 403) {
      // If the address is opened again, the session usually still exists.
      await session.resume().catch(() => {});
      if (!session.information) return showLogin(root, { settings, problem: t('usedToken'), done: start });
    } else if (error.status === 0) {
      notify(t('unreachable'), { isProblem: true });
    }
  }
  await start();
}

enter(tokenOfAddress());
