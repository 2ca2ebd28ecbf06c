// The official suite's scenarios for servers, through the gateway: the suite is a host that answers questions itself, and
// go-sdk's own conformance server is behind Assent.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { output, run } from "../../tools/lib/command.ts";
import { root, sidecarBinary } from "../../tools/lib/paths.ts";
import { eventually } from "../eventually.ts";
import { freePort, stopGroup } from "../processes.ts";
import { skillsServer } from "./skillsServer.ts";
import { divided, listScenarios, runSuite } from "./suite.ts";
import { runServerScenario } from "./tasksServer.ts";
import { useEachMethod } from "./typescriptClient.ts";

const upstream = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server";

/** MCP's own server for tests. It speaks 2025-11-25. */
const serverEverything = join(
  root,
  "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
);

/** A server of one revision. */
const revisionServer = join(root, "scripts/e2e/conformance/revisionServer.ts");

/** The revisions of MCP that Assent speaks with servers. */
const served = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/** The scenarios of the extension for skills. No revision requires them. */
const skills = [
  "sep-2640-skills-enumeration",
  "sep-2640-skills-manifest",
  "sep-2640-skills-directory",
];

/** Runs the required scenarios of each revision, and those of skills; throws at the end when one did not pass. */
export async function runGatewayScenarios(revisions: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "assent-conformance-"));
  try {
    const program = join(folder, "everything-server");
    await run("go", ["build", "-o", program, upstream], { env: { CGO_ENABLED: "0" } });
    const failed: string[] = [];
    for (const revision of revisions) {
      const own = join(folder, revision);
      const { passed, required, log } = await runRevision(revision, program, own);
      if (passed < required) {
        console.log(log);
        failed.push(revision);
      }
      console.log(`${revision}: ${passed} of ${required} scenarios pass through the gateway`);
    }
    failed.push(...(await runSkills(join(folder, "skills"))));
    const servers = new Map([["of its own SDK", [serverEverything, "stdio"]]]);
    for (const revision of served) servers.set(`of ${revision}`, [revisionServer, revision]);
    for (const [server, args] of servers) {
      const entry = { command: process.execPath, args };
      await throughGateway(join(folder, server), entry, useEachMethod);
      console.log(`MCP's client for TypeScript uses each method of a server ${server}`);
    }
    if (failed.length > 0) {
      throw new Error(`conformance: the gateway failed in ${failed.join(", ")}`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs the required scenarios of a revision with a daemon and a server of their own. */
async function runRevision(revision: string, program: string, folder: string) {
  const server = await startServer(program, revision < "2026");
  try {
    return await throughGateway(folder, { type: "http", url: server.url }, async (target) => {
      const { log } = await runSuite(["server", "--url", target, "--requirements", revision]);
      const all = await listScenarios(revision, "server");
      const scored = all.filter((scenario) => scenario.scored);
      const summary = log.slice(log.lastIndexOf("=== SUMMARY ==="));
      const passed = scored.filter(({ name }) => summary.includes(`✓ ${name}: `));
      return { passed: passed.length, required: scored.length, log };
    });
  } finally {
    await stopGroup(server.process);
  }
}

/** Runs the scenarios of skills with a server of one skill, and returns those that did not pass. Each check has to be made. */
async function runSkills(folder: string): Promise<string[]> {
  const port = await freePort();
  const server = skillsServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  try {
    const entry = { type: "http", url: `http://127.0.0.1:${port}/` };
    return await throughGateway(folder, entry, async (target) => {
      const wrong: string[] = [];
      for (const scenario of skills) {
        const options = ["--spec-version", "2026-07-28", "--force"];
        const checks = await runServerScenario(
          scenario,
          target,
          join(folder, scenario),
          ...options,
        );
        const { passed } = divided(checks);
        console.log(
          `${scenario}: ${passed.length} of ${checks.length} checks pass through the gateway`,
        );
        const others = checks.filter((check) => !passed.includes(check));
        for (const { id, status, errorMessage } of others) {
          console.log(`       ${id}: ${status}: ${errorMessage}`);
        }
        if (checks.length === 0 || others.length > 0) wrong.push(scenario);
      }
      return wrong;
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Puts a server behind a daemon of its own, and gives the address at which the suite reaches it. */
async function throughGateway<Result>(
  folder: string,
  everything: object,
  use: (target: string) => Promise<Result>,
): Promise<Result> {
  const workspace = join(folder, "workspace");
  await mkdir(join(workspace, ".vscode"), { recursive: true });
  const options = {
    cwd: workspace,
    env: { ASSENT_DAEMON_DIR: join(folder, "daemon"), XDG_CONFIG_HOME: folder },
  };
  let proxy: Server | undefined;
  try {
    const servers = { everything };
    await writeFile(join(workspace, ".vscode", "mcp.json"), JSON.stringify({ servers }));
    const flags = ["--server", "everything", "--trust", "--answer-in", "host"];
    const added = await output(sidecarBinary, ["hosts", "add", "suite", ...flags], options);
    const [, address, token] =
      /^URL +(\S+)\nHeader +Authorization: Bearer (\S+)$/m.exec(added) ?? [];
    if (address === undefined || token === undefined) throw new Error(`assent hosts add: ${added}`);
    const port = await freePort();
    proxy = addingToken(new URL(address), token, port).listen(port, "127.0.0.1");
    await once(proxy, "listening");
    return await use(`http://127.0.0.1:${port}/`);
  } finally {
    proxy?.closeAllConnections();
    proxy?.close();
    await output(sidecarBinary, ["daemon", "stop", "--force"], options);
  }
}

/** Starts go-sdk's server. It serves legacy hosts with sessions or modern ones without, and not both. */
async function startServer(
  program: string,
  legacy: boolean,
): Promise<{ readonly process: ChildProcess; readonly url: string }> {
  const port = await freePort();
  const args = [`-stateless=${!legacy}`, "-http", `127.0.0.1:${port}`];
  const process = spawn(program, args, { stdio: "ignore", detached: true });
  const url = `http://127.0.0.1:${port}/`;
  await eventually(`an answer from ${url}`, async () => {
    if (process.exitCode !== null) throw new Error("the conformance server ended");
    try {
      return await fetch(url, { method: "DELETE" });
    } catch {
      return undefined; // it does not listen yet
    }
  });
  return { process, url };
}

/**
 * A proxy that adds a host's token, which the suite cannot send. In the headers that Assent checks, its own address becomes
 * Assent's; any other stays.
 */
function addingToken(to: URL, token: string, port: number): Server {
  const own = new RegExp(`(127\\.0\\.0\\.1|localhost):${port}`);
  return createServer((incoming, response) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    for (const name of ["host", "origin"] as const) {
      const value = headers[name];
      if (value !== undefined) headers[name] = value.replace(own, to.host);
    }
    const { method } = incoming;
    const forwarded = request(to, { ...(method && { method }), headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
}
