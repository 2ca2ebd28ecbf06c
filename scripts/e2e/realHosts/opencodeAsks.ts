import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Ask, AskResponse, HostPermission, OpenAsk } from "@assent/protocol";
import { eventually } from "../eventually.ts";
import type { FrontEnd } from "../frontEnd.ts";
import { stopGroup } from "../processes.ts";
import { onStage, type Stage } from "../stage.ts";
import { installed, openHosts } from "./install.ts";
import { assent, throughDaemon, write } from "./journey.ts";
import { ScriptedModel } from "./scriptedModel.ts";

const command = "touch it";
const question = {
  question: "Which colour?",
  header: "Colour",
  options: [
    { label: "Red, warm", description: "warm" },
    { label: "Blue", description: "cold" },
  ],
};

/**
 * opencode asks by itself, and its plugin asks in Assent as well. A person answers in either first, in both at once, and in
 * neither. The terminal is opencode's server here. It has the same prompt.
 */
export async function opencodeAsks(): Promise<void> {
  await onStage("assent-opencode-", async (stage) => {
    const args = { command, description: "A harmless look" };
    const commands = await ScriptedModel.start({ tool: "bash", arguments: args });
    stage.atEnd(() => commands.stop());
    const questions = await ScriptedModel.start({
      tool: "question",
      arguments: { questions: [question] },
    });
    stage.atEnd(() => questions.stop());
    const frontEnd = await stage.frontEnd("the test of opencode", "data", {
      servers: {},
      model: { provider: "demo" },
    });
    return { frontEnd, play: () => played(stage, frontEnd, { commands, questions }) };
  });
}

type Models = Readonly<Record<"commands" | "questions", ScriptedModel>>;

async function played(stage: Stage, frontEnd: FrontEnd, models: Models): Promise<void> {
  const folder = join(stage.home, ".config", "opencode");
  await write(join(folder, "opencode.json"), configuration(models));
  await mkdir(join(stage.folder, "workspace"));
  await assent(stage, "setup", "--hook", "--yes");
  const plugin = join(folder, "plugin", "assent.js");
  assert.match(await readFile(plugin, "utf8"), /export const Assent/);
  await throughDaemon(stage);
  await frontEnd.request("askFirst/add", { command }); // opencode would allow it
  const opencode = await Opencode.start(stage);
  try {
    await inThePanel(opencode, frontEnd);
    await inTheTerminal(opencode, frontEnd);
    await inBoth(opencode, frontEnd);
    await withdrawn(opencode, frontEnd);
    await chosen(opencode, frontEnd);
    const last = await asked(opencode, frontEnd);
    opencode.kill();
    await over(frontEnd, last, "hostStoppedWaiting");
    assert.equal(existsSync(opencode.made), false, "what nobody allowed has run");
    for (const { problems } of Object.values(models)) assert.deepEqual(problems, []);
  } finally {
    await opencode.stop();
  }
  await assent(stage, "restore");
  assert.equal(existsSync(plugin), false, "the plugin stays");
}

/** A command is allowed in Assent, and runs. */
async function inThePanel(opencode: Opencode, frontEnd: FrontEnd): Promise<void> {
  const ask = await asked(opencode, frontEnd);
  assert.deepEqual([ask.title, ask.text], ["opencode in workspace", command]);
  const { question } = await shown(frontEnd, ask);
  assert.match((question as HostPermission).askFirst ?? "", /touch it/);
  await answer(frontEnd, ask, "yesButtonClicked");
  await opencode.ran();
  await eventually("opencode's word that it took the answer", async () => {
    return (await shown(frontEnd, ask)).delivered;
  });
}

/** A command is refused in opencode's own prompt, which ends the question in Assent. */
async function inTheTerminal(opencode: Opencode, frontEnd: FrontEnd): Promise<void> {
  const ask = await asked(opencode, frontEnd);
  await opencode.reply("reject");
  await over(frontEnd, ask, "answeredInHost");
  await assert.rejects(answer(frontEnd, ask, "yesButtonClicked"));
  assert.equal(existsSync(opencode.made), false, "what was refused has run");
}

/** A command is allowed in Assent and refused in the terminal at once: one of them counts, and Assent says which. */
async function inBoth(opencode: Opencode, frontEnd: FrontEnd): Promise<void> {
  const ask = await asked(opencode, frontEnd);
  await Promise.allSettled([answer(frontEnd, ask, "yesButtonClicked"), opencode.reply("reject")]);
  const ended = await eventually("what became of the question", async () => {
    const { outcome, delivered } = await shown(frontEnd, ask);
    if (outcome?.reason === "answeredInHost" || outcome?.undelivered !== undefined) return "no";
    return outcome?.reason === "answered" && delivered ? "yes" : undefined;
  });
  await opencode.done();
  assert.equal(existsSync(opencode.made), ended === "yes", `opencode was told ${ended}`);
  await rm(opencode.made, { force: true });
}

/** The turn is stopped while it asks. */
async function withdrawn(opencode: Opencode, frontEnd: FrontEnd): Promise<void> {
  const ask = await asked(opencode, frontEnd);
  await opencode.abort();
  await over(frontEnd, ask, "hostStoppedWaiting");
  assert.equal(existsSync(opencode.made), false, "what was stopped has run");
}

/** A question with choices is answered in Assent, and the model hears the choice. */
async function chosen(opencode: Opencode, frontEnd: FrontEnd): Promise<void> {
  await opencode.prompt("questions");
  const ask = await frontEnd.othersAsk();
  assert.equal(ask.text, question.question);
  await answer(frontEnd, ask, "yesButtonClicked", { question1: "Red, warm" });
  assert.match(await opencode.done(), /The tool returned: .*Red, warm/);
}

/** Has opencode's model run the command, and returns the question about that. */
async function asked(opencode: Opencode, frontEnd: FrontEnd): Promise<OpenAsk> {
  await opencode.prompt("commands");
  return await frontEnd.othersAsk();
}

async function answer(
  frontEnd: FrontEnd,
  { taskId, askId }: OpenAsk,
  askResponse: AskResponse,
  elicitationContent?: object,
): Promise<void> {
  const content = elicitationContent === undefined ? {} : { elicitationContent };
  await frontEnd.request("askResponse", { taskId, askId, askResponse, ...content });
}

/** The present state of a question. */
async function shown(frontEnd: FrontEnd, { taskId, askId }: OpenAsk): Promise<Ask> {
  const { messages = [] } = await frontEnd.request("task/open", { taskId });
  for (const { body } of messages) if (body.type === "ask" && body.askId === askId) return body;
  throw new Error(`the question ${askId} is not in its conversation`);
}

/** Waits until a question has ended without an answer in Assent. */
async function over(frontEnd: FrontEnd, ask: OpenAsk, reason: string): Promise<void> {
  const { outcome } = await eventually("the end of the question", async () => {
    const now = await shown(frontEnd, ask);
    return now.outcome === undefined ? undefined : now;
  });
  assert.equal(outcome?.reason, reason, outcome?.detail);
}

function configuration(models: Models): string {
  const provider = Object.entries(models).map(([name, { url }]) => [
    name,
    {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${url}/v1`, apiKey: "x" },
      models: { scripted: {} },
    },
  ]);
  return JSON.stringify({
    $schema: "https://opencode.ai/config.json",
    autoupdate: false,
    share: "disabled",
    model: "commands/scripted",
    permission: "allow",
    provider: Object.fromEntries(provider),
  });
}

/** The real opencode, with a session for each prompt. */
class Opencode {
  /** The file that the command makes. */
  readonly made: string;
  readonly #process: ChildProcess;
  readonly #url: string;
  #session = "";
  #answer: Promise<string> = Promise.resolve("");

  private constructor(process: ChildProcess, url: string, workspace: string) {
    this.#process = process;
    this.#url = url;
    this.made = join(workspace, "it");
  }

  static async start(stage: Stage): Promise<Opencode> {
    const workspace = join(stage.folder, "workspace");
    const program = installed(openHosts, "opencode-linux-x64-baseline", "bin", "opencode");
    const server = spawn(program, ["serve", "--port", "0"], {
      cwd: workspace,
      env: {
        PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
        ...stage.environment,
        ...{ OPENCODE_DISABLE_MODELS_FETCH: "1", npm_config_offline: "true" },
      },
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    let said = "";
    server.stdout.on("data", (text) => {
      said += text;
    });
    const url = await eventually("opencode's address", async () => {
      return /http:\/\/[\d.:]+/.exec(said)?.[0];
    });
    return new Opencode(server, url, workspace);
  }

  /** Writes to the model in a new session, without waiting for its answer. */
  async prompt(providerID: keyof Models): Promise<void> {
    this.#session = ((await this.#call("/session", {})) as { id: string }).id;
    const answer = this.#call(`/session/${this.#session}/message`, {
      model: { providerID, modelID: "scripted" },
      parts: [{ type: "text", text: "go" }],
    });
    this.#answer = answer.then(JSON.stringify, String);
  }

  /** Answers the open permission as opencode's terminal does. */
  async reply(reply: string): Promise<void> {
    const open = (await this.#call("/permission")) as { id: string; sessionID: string }[];
    const asked = open.find(({ sessionID }) => sessionID === this.#session);
    await this.#call(`/permission/${asked?.id}/reply`, { reply });
  }

  async abort(): Promise<void> {
    await this.#call(`/session/${this.#session}/abort`, {});
  }

  /** Waits for the end of the turn, and returns what the model said. */
  async done(): Promise<string> {
    return await this.#answer;
  }

  /** Waits until the command has run, and removes its file. */
  async ran(): Promise<void> {
    await this.done();
    assert.ok(existsSync(this.made), "what was allowed has not run");
    await rm(this.made);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    await stopGroup(this.#process);
  }

  async #call(path: string, body?: object): Promise<unknown> {
    const response = await fetch(this.#url + path, {
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      headers: { "Content-Type": "application/json" },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  }
}
