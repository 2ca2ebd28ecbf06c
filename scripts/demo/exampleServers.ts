import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../tools/lib/command.ts";
import { distFolder, root } from "../tools/lib/paths.ts";

/** A server of an mcp.json. */
interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
}

const goServer = join(
  distFolder,
  process.platform === "win32" ? "example-server.exe" : "example-server",
);

/** The server of MCP tasks in one era of MCP or both. Its tasks are in the workspace, and outlive it. */
export function tasksServer(era: "legacy" | "both"): StdioServer {
  return {
    command: process.execPath,
    args: [
      join(root, "scripts", "testservers", "tasks.mjs"),
      "--era",
      era,
      "--store",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of mcp.json's.
      "${workspaceFolder}/mcp-tasks",
    ],
  };
}

/** The server that samples, in one revision of MCP. */
export function samplingServer(version: string): StdioServer {
  const program = join(root, "scripts", "testservers", "sampling.mjs");
  return { command: process.execPath, args: [program, "--era", version] };
}

/** The smart database: its users and its tasks are in the workspace, and outlive it. */
const smartDatabase: StdioServer = {
  command: process.execPath,
  args: [
    join(root, "scripts", "testservers", "smart-database.mjs"),
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of mcp.json's.
    ...["--database", "${workspaceFolder}/users.db"],
    ...["--store", "${workspaceFolder}/smart-database-tasks"],
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: variables of mcp.json's.
  ],
};

/** What the offline model can carry through with them. */
export const examplePrompts: readonly string[] = [
  "Clean up the users table: remove all inactive accounts",
  "How many users are inactive?",
  "What is sampling?",
];

/** The example servers of the demo and the end-to-end tests, by the names that people see. */
export const exampleServers = {
  "smart-database": smartDatabase,
  "test-elicitation": {
    command: process.execPath,
    args: [join(root, "scripts", "testservers", "elicitation.mjs")],
  },
  "test-tasks": tasksServer("both"),
  "go-example": { command: goServer },
} as const satisfies Record<string, StdioServer>;

/** Builds those of the example servers that need it. */
export async function buildExampleServers(): Promise<void> {
  await run("go", ["build", "-o", goServer, "./scripts/demo/example-server"]);
}

/**
 * Writes a workspace folder that configures the example servers, the way people write an mcp.json:
 * with comments, and commas after the last member.
 */
export async function writeExampleWorkspace(folder: string): Promise<void> {
  const servers = Object.entries(exampleServers).map(
    ([name, server]) => `    ${JSON.stringify(name)}: ${JSON.stringify(server)},\n`,
  );
  const text = `{
  // The example servers of Assent.
  "servers": {
${servers.join("")}  },
}
`;
  await mkdir(join(folder, ".vscode"), { recursive: true });
  await writeFile(join(folder, ".vscode", "mcp.json"), text);
}
