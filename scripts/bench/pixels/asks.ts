import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Frame, Page } from "playwright-core";
import { quantile, type Row } from "../report.ts";
import { now } from "./clock.ts";
import type { Asked } from "./messages.ts";
import { seen, watchFor } from "./probe.ts";

const rounds = 10;
const asks = 10; // in a round

/** The bars, in milliseconds. */
const paintedBeyond = 16;
const readBeyond = 2;

/** The name of the reference. */
export const host = "host in one process";

/** The MCP server, once its tool is called. */
export class AskingServer {
  readonly #socket: Socket;
  readonly #reports: AsyncIterator<string>;

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay();
    this.#reports = createInterface(socket)[Symbol.asyncIterator]();
  }

  /** The next one, with a call of its tool. */
  static async called(servers: Server): Promise<AskingServer> {
    const [socket] = (await once(servers, "connection")) as [Socket];
    return new AskingServer(socket);
  }

  /** Has it ask a question. Returns its report. */
  async ask(question: string): Promise<Asked> {
    this.#socket.write(`${question}\n`);
    const { value } = (await this.#reports.next()) as { value: string };
    return JSON.parse(value) as Asked;
  }
}

/** A panel with the server that asks in it. */
export interface Side {
  readonly page: Page;
  /** The panel's own, within the page or the same. */
  readonly frame: Frame;
  readonly server: AskingServer;
  /** The frame's beginning on the clock of all processes. */
  readonly beginning: number;
}

export async function sideOf(page: Page, frame: Frame, server: AskingServer): Promise<Side> {
  return { page, frame, server, beginning: await beginningOf(page, frame) };
}

/** When a frame began, on the clock of all processes. Fails if the frame's clock runs differently. */
async function beginningOf(page: Page, frame: Frame): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  const { metrics } = await devtools.send("Performance.getMetrics");
  await devtools.detach();
  const ofPage = (metrics.find(({ name }) => name === "NavigationStart")?.value ?? 0) * 1000;
  const origin = () => performance.timeOrigin;
  const beginning = ofPage + (await frame.evaluate(origin)) - (await page.evaluate(origin));
  const before = now();
  const there = beginning + (await frame.evaluate(() => performance.now()));
  const after = now();
  // The page's own clock has steps of 0.1 ms.
  if (there < before - 0.2 || there > after + 0.2) {
    throw new Error(`the page is at ${there}, between ${before} and ${after}`);
  }
  return beginning;
}

/** The parts of an ask, in milliseconds. */
interface Took {
  /** From the server's write to the painted card. */
  readonly painted: number;
  /** From the click to the server's read. */
  readonly read: number;
}

/** Has two sides asked and answered in turns. The rows are about the first. */
export async function askBoth(ours: Side, reference: Side, where: string): Promise<readonly Row[]> {
  const figure: Took[][] = [];
  const beside: Took[][] = [];
  for (let round = 0; round < rounds; round++) {
    figure.push(await askRound(ours, round));
    beside.push(await askRound(reference, round));
  }
  return rowsOfAsks(figure, beside, where);
}

/** Has one side asked and answered a few times, after one that warms up. */
async function askRound(side: Side, round: number): Promise<Took[]> {
  await side.page.bringToFront();
  const all: Took[] = [];
  for (let n = 0; n <= asks; n++) {
    const took = await ask(side, `Which name, ${round}-${n}?`);
    if (n > 0) all.push(took);
  }
  return all;
}

async function ask({ frame, server, beginning }: Side, question: string): Promise<Took> {
  await frame.evaluate(watchFor, question);
  // The page is at rest by then. The question comes anywhere between two frames.
  await sleep(100 + 17 * Math.random());
  const { written, read } = await server.ask(question);
  const { painted, clicked } = await frame.evaluate(seen);
  return {
    painted: beginning + painted - written,
    read: read - beginning - clicked,
  };
}

/** Compares a figure with its bar. */
export const goal = (limit: number, figure: readonly number[]) => ({
  reference: { is: "goal", figure: figure.map(() => limit) },
  atMost: 1,
});

function rowsOfAsks(
  ours: readonly Took[][],
  reference: readonly Took[][],
  where: string,
): readonly Row[] {
  const part = (name: string, of: (took: Took) => number, limit: number): Row[] => {
    const median = (round: readonly Took[]) => quantile(round.map(of), 0.5);
    const [figure, beside] = [ours.map(median), reference.map(median)];
    const beyond = figure.map((took, round) => took - (beside[round] ?? Number.NaN));
    const what = `${where}, from the ${name}`;
    return [
      { what, unit: "ms", figure, reference: { is: host, figure: beside } },
      { what: `${what}, beyond the host`, unit: "ms", figure: beyond, ...goal(limit, beyond) },
    ];
  };
  return [
    ...part("question to the painted card", ({ painted }) => painted, paintedBeyond),
    ...part("click to the server", ({ read }) => read, readBeyond),
  ];
}
