// MCP Apps as their authors meant them: the example servers of ext-apps, in the panel of a real browser.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { FrameLocator, Locator, Page } from "playwright-core";
import { root } from "../tools/lib/paths.ts";
import { withPage } from "./chromium.ts";
import { type RunningDemo, withDemo } from "./demo.ts";
import { eventually } from "./eventually.ts";
import { armed, exampleApp, innerFrame, takesPresses, writePdf } from "./exampleApps.ts";
import { lookAtIcons } from "./iconsStory.ts";
import { Looks, sizes } from "./looks.ts";
import { Panel } from "./panel.ts";
import { step } from "./step.ts";

/** An example: its package without the prefix, and the tool with the app. */
interface Example {
  readonly name: string;
  readonly tool: string;
  /** The app calls the tool itself before it shows something. */
  readonly calls?: true;
  /** Something that the app shows once it has the result. */
  shows(app: FrameLocator): Locator;
}

const examples: readonly Example[] = [
  {
    name: "basic-vanillajs",
    tool: "get-time",
    shows: (app) => app.getByText(/\d{4}-\d{2}-\d{2}T/),
  },
  {
    name: "budget-allocator",
    tool: "get-budget-data",
    shows: (app) => app.getByText("Marketing", { exact: true }).first(),
  },
  {
    name: "cohort-heatmap",
    tool: "get-cohort-data",
    calls: true,
    shows: (app) => app.getByText(/^100%?$/).first(),
  },
];

const names = ["basic-react", "map", "threejs", ...examples.map(({ name }) => name)];
/** The file that the app for PDFs shows. */
const pdfIn = (folder: string): string => join(folder, "seats.pdf");
await withDemo(
  "apps",
  {
    prepare: ({ folder }) => writePdf(pdfIn(folder), "Two seats, row 3"),
    servers: ({ folder }) => ({
      ...Object.fromEntries(names.map((name) => [name, exampleApp(name)])),
      pdf: exampleApp("pdf", pdfIn(folder)),
      seats: {
        command: process.execPath,
        args: [join(root, "scripts", "testservers", "seats.mjs")],
      },
    }),
  },
  (demo) => withPage("apps", { width: 600, height: 900 }, (page) => useApps(page, demo)),
);

async function useApps(page: Page, { url, folder }: RunningDemo): Promise<void> {
  const panel = new Panel(page, page.keyboard);
  const looks = new Looks();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(url.href);
  /** Runs a tool in a task of its own, and returns the app's inner frame. */
  const open = async (
    server: string,
    tool: string,
    args: Readonly<Record<string, string>> = {},
  ): Promise<FrameLocator> => {
    await panel.newTask();
    await panel.startTool(server, tool, args, "Tools");
    return innerFrame(panel, server, tool);
  };
  for (const { name, tool, calls, shows } of examples) {
    await step(`${name} is shown as its author meant it`, async () => {
      const app = await open(name, tool);
      if (calls) {
        const approval = panel.appCall(name);
        await panel.approve(approval, "Allow");
        await approval.waitFor({ state: "detached" });
      }
      await shows(app).waitFor();
      await looks.inEachSize(page, `app-${name}`);
    });
  }
  await step("an app has the height that it asked for, so that it does not scroll", async () => {
    const app = await open("basic-vanillajs", "get-time");
    await eventually("an app as high as its frame", () =>
      app.locator("html").evaluate((html) => {
        const { width, height } = html.getBoundingClientRect();
        const { innerWidth, innerHeight } = window;
        return (innerHeight === Math.ceil(height) && innerWidth === width) || undefined;
      }),
    );
  });
  await step("map gets no address that the person does not allow, and says so", async () => {
    // Its library and its tiles are on the Internet, so there is no more to see here.
    const app = await open("map", "show-map");
    const call = panel.call("map", "show-map");
    await call.getByText("https://*.openstreetmap.org", { exact: true }).waitFor();
    await call.getByText("https://cesium.com", { exact: true }).waitFor();
    await looks.inEachSize(page, "app-map-addresses");
    await panel.approve(call, "Show Without");
    await app.getByText("Failed to load CesiumJS from CDN").waitFor();
  });
  await step("threejs draws with WebGL", async () => {
    const app = await open("threejs", "show_threejs_scene");
    await app.locator("canvas").waitFor();
    assert.equal(await app.getByText(/error/i).count(), 0);
    await looks.at(page, "app-threejs");
  });
  await step("pdf draws a file that it reads through its server", async () => {
    const app = await open("pdf", "display_pdf", { url: pdfIn(folder) });
    await panel.approve(panel.call("pdf", "display_pdf"), "Show Without");
    // The file's size and its bytes, and then what a model would like to be done with it.
    for (const tool of ["read_pdf_bytes", "read_pdf_bytes", "poll_pdf_commands"]) {
      const approval = panel.appCall("pdf").filter({ hasText: tool });
      await panel.approve(approval, "Allow");
      await approval.waitFor({ state: "detached" });
    }
    await app.getByText("Two seats, row 3").waitFor();
    await panel.attached("context of pdf's app display_pdf").waitFor();
    for (const size of sizes) {
      await page.setViewportSize(size);
      await page.getByTitle("App of pdf: display_pdf").scrollIntoViewIfNeeded();
      await looks.at(page, "app-pdf");
    }
  });
  await step("an app's call of a tool is approved as a model's is", async () => {
    const app = await open("basic-react", "get-time");
    const time = app.locator("code");
    await time.getByText(/T/).waitFor();
    const before = await time.textContent();
    // It follows only the browser's colour scheme, and has no ground of its own.
    const frame = page.getByTitle("App of basic-react: get-time").contentFrame();
    const ground = await frame.locator("html").evaluate((element) => {
      const { colorScheme, backgroundColor } = getComputedStyle(element);
      return { colorScheme, backgroundColor };
    });
    assert.deepEqual(ground, { colorScheme: "light", backgroundColor: "rgb(255, 255, 255)" });
    await armed(panel, "basic-react", "get-time");
    await app.getByRole("button", { name: "Get Server Time" }).click();
    const approval = panel.appCall("basic-react");
    await approval.waitFor();
    await looks.inEachSize(page, "app-call");
    assert.equal(await time.textContent(), before, "nothing ran before the person agreed");
    await panel.approve(approval, "Allow");
    await time.and(app.locator(`code:not(:text-is(${JSON.stringify(before)}))`)).waitFor();
  });
  await step("a server's app fills in its form, and the person submits it", async () => {
    await panel.newTask();
    await panel.startTool("seats", "book", {}, "Tools");
    const form = panel.form("seats");
    const app = form.getByTitle("App of seats");
    const plan = app.contentFrame().locator("iframe").contentFrame();
    await plan.getByRole("button", { name: "14F" }).waitFor();
    await looks.inEachSize(page, "ask-app");
    await form.getByRole("button", { name: "Use the Plain Form" }).click();
    await form.getByRole("radio", { name: "12A" }).waitFor();
    await looks.inEachSize(page, "ask-app-plain");
    assert.equal(await form.getByText("Choose one").count(), 0, "the press submitted nothing");
    await form.getByRole("button", { name: "Show the App" }).click();
    const wide = page.viewportSize() ?? assert.fail("the page has no size");
    await page.setViewportSize(sizes[0]);
    const seat = plan.getByRole("button", { name: "14F" });
    await takesPresses(app, seat);
    await seat.click();
    await form.getByText("Filled in by seats's app. Check it before you submit.").waitFor();
    await looks.at(page, "ask-app-filled");
    const chosen = await form.getByRole("radio", { name: "14F" }).boundingBox();
    const buttons = await form.locator(".ask-actions").boundingBox();
    assert(chosen && buttons && chosen.y + chosen.height < buttons.y, "the answer is in view");
    await page.setViewportSize(wide);
    await looks.at(page, "ask-app-filled");
    // The rest by keyboard: another seat, which does not overwrite the form without a press.
    await form.getByRole("button", { name: "Show the App" }).press("Enter");
    const other = plan.getByRole("button", { name: "12C" });
    const hasFocus = () => other.evaluate((element) => element.matches(":focus"));
    for (let tabs = 0; tabs < 10 && !(await hasFocus()); tabs++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await form.getByText("seats's app has another answer than your form.").waitFor();
    assert(await form.evaluate((element) => element.matches(":focus")), "the card has the focus");
    // It takes a press once it has been there for half a second.
    await form
      .getByRole("button", { name: "Use the App's Answer", disabled: false })
      .press("Enter");
    await form.getByRole("radio", { name: "12C", checked: true }).waitFor();
    await panel.approve(form, "Submit");
    await panel
      .text(/The server got .*"seat":"12C"/)
      .first()
      .waitFor();
  });
  await lookAtIcons(page, panel, looks);
  assert.deepEqual(problems, [], "no error in the page");
  looks.assertFlawless();
}
