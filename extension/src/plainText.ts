/**
 * Escapes for texts with foreign parts: names, URLs and errors that come from links, servers and files. VS Code's
 * controls read more in a text than its words, and what they read differs from control to control.
 */

/**
 * A text in which VS Code finds no link, such as `[Update now](command:...)`. Its notifications and input boxes look
 * for them and have no escape, but a link has nothing between its brackets.
 */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

/** A label in which VS Code finds no icon, such as `$(warning)`. */
export function withoutIcons(label: string): string {
  return label.replace(/\$\((?=[A-Za-z0-9-]+(~[A-Za-z]+)?\))/g, "\\$&");
}
