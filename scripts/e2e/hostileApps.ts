// Hostile apps and results, in the panel of a real browser: none gets out of its frame, reaches the network or acts for the
// person. The same attacks in a page of their own show that they would.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterPress, attacks, ending } from "../testservers/hostile/attacks.mjs";
import { results } from "../testservers/hostile/results.mjs";
import { root } from "../tools/lib/paths.ts";
import { withPage } from "./chromium.ts";
import { withDemo } from "./demo.ts";
import { eventually } from "./eventually.ts";
import { armed, innerFrame } from "./exampleApps.ts";
import {
  controlPage,
  controlPath,
  obligingFlags,
  runControls,
  seeChanges,
} from "./hostileControls.ts";
import { Looks } from "./looks.ts";
import { listen } from "./loopback.ts";
import { Panel } from "./panel.ts";
import { step } from "./step.ts";

const server = "hostile";

/** A server that must get no connection. */
const reached: string[] = [];
const canary = createServer((request, response) => {
  reached.push(`a request of ${request.url}`);
  response.end();
});
canary.on("connection", () => reached.push("a connection"));
const { url: canaryURL, stop: stopCanary } = await listen(canary);
const where = { canary: `${canaryURL}/`, socket: `${canaryURL.replace("http:", "ws:")}/` };

/** A server of pages where the attacks have no sandbox, and the requests of these attacks. */
const controlled = new Set<string>();
const controls = createServer((request, response) => {
  const { url = "" } = request;
  const control = controlPage(new URL(url, origin), origin);
  if (control !== undefined) response.setHeader("Content-Type", "text/html");
  else if (url === "/sw.js") response.setHeader("Content-Type", "text/javascript");
  else if (url.startsWith(controlPath)) controlled.add(url);
  response.end(control);
});
controls.on("upgrade", (request, socket) => {
  controlled.add(request.url ?? "");
  socket.destroy();
});
const { url: origin, stop: stopControls } = await listen(controls);

/** The server's log. */
let log = "";
try {
  await withDemo(
    "hostile",
    {
      prepare: async ({ folder }) => {
        log = join(folder, "log");
        await writeFile(log, "");
      },
      servers: () => ({
        [server]: {
          command: process.execPath,
          args: [join(root, "scripts", "testservers", "hostile.mjs")],
          env: { HOSTILE_CANARY: where.canary, HOSTILE_SOCKET: where.socket, HOSTILE_LOG: log },
        },
      }),
    },
    ({ url }) =>
      withPage("hostile", { width: 600, height: 900, flags: obligingFlags }, (page) =>
        attack(page, url),
      ),
  );
} finally {
  await stopCanary();
  await stopControls();
}

interface Report {
  readonly ran: number;
  readonly escaped: readonly string[];
}

/** What the app of a theme says about its attacks, once it has made them. */
async function reportOf(theme: string): Promise<Report> {
  const start = `report:${theme}?`;
  return await eventually(`the report of ${theme}`, async () => {
    const lines = (await readFile(log, "utf8")).split("\n");
    const line = lines.find((one) => one.startsWith(start));
    return line === undefined ? undefined : (JSON.parse(line.slice(start.length)) as Report);
  });
}

/** The tools that the server was called with, in order. */
async function called(): Promise<readonly string[]> {
  const lines = (await readFile(log, "utf8")).split("\n");
  return lines.filter((line) => line.startsWith("call:")).map((line) => line.slice(5));
}

async function attack(page: Page, url: URL): Promise<void> {
  const seen: string[] = [];
  page.on("dialog", (dialog) => {
    seen.push(`the dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("download", () => seen.push("a download"));

  await step("without a frame, the attacks reach the network", async () => {
    const control = await page.context().newPage();
    await control.goto(`${origin}${controlPath}`);
    // Most of them: some need a certificate, or a browser with more features.
    await eventually("half of the requests", async () =>
      controlled.size >= (attacks["requests"]?.length ?? 0) / 2 ? true : undefined,
    );
    for (const other of page.context().pages()) if (other !== page) await other.close();
  });

  await step("without a sandbox, each attack is noticed", async () => {
    const count = await runControls(page.context(), origin);
    console.log(`         ${count} attacks were noticed`);
    seen.length = 0;
  });

  await page.goto(url.href);
  page.context().on("page", (other) => seen.push(`the page ${other.url()}`));
  const panel = new Panel(page, page.keyboard);
  const looks = new Looks();
  const address = page.url();
  const title = await page.title();
  const run: string[] = [];
  /** Checks everything that an attack could have changed. */
  const assertNothingEscaped = async (theme: string): Promise<void> => {
    assert.deepEqual(reached, [], `${theme}: the canary got no connection`);
    assert.deepEqual(seen, [], `${theme}: no window, dialog or download`);
    assert.deepEqual(await called(), run, `${theme}: the server got the person's calls alone`);
    assert.equal(page.url(), address, theme);
    assert.equal(await page.title(), title, theme);
    const inPanel = await page.evaluate(() => ({
      polluted: "escaped" in {} || "escaped" in window,
      scripts: [...document.scripts].filter(({ src }) => src === "").length,
      outside: [...document.querySelectorAll("img, iframe, audio, video, link, object, embed")]
        .map((it) => it.getAttribute("src") ?? it.getAttribute("href") ?? it.getAttribute("data"))
        .filter(
          (it) =>
            it !== null &&
            !/^(data:|blob:|\/|http:\/\/127\.0\.0\.1:\d+\/frame\/|\S+\.(css|js)$)/.test(it),
        ),
      links: [...document.querySelectorAll("a")]
        .map((it) => it.getAttribute("href") ?? "")
        .filter((it) => !/^(https?:|#|mailto:|$)/.test(it)),
    }));
    assert.deepEqual(
      inPanel,
      { polluted: false, scripts: inPanel.scripts, outside: [], links: [] },
      theme,
    );
    const message = panel.message();
    assert.equal(await message.inputValue(), "", `${theme}: the composer is empty`);
    const isOnTop = await message.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      const at = document.elementFromPoint(x + width / 2, y + height / 2);
      return at !== null && element.contains(at);
    });
    assert.ok(isOnTop, `${theme}: nothing covers the composer`);
    const focused = await page.evaluate(() => document.activeElement?.tagName);
    assert.notEqual(focused, "IFRAME", `${theme}: the app has no focus`);
  };
  const open = async (tool: string): Promise<void> => {
    await panel.newTask();
    run.push(tool);
    await panel.startTool(server, tool);
    await panel.call(server, tool).getByText(/^done/).waitFor();
  };

  /** As {@link reportOf}. An error says which attack did not end. */
  const reportAfter = async (theme: string): Promise<Report> => {
    try {
      return await reportOf(theme);
    } catch (error) {
      const html = innerFrame(panel, server, theme).locator("html");
      const at = await html.getAttribute("data-attack");
      throw new Error(at === null ? "no attack has begun" : `the last attack is ${at}`, {
        cause: error,
      });
    }
  };

  let count = 0;
  for (const [theme, list] of Object.entries(attacks)) {
    await step(`${list.length} attacks of the theme ${theme}`, async () => {
      await open(theme);
      if (afterPress.includes(theme)) {
        await armed(panel, server, theme);
        await innerFrame(panel, server, theme).getByText("A hostile app").click();
      }
      // After a press, each page may write to the clipboard. docs/security.md says so.
      const escaped = theme === "permissions" ? ["copying"] : [];
      assert.deepEqual(await reportAfter(theme), { ran: list.length, escaped });
      count += list.length;
      // The press may have given the app the focus. It cannot keep it, or take it again.
      if (afterPress.includes(theme)) await panel.message().click();
      await assertNothingEscaped(theme);
      await page.setViewportSize({ width: 600, height: 900 });
      await looks.at(page, `hostile-${theme}`);
    });
  }
  await step("each change of the panel would be noticed", () =>
    seeChanges(page, assertNothingEscaped),
  );
  for (const theme of Object.keys(ending)) {
    await step(`an attack that ends its app: ${theme}`, async () => {
      await open(theme);
      assert.deepEqual(await reportOf(theme), { ran: 1, escaped: [] });
      await panel
        .call(server, theme)
        .getByText(/^The app (was stopped because|ended)/)
        .waitFor();
      count += 1;
      await assertNothingEscaped(theme);
    });
  }
  await step("an app that takes the keys of the person is stopped", async () => {
    await open("takesTheFocus");
    assert.deepEqual(await reportOf("takesTheFocus"), { ran: 1, escaped: [] });
    const message = panel.message();
    await message.click();
    await panel
      .call(server, "takesTheFocus")
      .getByText("The app was stopped because it took the focus while you were typing.")
      .waitFor();
    await page.keyboard.type("all of these keys are for the panel");
    assert.equal(await message.inputValue(), "all of these keys are for the panel");
    await message.fill("");
    count += 1;
    await assertNothingEscaped("takesTheFocus");
  });
  const hostileResults = Object.keys(results(where.canary)).length;
  await step(`${hostileResults} results and one with names of the prototype`, async () => {
    await open("results");
    count += hostileResults + 1;
    await assertNothingEscaped("results");
    await looks.at(page, "hostile-results");
  });
  looks.assertFlawless();
  assert.ok(count >= 200, `${count} are fewer than 200`);
  console.log(`${count} hostile apps and resources: 0 escapes`);
}
