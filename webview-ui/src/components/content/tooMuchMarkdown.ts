// A text of more characters is not read as Markdown.
const longest = 100_000;
// The limits of nesting, of marks in a row and in the text, of lines, and of table cells.
const deepest = 16;
const longestRun = 200;
const mostMarks = 2_000;
const mostLines = 3_000;
const mostCells = 4_000;

/**
 * Reports whether parsing a foreign text as Markdown would take too much time or stack. A few kilobytes are enough:
 * quotes and lists nested a thousand levels deep, or a table with many columns, which adds cells to each line. No text
 * for readers is like that.
 */
export function tooMuchMarkdown(text: string): boolean {
  if (text.length > longest) return true;
  if (count(text, /[*_~[`!<]/g) > mostMarks) return true;
  if (/[*_~]/.test(text) && run.test(text)) return true;
  const lines = text.split("\n");
  if (lines.length > mostLines) return true;
  const columns = Math.max(...lines.map((line) => count(line, /\|/g)));
  return columns * lines.length > mostCells || lines.some(isDeep);
}

const run = new RegExp(`[*_~]{${longestRun}}`);
/** Matches the starts of quotes and lists at the beginning of a line. */
const containers = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/;
const rule = /^[-*_ \t]{0,200}$/;

function isDeep(line: string): boolean {
  const [begin] = containers.exec(line) ?? [];
  if (begin === undefined || rule.test(line)) return false;
  const [indent = ""] = /^[ \t]*/.exec(line) ?? [];
  return count(begin, /[->*+]|\d+/g) + indent.length / 2 > deepest;
}

function count(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0;
}
