import { spawn } from "node:child_process";

/** Opens a URL in the person's browser where there is a display to show it on. */
export function openBrowser(url: string): void {
  const opener = browserOpener();
  if (opener === undefined || process.env["CI"] !== undefined) return;
  const [command, ...args] = opener;
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  // Without an opener the person still has the printed URL.
  child.on("error", () => {});
  child.unref();
}

function browserOpener(): readonly [string, ...string[]] | undefined {
  switch (process.platform) {
    case "darwin":
      return ["open"];
    case "win32":
      return ["rundll32", "url.dll,FileProtocolHandler"];
    default: {
      const display = process.env["DISPLAY"] ?? process.env["WAYLAND_DISPLAY"];
      return display === undefined ? undefined : ["xdg-open"];
    }
  }
}
