import { useCallback, useSyncExternalStore } from "react";
import { onThemeChange } from "../ui/theme.ts";
import { highlighted } from "./drawing.ts";

/** The fonts and colours of an image in the panel. */
export interface Look {
  readonly fontFamily: string;
  readonly fontSize: number;
  readonly colours: Colours;
}

type Colours = Readonly<Record<keyof typeof colours, string>>;

/** The theme's colours by purpose. The first one that the theme has is used. */
const colours = {
  text: ["--vscode-foreground"],
  ground: ["--vscode-sideBar-background"],
  box: ["--vscode-editorWidget-background", "--vscode-sideBar-background"],
  line: ["--vscode-contrastBorder", "--vscode-descriptionForeground"],
  highlight: ["--vscode-contrastActiveBorder", "--vscode-focusBorder"],
} as const;

/** The panel's look, updated when the theme changes. */
export function useLook(): Look {
  return JSON.parse(useSyncExternalStore(onThemeChange, readLook)) as Look;
}

/** As text, so that an unchanged look is the same value. */
function readLook(): string {
  const style = getComputedStyle(document.body);
  const colour = (names: readonly string[]) =>
    names.map((name) => style.getPropertyValue(name).trim()).find(isColour) ?? "currentColor";
  const entries = Object.entries(colours).map(([use, names]) => [use, colour(names)]);
  const look: Look = {
    fontFamily: style.fontFamily,
    fontSize: Number.parseFloat(style.fontSize) || 13,
    colours: Object.fromEntries(entries) as Colours,
  };
  return JSON.stringify(look);
}

/** Theme authors write these values, so each must be a plain value of a declaration. */
function isColour(value: string): boolean {
  return /^[\w#(),.%/\s-]+$/.test(value);
}

const query = "(prefers-reduced-motion: reduce)";

/** Reports whether the person prefers reduced motion. VS Code has its own setting for that. */
export function useStillness(): boolean {
  const subscribe = useCallback((changed: () => void) => {
    const media = window.matchMedia(query);
    media.addEventListener("change", changed);
    const stop = onThemeChange(changed);
    return () => {
      media.removeEventListener("change", changed);
      stop();
    };
  }, []);
  return useSyncExternalStore(
    subscribe,
    () =>
      window.matchMedia(query).matches || document.body.classList.contains("vscode-reduce-motion"),
  );
}

/** Returns the style sheet of an image. Its highlighted participants pulse if it is animated. */
export function styleSheet({ fontFamily, colours }: Look, animating: boolean): string {
  const { text, ground, box, line, highlight } = colours;
  const pulse = animating ? "animation: pulse 1.6s ease-in-out infinite;" : "";
  return `
    svg { font-family: ${fontFamily}; }
    rect.actor { fill: ${box}; stroke: ${line}; stroke-width: 1px; }
    text { fill: ${text}; stroke: none; }
    .messageText { stroke: ${ground}; stroke-width: 4px; stroke-linejoin: round; paint-order: stroke; }
    .actor-line { stroke: ${line}; stroke-width: 1px; opacity: 0.5; }
    .messageLine0, .messageLine1 { stroke: ${text}; stroke-width: 1.2px; fill: none; }
    .messageLine1 { stroke-dasharray: 2 3; }
    marker path { fill: ${text}; stroke: ${text}; }
    .${highlighted} rect.actor { stroke: ${highlight}; stroke-width: 2px; ${pulse} }
    .actor-line.${highlighted} { stroke: ${highlight}; stroke-width: 2px; opacity: 1; }
    @keyframes pulse { 50% { stroke-width: 5px; } }
  `;
}
