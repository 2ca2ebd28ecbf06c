/** Reports whether the page has a light theme: of VS Code, or its own in a browser. */
export function isLightTheme(): boolean {
  const { dataset, classList } = document.body;
  const own = dataset["theme"];
  return own === undefined
    ? classList.contains("vscode-light") || classList.contains("vscode-high-contrast-light")
    : own.endsWith("light");
}

/**
 * Calls back when the page's theme may have changed, until the returned function is called. VS Code announces it by the
 * root's styles and the body's classes.
 */
export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  const attributes = { attributeFilter: ["style", "class", "data-theme"] };
  observer.observe(document.documentElement, attributes);
  observer.observe(document.body, attributes);
  return () => observer.disconnect();
}
