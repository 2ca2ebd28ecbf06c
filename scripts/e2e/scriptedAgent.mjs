// A coding agent that asks for permissions as Claude Code does: its prompt is open in the terminal while its hook runs, the
// first answer counts, and it says nothing of an answer in the terminal. Arguments: the program of Assent, and the commands
// to ask for.
import { spawn } from "node:child_process";
import { appendFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const [assent, ...commands] = process.argv.slice(2);
const common = { session_id: "agent-1", cwd: process.cwd(), permission_mode: "default" };

/** Runs the hook for an event, and returns it with the promise of its output. */
function hook(event, more) {
  const env = { ...process.env, CLAUDE_CODE_SESSION_ID: common.session_id };
  const child = spawn(assent, ["hook", "claude"], { env, stdio: ["pipe", "pipe", "inherit"] });
  const printed = new Promise((resolve) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
    });
    child.on("close", () => resolve(text));
  });
  child.stdin.end(JSON.stringify({ ...common, hook_event_name: event, ...more }));
  return { child, printed };
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let typed = lines.next();
for (const [index, command] of commands.entries()) {
  const use = {
    prompt_id: `p${index}`,
    tool_name: "Bash",
    tool_input: { command, description: "A harmless look around" },
  };
  process.stdout.write(`May it run ${command}? Type yes or no.\n`);
  const { printed } = hook("PermissionRequest", use);
  // Without a decision, the hook says nothing, and the terminal's answer counts.
  const decided = printed.then((text) => (text === "" ? new Promise(() => {}) : text));
  const answer = await Promise.race([
    decided.then((text) => JSON.parse(text).hookSpecificOutput.decision.behavior),
    typed.then(({ value }) => {
      typed = lines.next();
      return value === "yes" ? "allowed in the terminal" : "refused in the terminal";
    }),
  ]);
  await appendFile("agent.log", `${command}: ${answer}\n`);
  process.stdout.write(`${command}: ${answer}\n`);
  if (answer.startsWith("allow")) await hook("PostToolUse", use).printed;
}
await appendFile("agent.log", "done\n");
process.exit();
