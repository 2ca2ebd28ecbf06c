import { isLightTheme } from "../ui/theme.ts";

/** What every theme has. */
const ground = ["--vscode-sideBar-background", "--vscode-editor-background"] as const;
const faint = ["--vscode-descriptionForeground", "--vscode-foreground"] as const;
const warning = ["--vscode-editorWarning-foreground", ...faint] as const;
const success = ["--vscode-testing-iconPassed", ...faint] as const;
const danger = ["--vscode-errorForeground", "--vscode-foreground"] as const;
const ring = ["--vscode-focusBorder", ...faint] as const;
const line = ["--vscode-panel-border", ...faint] as const;

/**
 * The style variables of MCP Apps (McpUiStyleVariableKey), from those of VS Code: the first that the theme has. Each ends
 * with one that every theme has, because an app keeps the value of the theme before if it gets none.
 */
const variables: Readonly<Record<string, readonly string[]>> = {
  "--color-background-primary": ground,
  "--color-background-secondary": ["--vscode-editorWidget-background", ...ground],
  "--color-background-tertiary": ["--vscode-textCodeBlock-background", ...ground],
  "--color-background-inverse": ["--vscode-foreground"],
  "--color-background-ghost": ["--vscode-list-hoverBackground", ...ground],
  "--color-background-disabled": ["--vscode-input-background", ...ground],
  "--color-text-primary": ["--vscode-foreground"],
  "--color-text-secondary": faint,
  "--color-text-tertiary": faint,
  "--color-text-inverse": ground,
  "--color-text-ghost": faint,
  "--color-text-info": ["--vscode-textLink-foreground", "--vscode-foreground"],
  "--color-text-danger": danger,
  "--color-text-success": success,
  "--color-text-warning": warning,
  "--color-text-disabled": faint,
  "--color-border-primary": ["--vscode-contrastBorder", "--vscode-widget-border", ...line],
  "--color-border-secondary": ["--vscode-contrastBorder", ...line],
  "--color-border-tertiary": ["--vscode-contrastBorder", ...line],
  "--color-border-inverse": ["--vscode-foreground"],
  "--color-border-info": ring,
  "--color-border-danger": ["--vscode-inputValidation-errorBorder", ...danger],
  "--color-border-success": success,
  "--color-border-warning": warning,
  "--color-ring-primary": ring,
  "--font-sans": ["--vscode-font-family"],
  "--font-mono": ["--vscode-editor-font-family"],
  "--font-text-md-size": ["--vscode-font-size"],
};

/**
 * The grounds of notices, and the colours of their texts. No ground of VS Code's is in each theme, and one on which such a
 * text can be read. So these are the page's, with a trace of the text's colour.
 */
const notices = {
  "--color-background-info": "--color-text-info",
  "--color-background-danger": "--color-text-danger",
  "--color-background-success": "--color-text-success",
  "--color-background-warning": "--color-text-warning",
} as const;

/** How the panel looks, in the terms of MCP Apps. */
export interface AppTheme {
  readonly theme: "light" | "dark";
  readonly variables: Readonly<Record<string, string>>;
}

/** Reads the theme of the page. */
export function readTheme(): AppTheme {
  const { body } = document;
  const style = getComputedStyle(body);
  const found = Object.entries(variables).flatMap(([name, sources]) => {
    const value = sources
      .map((source) => style.getPropertyValue(source).trim())
      .find((text) => text !== "");
    return value === undefined ? [] : [[name, value] as const];
  });
  const named = new Map(found);
  const page = named.get("--color-background-primary");
  for (const [name, source] of Object.entries(notices)) {
    const text = named.get(source);
    if (page !== undefined && text !== undefined) {
      named.set(name, `color-mix(in srgb, ${text} 5%, ${page})`);
    }
  }
  return { theme: isLightTheme() ? "light" : "dark", variables: Object.fromEntries(named) };
}
