// A text of more characters is not read as Markdown.
const longest = 100_000;
// So deep may quotes and lists be inside of each other, so many marks may stand in a row, so many be in
// the text, so many lines may it have, and so many cells its tables.
const deepest = 16;
const longestRun = 200;
const mostMarks = 2_000;
const mostLines = 3_000;
const mostCells = 4_000;

/**
 * Says whether a stranger's text would take the panel's time, or its stack, to be read as Markdown. A few
 * kilobytes can: quotes and lists a thousand levels deep, or a table with many columns, each line of
 * which is filled up to a whole row. Nobody writes so for a reader.
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
/** What may begin quotes and lists, as far as the line has it at its beginning. */
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
