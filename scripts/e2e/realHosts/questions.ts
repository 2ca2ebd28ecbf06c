import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Ask, AskResponse, OpenAsk, Outcome } from "@assent/protocol";
import { root } from "../../tools/lib/paths.ts";
import { eventually } from "../eventually.ts";
import type { FrontEnd } from "../frontEnd.ts";
import { onStage, type Stage } from "../stage.ts";
import { AgentModel, type Deed } from "./agentModel.ts";
import { installed, licensedAgents } from "./install.ts";
import { assent, throughDaemon, write } from "./journey.ts";
import { Pane } from "./pane.ts";

const program = join(root, "scripts", "testservers", "seats.mjs");
const title = "Claude Code in workspace";

/** What its own prompt says, which has to be open while a card is. */
const nativePrompt = "Do you want to proceed?";

/** A machine with Claude Code, its hooks, and a window of Assent. */
export interface Machine {
  readonly stage: Stage;
  readonly model: AgentModel;
  readonly frontEnd: FrontEnd;
  readonly workspace: string;
  /** The terminals that were opened. */
  readonly panes: Pane[];
}

/** Sets a machine up, and plays with it. */
export async function withClaude(play: (machine: Machine) => Promise<void>): Promise<void> {
  await onStage("assent-claude-", async (stage) => {
    const model = await AgentModel.start();
    stage.atEnd(() => model.stop());
    const frontEnd = await stage.frontEnd("the test of agents", "data", {
      servers: {},
      model: { provider: "demo" },
    });
    const workspace = join(stage.folder, "workspace");
    await mkdir(workspace);
    await mkdir(join(stage.home, ".claude"));
    await assent(stage, "setup", "--hook", "--yes");
    await throughDaemon(stage);
    const env = { ASSENT_TEST_FOLDER: stage.folder };
    const seats = { command: process.execPath, args: [program], env };
    const trusted = { [workspace]: { hasTrustDialogAccepted: true } };
    const own = { hasCompletedOnboarding: true, projects: trusted, mcpServers: { seats } };
    await write(join(stage.home, ".claude.json"), JSON.stringify(own));
    // A push is a line in a file.
    const git = `#!/bin/sh\n[ "$1" != push ] || echo "$@" >> '${join(workspace, "pushed")}'\n`;
    await write(join(stage.folder, "tools", "git"), git, 0o755);
    const panes: Pane[] = [];
    return {
      frontEnd,
      play: async () => {
        try {
          await play({ stage, model, frontEnd, workspace, panes });
        } finally {
          for (const pane of panes) await pane.close();
        }
      },
    };
  });
}

/** Claude Code in a terminal, at a prompt. */
class Session {
  static #count = 0;
  readonly #machine: Machine;
  readonly #prompt: string;
  readonly pane: Pane;

  private constructor(machine: Machine, prompt: string, pane: Pane) {
    this.#machine = machine;
    this.#prompt = prompt;
    this.pane = pane;
  }

  static async start(
    machine: Machine,
    deed: Deed,
    mode = "default",
    ...flags: readonly string[]
  ): Promise<Session> {
    const { stage, model, workspace, panes } = machine;
    const prompt = model.will(deed);
    Session.#count += 1;
    const environment = {
      // Nothing of this process's own, which may have an account.
      ...stage.environment,
      PATH: [join(stage.folder, "tools"), dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_AUTH_TOKEN: "x",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      ENABLE_TOOL_SEARCH: "false",
    };
    const claude = installed(licensedAgents, "@anthropic-ai", "claude-code-linux-x64", "claude");
    const pane = await Pane.open(stage, `tty${Session.#count}`, workspace, environment, [
      ...[claude, "--permission-mode", mode, ...flags, prompt],
    ]);
    panes.push(pane);
    return new Session(machine, prompt, pane);
  }

  /** Waits for its question in Assent. */
  async asks(): Promise<OpenAsk> {
    try {
      return await this.#machine.frontEnd.othersAsk();
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await this.pane.screen()}`);
    }
  }

  /** Waits until the model was told of the use, and returns that. */
  async told(): Promise<string> {
    return await eventually(`the result of "${this.#prompt}"`, async () =>
      this.#machine.model.told.get(this.#prompt),
    );
  }
}

/** A session with a command that makes a file. */
async function touching(machine: Machine, name: string, mode?: string): Promise<Session> {
  const input = { command: `touch ${name}`, description: "A harmless look" };
  return await Session.start(machine, { tool: "Bash", input }, mode);
}

async function respond(
  { frontEnd }: Machine,
  { taskId, askId }: OpenAsk,
  askResponse: AskResponse,
  more: object = {},
): Promise<void> {
  await frontEnd.request("askResponse", { taskId, askId, askResponse, ...more });
}

/** The question as it is now. */
async function askNow({ frontEnd }: Machine, { taskId, askId }: OpenAsk): Promise<Ask> {
  const { messages = [] } = await frontEnd.request("task/open", { taskId });
  for (const { body } of messages) if (body.type === "ask" && body.askId === askId) return body;
  throw new Error(`there is no ask ${askId}`);
}

/** Waits until a question has an outcome, and until that is as it says. */
async function outcome(
  machine: Machine,
  ask: OpenAsk,
  is: (outcome: Outcome, ask: Ask) => boolean = () => true,
): Promise<Outcome> {
  let last: Ask | undefined;
  try {
    return await eventually("the outcome", async () => {
      last = await askNow(machine, ask);
      return last.outcome !== undefined && is(last.outcome, last) ? last.outcome : undefined;
    });
  } catch (error) {
    throw new Error(`${(error as Error).message}: ${JSON.stringify(last)}`);
  }
}

/** No card is left, and every other answer to the question is refused. */
async function isOver(machine: Machine, ask: OpenAsk): Promise<void> {
  const { asks = [] } = await machine.frontEnd.request("ask/list", undefined);
  assert.deepEqual(
    asks.filter(({ askId }) => askId === ask.askId),
    [],
    "a card is stale",
  );
  await assert.rejects(respond(machine, ask, "yesButtonClicked"), "it is answered twice");
}

const made = ({ workspace }: Machine, name: string) => existsSync(join(workspace, name));

/** The panel is first: with a yes, and with a no that has words. */
export async function panelFirst(machine: Machine): Promise<void> {
  const yes = await touching(machine, "panel-yes");
  const ask = await yes.asks();
  assert.deepEqual([ask.title, ask.text], [title, "touch panel-yes"]);
  await yes.pane.shows(nativePrompt);
  assert.ok(!made(machine, "panel-yes"), "it ran before an answer");
  await respond(machine, ask, "yesButtonClicked");
  await yes.told();
  assert.ok(made(machine, "panel-yes"));
  const { reason } = await outcome(machine, ask, (_, { delivered }) => delivered === true);
  assert.equal(reason, "answered");
  await isOver(machine, ask);
  await yes.pane.close();

  const no = await touching(machine, "panel-no");
  const second = await no.asks();
  await respond(machine, second, "noButtonClicked", { permission: { message: "use mktemp" } });
  assert.match(await no.told(), /use mktemp/);
  await no.pane.shows("It is done.");
  assert.ok(!made(machine, "panel-no"));
  const declined = await outcome(machine, second, (_, { delivered }) => delivered === true);
  assert.deepEqual([declined.reason, declined.undelivered], ["declined", undefined]);
  await isOver(machine, second);
  await no.pane.close();
}

/** The terminal is first: with a yes, and with Escape. */
export async function terminalFirst(machine: Machine): Promise<void> {
  const yes = await touching(machine, "terminal-yes");
  const ask = await yes.asks();
  await yes.pane.shows(nativePrompt);
  await yes.pane.press("1");
  await yes.told();
  assert.ok(made(machine, "terminal-yes"));
  assert.equal((await outcome(machine, ask)).reason, "answeredInHost");
  await isOver(machine, ask);
  await yes.pane.close();

  const no = await touching(machine, "terminal-no");
  const second = await no.asks();
  await no.pane.shows(nativePrompt);
  await no.pane.press("Escape");
  assert.equal((await outcome(machine, second)).reason, "hostStoppedWaiting");
  assert.ok(!made(machine, "terminal-no"));
  await isOver(machine, second);
  await no.pane.close();
}

/** Both at once, some times: the file is there if a yes counted, and the card says the truth. */
export async function bothAtOnce(machine: Machine): Promise<void> {
  for (const response of ["yesButtonClicked", "noButtonClicked"] as const) {
    for (let round = 0; round < 4; round++) {
      const name = `both-${response}-${round}`;
      const session = await touching(machine, name);
      const ask = await session.asks();
      await session.pane.shows(nativePrompt);
      const answers = [
        () => respond(machine, ask, response).catch(() => undefined), // the terminal was first
        () => session.pane.press("1"),
      ];
      if (round % 2 === 1) answers.reverse();
      await Promise.all(answers.map((answer) => answer()));
      await session.told();
      await session.pane.shows("It is done.");
      const ended = await outcome(
        machine,
        ask,
        ({ reason, undelivered }, { delivered }) =>
          reason === "answeredInHost" || delivered === true || undelivered !== undefined,
      );
      const said = `${ended.reason}${ended.undelivered === undefined ? "" : ", without effect"}`;
      const may = made(machine, name)
        ? ["answeredInHost", "answered", "declined, without effect"]
        : ["declined"];
      assert.ok(may.includes(said), `${name}: ${said}`);
      await isOver(machine, ask);
      await session.pane.close();
    }
  }
}

/** Nobody answers: nothing runs, the prompt stays, and the card goes with the terminal. */
export async function neither(machine: Machine): Promise<void> {
  const session = await touching(machine, "neither");
  const ask = await session.asks();
  await session.pane.shows(nativePrompt);
  await session.pane.close();
  assert.equal((await outcome(machine, ask)).reason, "hostStoppedWaiting");
  assert.ok(!made(machine, "neither"));
  await isOver(machine, ask);
}

/** Assent is killed while a question is open: the native prompt counts, and after it there are cards again. */
export async function withoutAssent(machine: Machine): Promise<void> {
  const session = await touching(machine, "without");
  await session.asks();
  await session.pane.shows(nativePrompt);
  await machine.frontEnd.kill();
  await session.pane.shows(nativePrompt);
  assert.ok(!made(machine, "without"), "the end of Assent allowed it");
  await session.pane.press("1");
  await session.told();
  assert.ok(made(machine, "without"));
  await session.pane.close();
  const alone = await touching(machine, "alone");
  await alone.pane.shows(nativePrompt);
  await alone.pane.press("1");
  await alone.told();
  await alone.pane.close();
  await machine.frontEnd.start();
}

const colours = {
  tool: "AskUserQuestion",
  input: {
    questions: [
      {
        question: "Which colour?",
        header: "Colour",
        multiSelect: false,
        options: [
          { label: "Red", description: "as the sky in the evening" },
          { label: "Blue", description: "as the sea" },
        ],
      },
    ],
  },
};

/** A question with choices is a form, answered in the panel, and in the terminal. */
export async function questions(machine: Machine): Promise<void> {
  const first = await Session.start(machine, colours);
  const ask = await first.asks();
  assert.equal(ask.text, "Which colour?");
  await first.pane.shows("Red");
  await respond(machine, ask, "yesButtonClicked", { elicitationContent: { question1: "Blue" } });
  assert.match(await first.told(), /Blue/);
  const { reason } = await outcome(machine, ask, (_, { delivered }) => delivered === true);
  assert.equal(reason, "answered");
  await isOver(machine, ask);
  await first.pane.close();

  const second = await Session.start(machine, colours);
  const other = await second.asks();
  await second.pane.shows("Red");
  await second.pane.press("Enter");
  assert.match(await second.told(), /Red/);
  // Claude Code ends the hook before it says that it was answered.
  const reasons = ["answeredInHost", "hostStoppedWaiting"];
  assert.ok(reasons.includes((await outcome(machine, other)).reason));
  await isOver(machine, other);
  await second.pane.close();
}

/** A plan is shown, and approved in the panel or refused there. */
export async function plans(machine: Machine): Promise<void> {
  for (const response of ["yesButtonClicked", "noButtonClicked"] as const) {
    const deed = { tool: "ExitPlanMode", input: {}, plan: "# The plan\n\nTouch a file.\n" };
    const session = await Session.start(machine, deed, "plan");
    const ask = await session.asks();
    const { question } = await askNow(machine, ask);
    assert.ok(question.type === "host_permission" && question.plan?.includes("Touch a file."));
    await respond(machine, ask, response);
    const told = await session.told();
    assert.equal(/approved/i.test(told), response === "yesButtonClicked", told);
    const { reason } = await outcome(machine, ask, (_, { delivered }) => delivered === true);
    assert.equal(reason, response === "yesButtonClicked" ? "answered" : "declined");
    await isOver(machine, ask);
    await session.pane.close();
  }
}

/** A server that Claude Code starts itself asks: in the panel, and after that in the terminal. */
export async function forms(machine: Machine): Promise<void> {
  const deed = { tool: "mcp__seats__book", input: {} };
  const allowed = ["--allowedTools", "mcp__seats__book", "--"];
  const first = await Session.start(machine, deed, "default", ...allowed);
  const ask = await first.asks();
  assert.equal(ask.text, "Which seat do you want on the flight to Lisbon?");
  await respond(machine, ask, "yesButtonClicked", { elicitationContent: { seat: "12C" } });
  assert.match(await first.told(), /accept.*12C/);
  assert.equal((await outcome(machine, ask)).reason, "answered");
  await isOver(machine, ask);
  await first.pane.close();

  const second = await Session.start(machine, deed, "default", ...allowed);
  const other = await second.asks();
  await respond(machine, other, "cancelButtonClicked");
  await second.pane.shows("Which seat do you want");
  await isOver(machine, other);
  await second.pane.press("Escape");
  assert.doesNotMatch(await second.told(), /accept/);
  await second.pane.close();
}

/** In auto mode a rule has Claude Code ask, however the line is written, and all else goes on without a question. */
export async function rules(machine: Machine): Promise<void> {
  const { frontEnd, workspace } = machine;
  const { ruleId } = await frontEnd.request("askFirst/add", { command: "git push" });
  await mkdir(join(workspace, "sub"), { recursive: true });
  const free = await touching(machine, "free", "auto");
  await free.told();
  assert.ok(made(machine, "free"));
  const { asks = [] } = await frontEnd.request("ask/list", undefined);
  assert.deepEqual(asks, [], "a question without a rule for it");
  await free.pane.close();
  const lines = ["git push", "cd sub && git push", "sh -c 'git push'"];
  for (const command of lines) {
    const deed = { tool: "Bash", input: { command, description: "A harmless look" } };
    const session = await Session.start(machine, deed, "auto");
    const ask = await session.asks();
    assert.equal(ask.text, command);
    await session.pane.shows(nativePrompt);
    assert.ok(!made(machine, "pushed"), `${command} ran before an answer`);
    await respond(machine, ask, "noButtonClicked");
    await session.told();
    assert.ok(!made(machine, "pushed"), `${command} ran after a no`);
    await session.pane.close();
  }
  const deed = { tool: "Bash", input: { command: "git push", description: "A harmless look" } };
  const session = await Session.start(machine, deed, "auto");
  await respond(machine, await session.asks(), "yesButtonClicked");
  await session.told();
  assert.equal(await readFile(join(workspace, "pushed"), "utf8"), "push\n");
  await rm(join(workspace, "pushed"));
  await session.pane.close();
  await frontEnd.request("askFirst/remove", { ruleId });
}
