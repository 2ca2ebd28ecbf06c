// Servers that are not ours. MCP's own server-everything and go-sdk's examples are used through the panel in a real
// browser, over each transport that they offer. Without a browser, each tool of many more servers that asks something
// is called and answered.
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openPage } from "../demo/page.ts";
import { errorsOf, withPage } from "./chromium.ts";
import { withDemo } from "./demo.ts";
import { Panel } from "./panel.ts";
import { stopGroup } from "./processes.ts";
import { screenshotFolder } from "./screenshots.ts";
import { step } from "./step.ts";
import { answerAll, columns } from "./thirdParty/answerAll.ts";
import { buildMcpGoExamples } from "./thirdParty/askers.ts";
import { checksOf, features } from "./thirdParty/checks.ts";
import {
  buildThirdParties,
  startThirdParties,
  type ThirdParty,
  thirdParties,
  transports,
} from "./thirdParty/servers.ts";
import { table } from "./thirdParty/table.ts";

await step("go-sdk's examples are built", buildThirdParties);
await step("mcp-go's examples are built", buildMcpGoExamples);
const processes: ChildProcess[] = [];
const problems: string[] = [];
await withDemo(
  "servers",
  {
    servers: async ({ mark }) => {
      const started = await startThirdParties(mark);
      processes.push(...started.processes);
      return started.servers;
    },
  },
  async ({ url, folder, workspace, mark }) => {
    try {
      const halves = [thirdParties.slice(0, 2), thirdParties.slice(2)];
      const urls = [url.href, await openPage({ folder, workspace, trust: true })];
      const lines = await Promise.all(halves.map((half, i) => useAll(urls[i] ?? "", half, i + 1)));
      console.log(`\n${table([["server", "transport", "MCP", ...features], ...lines.flat()])}\n`);
      const answered = await step("every tool that asks is answered", () =>
        answerAll(mark, folder),
      );
      console.log(`\n${table([columns, ...answered.lines])}\n`);
      problems.push(...answered.problems);
    } finally {
      for (const child of processes) await stopGroup(child);
    }
  },
);
// The end of a run names the steps that failed.
const failures = problems.map((problem) =>
  step(problem.replaceAll("\n", " "), () => Promise.reject(new Error(problem))),
);
await Promise.all(failures);

/** Tests servers one after the other in a separate browser. Returns their rows of the table. */
async function useAll(
  url: string,
  servers: readonly ThirdParty[],
  browser: number,
): Promise<readonly (readonly string[])[]> {
  const lines: (readonly string[])[] = [];
  await withPage(`servers-${browser}`, { width: 600, height: 1000 }, async (page) => {
    // Servers send people to pages of others, which need not be reached. They are closed as they
    // open, because a page in the background is slow to draw.
    await page.context().route(/^https:/, (route) => route.fulfill({ body: "a page" }));
    page.on("popup", (popup) => popup.close());
    const errors = errorsOf(page);
    await page.goto(url);
    for (const server of servers) lines.push(await use(page, server));
    problems.push(...errors.map((error) => `an error in the page: ${error}`));
  });
  return lines;
}

/** Tests a server in a separate task. Returns its row of the table. */
async function use(page: Page, server: ThirdParty): Promise<readonly string[]> {
  const { name, program, transport, protocolVersion } = server;
  const checks = checksOf(server);
  const panel = new Panel(page, page.keyboard);
  await panel.newTask();
  const cells: string[] = [];
  for (const feature of features) {
    const check = checks[feature];
    if (check === undefined) {
      cells.push("-");
      continue;
    }
    const start = performance.now();
    try {
      await check(panel, name);
      cells.push(check.verdict ?? `${((performance.now() - start) / 1000).toFixed(1)} s`);
    } catch (error) {
      cells.push("FAIL");
      const place = `servers-${name}-${feature.replaceAll(" ", "-")}-failed.png`;
      await page.screenshot({ path: join(screenshotFolder, place) });
      const reason = error instanceof Error ? error.message : String(error);
      problems.push(`${feature} of ${name}: ${reason}\n(see ${place})`);
      // What the failure left open is left behind.
      await panel.newTask();
    }
  }
  const spoken = `${transports[transport]}, MCP ${protocolVersion}`;
  const runner = await panel.useServer(name);
  await runner.getByText(spoken, { exact: true }).waitFor();
  return [program, transports[transport], protocolVersion, ...cells];
}
