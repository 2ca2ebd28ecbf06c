/**
 * Escapes for texts with foreign parts: names, URLs and errors from links, servers and files. VS Code's controls
 * interpret markup in texts, and each control interprets other markup.
 */

/**
 * Returns a text in which VS Code finds no link such as `[Update now](command:...)`. Notifications and input boxes have
 * no escape for links, but a link needs text between its brackets.
 */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

/** Returns a label in which VS Code finds no icon such as `$(warning)`. */
export function withoutIcons(label: string): string {
  return label.replace(/\$\((?=[A-Za-z0-9-]+(~[A-Za-z]+)?\))/g, "\\$&");
}
