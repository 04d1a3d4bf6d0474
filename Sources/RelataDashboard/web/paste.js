// Cells of a spreadsheet, pasted over those of the grid: all of them, or none.
import { canEdit, edits } from './edits.js';
import { checked, findByTitle, readText } from './editors.js';
import { t } from './language.js';
import { notify, reportProblem } from './overlay.js';
import { titleOf } from './schema.js';

/** Lines of cells, as spreadsheets copy them: tabs between, and quotes around texts with tabs or line breaks. */
function readCells(text) {
  const lines = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r\n|\n|\r|$)/g)) {
    lines.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') break;
    if (end !== '\t') lines.push([]);
  }
  if (lines.at(-1).join('') === '') lines.pop();
  return lines;
}

/** @param cellAt The `{ row, field }` that lies so many rows and columns behind the cell where pasting begins. */
export async function paste(text, className, cellAt) {
  const changes = [];
  const problems = [];
  const targets = new Map();
  for (const [down, line] of readCells(text).entries()) {
    for (const [right, cell] of line.entries()) {
      const { row, field } = cellAt(down, right);
      try {
        if (!row || !field || field.type === 'Relation' || !canEdit(field)) throw new Error(t('notToPaste'));
        if (edits.of(className, row.objectId)?.kind === 'delete') throw new Error(t('isToBeDeleted'));
        const after = field.type === 'Pointer' && cell !== '' ? await target(field.targetClass, cell, targets) : readText(field, cell);
        changes.push({ row, name: field.name, after: checked(after, field) });
      } catch (error) {
        if (error.status !== undefined) return reportProblem(error);
        problems.push(`${[row && titleOf(row, className), field?.name].filter(Boolean).join(' ') || cell}: ${error.message}`);
      }
    }
  }
  if (problems.length) return notify(t('notPasted', { count: problems.length, problem: problems[0] }), { isProblem: true });
  edits.setAll(className, changes);
  notify(t('pasted', { count: changes.length }));
}

/** The one object of that name or id. */
async function target(className, text, known) {
  const key = `${className}/${text}`;
  if (!known.has(key)) {
    const found = (await findByTitle(className, text)).filter((object) => String(titleOf(object, className)) === text || object.objectId === text);
    known.set(key, found);
  }
  const found = known.get(key);
  if (found.length !== 1) throw new Error(t(found.length ? 'severalObjects' : 'noObject', { name: className, text }));
  return found[0];
}
