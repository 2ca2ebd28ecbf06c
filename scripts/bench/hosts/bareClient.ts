// A client of the TypeScript SDK alone, that answers every ask at once: the floor on Node.js. Its argument is a
// BareRuns in JSON, and it writes a BareResult for each run, in JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type CallToolResult, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { clientInfo, fail, longest } from "./host.ts";

interface BareRuns {
  readonly command: string;
  readonly args: string[];
  readonly tool: string;
  /** The arguments of each call of the tool. */
  readonly runs: readonly Record<string, unknown>[];
}

interface BareResult {
  /** What the tool returned. */
  readonly text: string;
  /** How long the client was on a CPU for it, in microseconds. */
  readonly cpu: number;
}

async function measure({ command, args, tool, runs }: BareRuns): Promise<BareResult[]> {
  const client = new Client(clientInfo, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: "accept" as const,
    content: { answer: "x" },
  }));
  await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
  const results: BareResult[] = [];
  for (const run of runs) {
    const before = process.cpuUsage();
    const called = (await client.callTool({ name: tool, arguments: run }, undefined, {
      timeout: longest,
    })) as CallToolResult;
    const { user, system } = process.cpuUsage(before);
    const [content] = called.content;
    if (called.isError || content?.type !== "text") throw new Error(JSON.stringify(called));
    results.push({ text: content.text, cpu: user + system });
  }
  await client.close();
  return results;
}

measure(JSON.parse(process.argv[2] ?? "") as BareRuns).then(
  (results) => process.stdout.write(JSON.stringify(results)),
  fail,
);
