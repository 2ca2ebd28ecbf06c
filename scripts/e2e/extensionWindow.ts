import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Frame, FrameLocator, Page } from "playwright-core";
import {
  buildExampleServers,
  samplingServer,
  tasksServer,
  writeExampleWorkspace,
} from "../demo/exampleServers.ts";
import { hostTarget, vsixOf } from "../tools/lib/vsix.ts";
import { type Viewport, withPage } from "./chromium.ts";
import { startWorkbench, type Workbench } from "./codeServer.ts";
import { confirmServers } from "./confirmServers.ts";
import { eventually } from "./eventually.ts";
import { Panel } from "./panel.ts";
import { assertNoneLeft, commandLine, isStopped, processesMarked } from "./processes.ts";
import { runCommand } from "./quickInput.ts";
import { step } from "./step.ts";
import { withTestModels } from "./testModels.ts";

/** Two servers of every window: one of MCP tasks and one that samples, both of the era before the newest one. */
export const legacy = "test-tasks-legacy";
export const sampler = "sampler";

/** A person's settings, by name. */
type Settings = Readonly<Record<string, unknown>>;

export interface InstallOptions {
  /** Of the pictures that are taken where something fails. */
  readonly name: string;
  /** Servers of the settings, in addition to those of the stories. */
  readonly servers?: Settings;
  /** Other settings of the machine. */
  readonly settings?: Settings;
  /** The setup before VS Code starts. */
  readonly prepare?: (workbench: Workbench) => Promise<void>;
  /** The size of the window, if not 1280 x 1000. */
  readonly viewport?: Viewport;
}

/** Runs a story in the packaged extension, in a separate workbench with the example servers and the tests' models. */
export async function withExtension(
  options: InstallOptions,
  tell: (window: ExtensionWindow) => Promise<void>,
): Promise<void> {
  const workbench = await step("the packaged extension is installed", () => install(options));
  try {
    const { name, viewport = { width: 1280, height: 1000 } } = options;
    await withPage(name, viewport, async (page) => {
      const window = new ExtensionWindow(workbench, page);
      const complaints = window.collectComplaints();
      await confirmServers(page);
      // What moves is drawn again and again, by the processor.
      await page.emulateMedia({ reducedMotion: "reduce" });
      await step("the panel opens from the activity bar", async () => {
        await page.goto(workbench.url);
        await window.container.click();
        await window.panel.text("Your servers can ask; you stay in control").waitFor();
      });
      await tell(window);
      assert.deepEqual(complaints, [], "the panel's console has no errors");
    });
  } finally {
    await workbench.stop();
    await assertNoneLeft(workbench.folder);
  }
}

async function install({ servers, settings, prepare }: InstallOptions): Promise<Workbench> {
  await buildExampleServers();
  const started = await withTestModels((models) =>
    startWorkbench({
      extensions: [vsixOf(hostTarget()), models],
      settings: {
        "assent.model.provider": "demo",
        "assent.servers": {
          ...servers,
          [legacy]: tasksServer("legacy"),
          [sampler]: samplingServer("2025-11-25"),
        },
        // VS Code does not say of its models whether they call tools.
        "assent.model.endpoints": {
          "*": { facts: { "test caller": { tools: true, images: true } } },
        },
        ...settings,
      },
    }),
  );
  await writeExampleWorkspace(started.workspace);
  await prepare?.(started);
  return started;
}

/** A window of VS Code with the extension, and what runs for it. */
export class ExtensionWindow {
  readonly workbench: Workbench;
  readonly page: Page;
  readonly panel: Panel;
  readonly #view: FrameLocator;

  constructor(workbench: Workbench, page: Page) {
    this.workbench = workbench;
    this.page = page;
    this.#view = page
      .frameLocator('iframe.webview.ready[src*="extensionId=assent.assent"]')
      .frameLocator("iframe#active-frame");
    this.panel = new Panel(this.#view, page.keyboard);
  }

  /** The panel's frame, as it is now. */
  readonly frame = async (): Promise<Frame> => {
    const element = await this.#view.owner().elementHandle();
    return (await element?.contentFrame()) ?? assert.fail("the panel has no frame");
  };

  /** The container's icon in the activity bar. */
  get container() {
    return this.page.getByRole("tab", { name: /^Assent/ });
  }

  /** The container's icon, when it says so many open asks. */
  badge(words: string) {
    return this.page.getByRole("tab", { name: new RegExp(`^Assent.* ${words}`) });
  }

  readonly newTask = (): Promise<void> =>
    this.panel.newTask(() => runCommand(this.page, "Assent: New Task"));

  readonly hide = async (): Promise<void> => {
    await this.page.getByRole("tab", { name: /^Explorer/ }).click();
    await this.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
  };

  /** Shows the panel in a window that has just been loaded. */
  readonly show = async (): Promise<void> => {
    await this.container.waitFor();
    // The side bar may show the panel already, as the window before did. A click would hide it then.
    if (!(await this.#isPanelInSideBar())) await this.container.click();
  };

  /** Waits until the side bar shows something, and says whether that is the panel. */
  async #isPanelInSideBar(): Promise<boolean> {
    const title = this.page.locator(".part.sidebar .composite.title h2").filter({ hasText: /\w/ });
    return /^Assent/i.test((await title.textContent()) ?? "");
  }

  /** Reloads the window, in which the panel is hidden. VS Code takes seconds to save what its side bar shows. */
  async reloadHidden(): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt++) {
      await this.hide();
      await this.page.reload();
      if (!(await this.#isPanelInSideBar())) return;
    }
    assert.fail("the side bar shows the panel after each reload");
  }

  /** Opens another window, which shows the panel: on the workspace folder, or on another one beside it. */
  readonly openWindow = async (folder?: string): Promise<ExtensionWindow> => {
    const page = await this.page.context().newPage();
    await confirmServers(page);
    await page.setViewportSize(this.page.viewportSize() ?? assert.fail("the window has no size"));
    const url = new URL(this.workbench.url);
    if (folder !== undefined) {
      const path = join(this.workbench.folder, folder);
      await mkdir(path);
      url.searchParams.set("folder", path);
    }
    await page.goto(url.href);
    const other = new ExtensionWindow(this.workbench, page);
    await other.show();
    await other.panel.text(/^Use a Server$/).waitFor();
    return other;
  };

  /** How many windows have a relay, and how many daemons serve them. */
  readonly processes = async () => ({
    relays: (await this.#processesNamed(relay)).length,
    daemons: (await this.#processesNamed(daemon)).length,
  });

  /** Kills the daemon, and waits until another one serves the panel of the only window. */
  readonly killSidecar = async (): Promise<void> => {
    const running = () => this.#processesNamed(relay);
    const [ended, ...others] = await running();
    assert(ended !== undefined && others.length === 0, "there is one relay");
    await this.workbench.stopDaemon("--force");
    await eventually("another relay", async () => (await running()).find((pid) => pid !== ended));
    // The panel got the end before the other one was started.
    for (const words of ["Assent stopped", "Assent is starting"]) {
      await this.panel.banner(words).waitFor({ state: "detached" });
    }
  };

  /** Does something while the processes of a name stand still. */
  readonly whileStopped = async (name: string, work: () => Promise<void>): Promise<void> => {
    const stopped = await this.#processesNamed(name);
    for (const pid of stopped) process.kill(pid, "SIGSTOP");
    // A busy system stops a process later.
    for (const pid of stopped) {
      await eventually(
        `the stop of process ${pid}`,
        async () => (await isStopped(pid)) || undefined,
      );
    }
    try {
      await work();
    } finally {
      for (const pid of stopped) process.kill(pid, "SIGCONT");
    }
  };

  /** Collects what the browser has against the panel; the workbench's own troubles are not ours. */
  collectComplaints(): readonly string[] {
    const complaints: string[] = [];
    this.page.on("console", (message) => {
      const isPanels = message.location().url.includes("/dist/webview/");
      const isPolicys = message.text().includes("Content Security Policy");
      if (message.type() === "error" && (isPanels || isPolicys)) complaints.push(message.text());
    });
    return complaints;
  }

  /** The processes of this run with a text in their command line. */
  async #processesNamed(text: string): Promise<readonly number[]> {
    const found: number[] = [];
    for (const pid of await processesMarked(this.workbench.folder)) {
      if ((await commandLine(pid)).includes(text)) found.push(pid);
    }
    return found;
  }
}

/** What the command lines of relays and of daemons have in them. */
const relay = "/bin/assent serve";
const daemon = "/bin/assent daemon run";
