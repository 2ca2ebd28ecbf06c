/**
 * VS Code gives its webviews the colours of the person's theme. In a plain browser the page uses one of its own four
 * themes: the one in the query (`?theme=dark`), or else the one that the person's system prefers.
 */
export function applyBrowserTheme(window: Window): void {
  const { body } = window.document;
  if (body.dataset["host"] !== "browser") return;
  const light = window.matchMedia("(prefers-color-scheme: light)");
  const contrast = window.matchMedia("(prefers-contrast: more)");
  const asked = new URLSearchParams(window.location.search).get("theme");
  const apply = () => {
    body.dataset["theme"] = isTheme(asked)
      ? asked
      : contrast.matches
        ? light.matches
          ? "hc-light"
          : "hc"
        : light.matches
          ? "light"
          : "dark";
  };
  light.addEventListener("change", apply);
  contrast.addEventListener("change", apply);
  apply();
}

type Theme = "dark" | "light" | "hc" | "hc-light";

function isTheme(name: string | null): name is Theme {
  return name === "dark" || name === "light" || name === "hc" || name === "hc-light";
}
