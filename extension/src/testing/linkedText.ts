/**
 * How VS Code finds links in notifications and in the prompts of input boxes: `parseLinkedText` of its
 * src/vs/base/common/linkedText.ts, copied from version 1.139.1. scripts/e2e/home.ts compares it with the VS Code of
 * the end-to-end tests.
 */
export const linkRegex =
  // biome-ignore lint/complexity/noUselessEscapeInRegex: it is compared with VS Code's letter by letter.
  /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^\)\s]+)(?: (["'])(.+?)(\3))?\)/gi;

/** Returns the targets of the links that VS Code finds in a notification. It shortens the text to one line first. */
export function linksIn(text: string): readonly string[] {
  const cut = text.length > 1000 ? `${text.slice(0, 1000)}...` : text;
  const line = cut.replace(/(\r\n|\n|\r)/gm, " ").trim();
  return [...line.matchAll(linkRegex)].map(([, , href]) => href ?? "");
}

/** Returns the icons that VS Code draws in a label: `renderLabelWithIcons` of its src/vs/base/browser/ui/iconLabel. */
export function iconsIn(label: string): readonly string[] {
  const icon = /(\\)?\$\(([A-Za-z0-9-]+(?:~[A-Za-z]+)?)\)/g;
  return [...label.matchAll(icon)].flatMap(([, escaped, name = ""]) => (escaped ? [] : [name]));
}
