/**
 * How VS Code finds links in notifications and in the prompts of input boxes: `parseLinkedText` in its
 * src/vs/base/common/linkedText.ts, copied from version 1.139.1. scripts/e2e/home.ts compares it with the workbench
 * that the end-to-end tests run.
 */
export const linkRegex =
  // biome-ignore lint/complexity/noUselessEscapeInRegex: it is compared with VS Code's letter by letter.
  /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^\)\s]+)(?: (["'])(.+?)(\3))?\)/gi;

/** The targets of the links that VS Code finds in a notification. It shows one on a single line, and cuts it first. */
export function linksIn(text: string): readonly string[] {
  const cut = text.length > 1000 ? `${text.slice(0, 1000)}...` : text;
  const line = cut.replace(/(\r\n|\n|\r)/gm, " ").trim();
  return [...line.matchAll(linkRegex)].map(([, , href]) => href ?? "");
}

/** The icons that VS Code draws in a label: `renderLabelWithIcons` in its src/vs/base/browser/ui/iconLabel. */
export function iconsIn(label: string): readonly string[] {
  const icon = /(\\)?\$\(([A-Za-z0-9-]+(?:~[A-Za-z]+)?)\)/g;
  return [...label.matchAll(icon)].flatMap(([, escaped, name = ""]) => (escaped ? [] : [name]));
}
