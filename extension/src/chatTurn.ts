import type {
  Ask,
  Call,
  ChatProgressParams,
  Event,
  Message,
  ModelEnd,
  ModelMessage,
  TaskEventParams,
} from "@assent/protocol";
import { visible } from "@assent/protocol/visible";
import * as l10n from "@vscode/l10n";
import { oneLine } from "./previewText.ts";
import type { Sidecar } from "./sidecar.ts";

/** The part of VS Code's ChatResponseStream that is used here. */
export interface Stream {
  markdown(text: string): void;
  progress(text: string): void;
  /** Leads to a message of the task, in the panel. */
  link(title: string, taskId: string, messageId?: number): void;
}

/** A message that a person typed in VS Code's chat. */
export interface Prompt {
  readonly text: string;
  /** The task that the chat began with; undefined starts a new one. */
  readonly taskId: string | undefined;
}

/** How the turn ended. */
export interface TurnEnd {
  readonly taskId: string;
  /** Undefined if the message was queued behind another turn, which the panel shows. */
  readonly reason?: ModelEnd["reason"];
  /** A sentence for the person, if the model did not finish. */
  readonly problem?: string;
}

/** The part of a CancellationToken that is used here. */
interface Cancellation {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => unknown): { dispose(): void };
}

/**
 * Sends a message of VS Code's chat to the model of a task, and shows there what follows until the turn ends. It is the
 * same task as in the panel: the person answers its questions there, and they stay open if the person leaves the chat.
 */
export async function chatTurn(
  sidecar: Sidecar,
  prompt: Prompt,
  stream: Stream,
  token: Cancellation,
): Promise<TurnEnd> {
  const taskId = await openTask(sidecar, prompt.taskId, stream);
  const follower = new Follower(sidecar, taskId, stream);
  try {
    const sent = await sidecar.request("chat/send", { taskId, text: prompt.text });
    if (sent.messageId === undefined) {
      stream.markdown(
        l10n.t(
          "The model is working. Your message is queued, and the answer will be in the panel.",
        ),
      );
      stream.link(l10n.t("Open the Task"), taskId);
      return { taskId };
    }
    const stop = token.onCancellationRequested(() => void follower.stop());
    try {
      if (token.isCancellationRequested) void follower.stop();
      return await follower.follow(sent.messageId);
    } finally {
      stop.dispose();
    }
  } finally {
    follower.dispose();
  }
}

/** Returns the task of the chat, or a new one if that task has gone. */
async function openTask(
  sidecar: Sidecar,
  known: string | undefined,
  stream: Stream,
): Promise<string> {
  if (known !== undefined) {
    const { tasks = [] } = await sidecar.request("task/list", undefined);
    const task = tasks.find(({ id }) => id === known);
    if (task !== undefined && task.closed !== true) return known;
    stream.markdown(
      l10n.t("_This chat's task is closed or belongs to another workspace. A new task starts._"),
    );
    stream.markdown("\n\n");
  }
  const { id } = await sidecar.request("task/create", {});
  return id;
}

type Heard =
  | { readonly kind: "piece"; readonly piece: ChatProgressParams }
  | { readonly kind: "event"; readonly event: Event };

/** Listens before the message is sent, because events may arrive before the answer to `chat/send`. */
class Follower {
  readonly #sidecar: Sidecar;
  readonly #taskId: string;
  readonly #stream: Stream;
  readonly #unsubscribe: readonly (() => void)[];
  /** How much of each model message is shown, in characters. */
  readonly #shown = new Map<number, number>();
  readonly #end: Promise<TurnEnd>;
  #finish: (end: TurnEnd) => void = () => {};
  /** Events that arrived before the answer said which message began the turn. */
  #early: Heard[] | undefined = [];
  #after = 0;

  constructor(sidecar: Sidecar, taskId: string, stream: Stream) {
    this.#sidecar = sidecar;
    this.#taskId = taskId;
    this.#stream = stream;
    this.#end = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#unsubscribe = [
      sidecar.onNotification((method, params) => {
        if (method === "chat/progress") {
          const piece = params as ChatProgressParams;
          if (piece.taskId === taskId) this.#hear({ kind: "piece", piece });
        } else if (method === "task/event") {
          const { taskId: of, event } = params as TaskEventParams;
          if (of === taskId) this.#hear({ kind: "event", event });
        }
      }),
      sidecar.onStatus(({ state }) => {
        if (state !== "running") this.#fail(l10n.t("Assent stopped before the model was done."));
      }),
    ];
  }

  /** Shows what follows a message. Resolves when the turn has ended. */
  async follow(messageId: number): Promise<TurnEnd> {
    this.#after = messageId;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const heard of early) this.#show(heard);
    return await this.#end;
  }

  async stop(): Promise<void> {
    try {
      const { stopped } = await this.#sidecar.request("chat/stop", { taskId: this.#taskId });
      if (!stopped) this.#finish({ taskId: this.#taskId, reason: "stopped" });
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  dispose(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #fail(problem: string): void {
    this.#finish({ taskId: this.#taskId, reason: "failed", problem });
  }

  #hear(heard: Heard): void {
    if (this.#early === undefined) this.#show(heard);
    else this.#early.push(heard);
  }

  #show(heard: Heard): void {
    if (heard.kind === "piece") {
      const { messageId, chunk } = heard.piece;
      if (messageId > this.#after) this.#write(messageId, chunk);
      return;
    }
    const { event } = heard;
    switch (event.type) {
      case "messageAdded":
        if (event.message.id > this.#after) this.#showMessage(event.message);
        return;
      case "modelMessageEnded":
        if (event.messageId > this.#after) this.#endMessage(event.messageId, event.modelMessage);
        return;
      case "taskChanged":
        if (event.task.awaits !== undefined) {
          const names = (event.task.awaits.serverNames ?? []).map(brief).join(", ");
          this.#stream.progress(l10n.t("Starting {0}", names));
        }
        return;
      case "toolUseFailed":
        if (event.messageId > this.#after) this.#stream.progress(oneLine(event.error));
        return;
      default: // asks, calls and the task list are shown in the panel
    }
  }

  #showMessage({ id, body }: Message): void {
    switch (body.type) {
      case "model":
        if (body.end !== undefined) this.#endMessage(id, body);
        return;
      case "call":
        this.#stream.progress(callInWords(body));
        return;
      case "ask":
        if (body.outcome !== undefined) return; // a grant or a setting has answered it
        this.#stream.markdown(`\n\n${askInWords(body)}\n\n`);
        this.#stream.link(l10n.t("Answer in Assent"), this.#taskId, id);
        return;
      case "notice":
        this.#stream.progress(oneLine(body.text));
        return;
      case "attachment":
      case "user": // the person continued in the panel
        return;
      default:
        body satisfies never;
    }
  }

  #write(messageId: number, text: string): void {
    const before = this.#shown.get(messageId) ?? 0;
    this.#shown.set(messageId, before + text.length);
    // Two messages of one turn are two paragraphs.
    if (before === 0 && this.#shown.size > 1) this.#stream.markdown("\n\n");
    if (text !== "") this.#stream.markdown(text);
  }

  #endMessage(messageId: number, { text = "", end }: ModelMessage): void {
    // Pieces may have come before this window listened, or the whole text came at once.
    const shown = this.#shown.get(messageId) ?? 0;
    if (shown < text.length) this.#write(messageId, text.slice(shown));
    if (end === undefined || end.reason === "toolUse") return;
    const { reason, detail } = end;
    const problem = reason === "endTurn" || reason === "stopped" ? undefined : detail;
    this.#finish({
      taskId: this.#taskId,
      reason,
      ...(problem !== undefined && problem !== "" && { problem }),
    });
  }
}

/** Describes a call on one line. */
function callInWords({ serverName, request }: Call): string {
  const server = brief(serverName);
  switch (request.type) {
    case "tools/call":
      return l10n.t("{0} runs {1}", server, brief(request.toolName));
    case "tasks/result":
      return l10n.t("{0} continues {1}", server, brief(request.mcpTaskId));
    case "resources/read":
      return l10n.t("{0} reads {1}", server, brief(request.uri));
    case "prompts/get":
      return l10n.t("{0} fills in {1}", server, brief(request.promptName));
    default:
      return request satisfies never;
  }
}

/** Says who asks, and what, in Markdown that shows foreign words as plain text. */
function askInWords({ question }: Ask): string {
  const server = `**${words(brief(question.serverName))}**`;
  switch (question.type) {
    case "mcp_elicitation":
      return quoting(
        l10n.t("{0} asks you to fill in a form:", server),
        question.elicitationRequest.message,
      );
    case "mcp_url_elicitation":
      return quoting(l10n.t("{0} asks you to open a page:", server), question.message);
    case "mcp_sampling":
      return l10n.t("{0} asks for a completion from a model.", server);
    case "mcp_sampling_review":
      return l10n.t("A model's answer to {0} waits for your review.", server);
    case "use_mcp_tool":
      if (question.fromApp === true) {
        return l10n.t(
          "An app wants to run **{0}** of {1}.",
          words(brief(question.tool.name)),
          server,
        );
      }
      return l10n.t(
        "The model wants to run **{0}** of {1}.",
        words(brief(question.tool.name)),
        server,
      );
    case "access_mcp_resource":
      return l10n.t("The model wants to read **{0}** of {1}.", words(brief(question.uri)), server);
    case "repeat_mcp_call":
      return quoting(l10n.t("A call of {0} failed. Call it again?", server), question.reason);
    case "host_permission":
      return quoting(
        l10n.t("{0} asks for your permission:", server),
        question.command ?? `${question.tool} ${question.input}`,
      );
    default:
      return question satisfies never;
  }
}

function quoting(sentence: string, quote: string): string {
  const line = words(brief(quote, 300));
  return line === "" ? sentence : `${sentence}\n\n> ${line}`;
}

/** The beginning of a server's text, on one line, with its hidden characters visible. */
function brief(text: string, longest = 100): string {
  const line = visible(oneLine(text));
  const characters = [...line];
  return characters.length > longest ? `${characters.slice(0, longest).join("")}…` : line;
}

/** Escapes a text, so that Markdown shows it unchanged. */
export function words(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~&$:@]/g, "\\$&");
}
