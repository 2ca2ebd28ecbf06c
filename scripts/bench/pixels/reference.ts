import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import { AskingServer, type Side, sideOf } from "./asks.ts";
import type { Message } from "./messages.ts";
import { loaded } from "./probe.ts";

/** The panel's size in a browser, in pixels. */
export const viewport = { width: 400, height: 800 };

/** A page of a daemon, as the reference shows it. */
export interface Recorded {
  /** What the daemon answered, by the method. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** What the page remembers. */
  readonly view: string;
}

/** The folders and files of a reference. */
export interface Place {
  readonly folder: string;
  readonly servers: Server;
  readonly port: number;
}

/** Loads a page again, and records it. */
export async function record(page: Page): Promise<Recorded> {
  const asked = new Map<unknown, string>();
  const answers: Record<string, unknown> = {};
  page.once("websocket", (socket) => {
    socket.on("framesent", ({ payload }) => {
      const { id, method } = JSON.parse(String(payload)) as Message;
      if (method !== undefined) asked.set(id, method);
    });
    socket.on("framereceived", ({ payload }) => {
      const { id, method, result } = JSON.parse(String(payload)) as Message;
      const answered = method === undefined ? asked.get(id) : undefined;
      if (answered !== undefined) answers[answered] = result;
    });
  });
  await page.reload();
  await page.evaluate(loaded);
  await sleep(500); // it asks for more when it is drawn
  answers["host/ready"] = { status: { state: "running" }, pages: [] };
  const view = await page.evaluate(() => sessionStorage.getItem("assent.viewState") ?? "");
  return { answers, view };
}

/** Runs the reference with a page of its own. */
export async function withHost<T>(
  { answers, view }: Recorded,
  context: BrowserContext,
  { folder, servers, port }: Place,
  work: (side: Side) => Promise<T>,
): Promise<T> {
  const file = join(folder, "answers.json");
  await writeFile(file, JSON.stringify(answers));
  const calling = AskingServer.called(servers);
  const args = [join(import.meta.dirname, "host.ts"), file, String(port)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const page = await context.newPage();
  try {
    await page.setViewportSize(viewport);
    const [url] = (await once(createInterface(child.stdout), "line")) as [string];
    await page.goto(url);
    await page.evaluate((text) => sessionStorage.setItem("assent.viewState", text), view);
    await page.reload();
    await page.evaluate(loaded);
    return await work(await sideOf(page, page.mainFrame(), await calling));
  } finally {
    await page.close();
    child.kill();
    await exited;
  }
}
