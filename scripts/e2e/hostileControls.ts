// The attacks of hostile apps where nothing holds them: in a frame without a sandbox, which was pressed, with every permission
// that the browser can give, and beside a bridge that does everything. The story's checks notice each attack there.
import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { attacks, ending, page as hostilePage, lasting } from "../testservers/hostile/attacks.mjs";
import { eventually, waitLimit } from "./eventually.ts";

/** The path of all controls. The story's server counts requests below it apart. */
export const controlPath = "/control";

/** The flags for a browser that has a camera and gives every permission. */
export const obligingFlags = [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  "--auto-accept-this-tab-capture",
];

/** Attacks that do not succeed in a browser without a window, by theme. */
const unseen: Readonly<Record<string, readonly string[]>> = {
  reaching: [
    // It has no opener, its prototype is clean, and its name says nothing.
    ...["the opener", "the panel's name", "a name of the prototype"],
    ...["VS Code's interface", "another frame of ours", "the domain", "persistent storage"],
    "a shared worker",
  ],
  permissions: [
    // A choice among devices, files or accounts, which are none.
    ...["MIDI", "USB", "serial ports", "HID", "Bluetooth", "choosing a file", "saving a file"],
    ...["credentials", "a passkey", "payment", "sharing", "keyboard lock", "idle detection"],
  ],
  windows: [
    // Another program would open, or nothing would.
    ...["vscode://a/b", "command:assent.newTask", "mailto:a@example.com", "blob:null/1"].map(atTop),
    // Forbidden to each page.
    ...["file:///etc/passwd", "data:text/html,x", "view-source:x", "chrome://version"].map(atTop),
    ...["printing", "leaving the panel", "closing the panel", "the panel's focus"],
  ],
  asking: [
    // Their messages count for nothing, also without a sandbox.
    ...["a message of the frame", "an answer to nothing", "an endless height", "deep JSON"],
    ...["a height below nothing", "a height that is none"],
    // A frame is as large as it is. The story covers the panel itself to see that.
    ...["a cover over the panel", "a dialog over the panel", "a popover over the panel"],
  ],
};

function atTop(href: string): string {
  return `the top at ${href}`;
}

/** What the server of the controls says at an address below {@link controlPath}; undefined for the canaries. */
export function controlPage(url: URL, origin: string): string | undefined {
  const theme = url.searchParams.get("theme") ?? "";
  const only = url.searchParams.getAll("only");
  const canary = `${origin}${controlPath}/`;
  const where = { canary, socket: canary.replace("http:", "ws:") };
  switch (url.pathname) {
    case controlPath:
      return hostilePage("requests", where);
    case `${controlPath}/frame`:
      return hostilePage(theme, where, { waitLimit, ...(only.length > 0 && { only }) });
    case `${controlPath}/bridge`:
      return `<!doctype html><title>control</title><input><iframe src="frame${url.search}"></iframe>
        <script>(${bridge})()</script>`;
    default:
      return undefined;
  }
}

/** What the bridge notes, as members of its window. */
interface Bridge {
  report: string | undefined;
  messages: number;
  longest: number;
}

/**
 * In the page: a bridge that takes everything, believes everything and answers everything. The app begins at its press, because
 * the browser forgets a press after five seconds.
 */
function bridge(): void {
  const merge = (to: Record<string, unknown>, from: Record<string, unknown>): void => {
    for (const [name, value] of Object.entries(from)) {
      if (typeof value !== "object" || value === null) to[name] = value;
      else {
        to[name] ??= {};
        merge(to[name] as Record<string, unknown>, value as Record<string, unknown>);
      }
    }
  };
  const noted = window as unknown as Bridge;
  noted.messages = 0;
  noted.longest = 0;
  const frame = document.querySelector("iframe");
  const pressed = new Promise<void>((resolve) => {
    frame?.addEventListener("load", () => {
      frame.contentWindow?.addEventListener("click", () => {
        if (location.hash === "#focus") document.querySelector("input")?.focus();
        resolve();
      });
    });
  });
  window.addEventListener("message", async ({ data, source }) => {
    noted.messages += 1;
    noted.longest = Math.max(noted.longest, JSON.stringify(data).length);
    merge({}, data);
    const { id, method, params } = data;
    if (id === undefined) return;
    if (String(params?.uri).startsWith("report:")) noted.report = params.uri;
    if (method === "ui/initialize") await pressed;
    source?.postMessage({ jsonrpc: "2.0", id, result: { ...params } }, { targetOrigin: "*" });
  });
}

/** What one page tries: these attacks of a theme, or the page of a theme as it is. */
interface Trial {
  readonly theme: string;
  readonly only?: readonly string[];
}

/** Attacks that are noticed by their effect, and not by their report; or that use up the press. */
const alone = new Set([
  ...["the panel's history", "a focus", "a name of the prototype"],
  ...["screen", "full screen", "pointer lock", "copying", "choosing a file"],
]);

/** The trials. The report of a page tells which of its attacks had success. */
function trials(): readonly Trial[] {
  const all: Trial[] = [...Object.keys(ending), ...Object.keys(lasting)].map((theme) => ({
    theme,
  }));
  for (const [theme, list] of Object.entries(attacks)) {
    if (theme === "requests") continue; // they have a control of their own
    const names = list.map(([name]) => name);
    const without = unseen[theme] ?? [];
    assert.deepEqual(
      without.filter((name) => !names.includes(name)),
      [],
      `${theme} has these attacks`,
    );
    const tried = names.filter((name) => !without.includes(name));
    const isAlone = (name: string) => theme === "windows" || alone.has(name);
    for (const name of tried.filter(isAlone)) all.push({ theme, only: [name] });
    const only = tried.filter((name) => !isAlone(name));
    if (only.length > 0) all.push({ theme, only });
  }
  return all;
}

/** Makes the attacks where nothing holds them, and fails if one is not noticed. Returns how many were. */
export async function runControls(context: BrowserContext, origin: string): Promise<number> {
  await context.grantPermissions(
    [
      ...["camera", "clipboard-read", "clipboard-write", "geolocation", "microphone"],
      ...["notifications", "screen-wake-lock"],
    ],
    { origin },
  );
  await context.setGeolocation({ latitude: 1, longitude: 1 });
  let count = 0;
  for (const trial of trials()) {
    await control(context, origin, trial);
    count += trial.only?.length ?? 1;
  }
  await context.clearPermissions();
  return count;
}

/** Makes attacks in a page of their own, until they are noticed. */
async function control(context: BrowserContext, origin: string, trial: Trial): Promise<void> {
  const { theme, only = [] } = trial;
  const before = new Set(context.pages());
  const page = await context.newPage();
  const url = new URL(`${controlPath}/bridge?theme=${theme}`, origin);
  for (const name of only) url.searchParams.append("only", name);
  const isOfFocus = only.includes("a focus") || theme in lasting;
  if (isOfFocus) url.hash = "focus";
  await page.goto(url.href);
  let isNoticed = false;
  const notice = () => {
    isNoticed = true;
  };
  page.on("dialog", (dialog) => {
    notice();
    void dialog.dismiss();
  });
  page.on("download", notice);
  page.on("framenavigated", notice);
  context.on("page", notice);
  await page.frameLocator("iframe").locator("p").click();
  await eventually(`the success of ${only.join(", ") || theme}`, async () => {
    // A page that goes away has been noticed.
    const now = await page
      .evaluate(look, { isOfFocus, isOne: only.length === 1 })
      .catch(() => undefined);
    if (isNoticed || now?.isChanged === true) return true;
    if (now?.escaped === undefined || only.length === 0) return undefined;
    // The report of an attack may come before its effect, such as another page.
    if (only.length === 1 && now.escaped.length === 0) return undefined;
    assert.deepEqual(now.escaped, only, `${theme}: these attacks have success without a sandbox`);
    return true;
  });
  context.off("page", notice);
  for (const other of context.pages()) if (!before.has(other)) await other.close();
}

/** In the page: the effects to be noticed there. */
function look({ isOfFocus, isOne }: { readonly isOfFocus: boolean; readonly isOne: boolean }) {
  const { report, messages, longest } = window as unknown as Bridge;
  const told = report?.replace(/^[^?]*\?/, "");
  const { escaped } = JSON.parse(told ?? "{}") as { readonly escaped?: readonly string[] };
  const isPolluted = "escaped" in {} || (isOne && "escaped" in window);
  const hasFocus = isOfFocus && document.activeElement?.tagName === "IFRAME";
  const isFlood = messages > 250 || longest > 4 << 20;
  return { escaped, isChanged: isPolluted || hasFocus || isFlood };
}

/** What an attack could change in the panel. */
const changes: Readonly<Record<string, () => void>> = {
  prototype: () => Object.assign(Object.prototype, { escaped: 1 }),
  variable: () => Object.assign(window, { escaped: 1 }),
  title: () => {
    document.title = "Allow";
  },
  image: () => document.body.append(Object.assign(new Image(), { src: "http://a.example/" })),
  link: () => {
    document.body.append(Object.assign(document.createElement("a"), { href: "vscode://a" }));
  },
  cover: () => {
    const cover = document.createElement("div");
    cover.style.cssText = "position: fixed; inset: 0; z-index: 2147483647";
    document.body.append(cover);
  },
};

/** Makes each change, sees that the check fails, and takes it back. */
export async function seeChanges(
  page: Page,
  check: (theme: string) => Promise<void>,
): Promise<void> {
  for (const [name, change] of Object.entries(changes)) {
    const before = await page.evaluate(() => [document.title, document.body.childElementCount]);
    await page.evaluate(change);
    await assert.rejects(check(name), assert.AssertionError, name);
    await page.evaluate(([title, count]) => {
      Reflect.deleteProperty(Object.prototype, "escaped");
      Reflect.deleteProperty(window, "escaped");
      document.title = String(title);
      while (document.body.childElementCount > Number(count)) document.body.lastChild?.remove();
    }, before);
    await check(`after ${name}`);
  }
}
