import * as vscode from "vscode";
import { chatTurn, type Stream, type TurnEnd, words } from "./chatTurn.ts";
import type { Sidecar } from "./sidecar.ts";

/** As the manifest has it. */
const participantId = "assent.chat";

/** The command behind a button of an answer. No menu has it. */
export const showInTaskCommand = "assent.showInTask";

/** What VS Code keeps of an answer, for those that follow. */
interface Metadata {
  readonly taskId: string;
  readonly reason?: TurnEnd["reason"];
}

/**
 * Takes part in VS Code's own chat, as @assent. A chat there is a task here, seen from another side: the
 * same model, servers and questions. Does nothing where VS Code has no chat.
 */
export function registerChatParticipant(sidecar: Sidecar, icon: vscode.Uri): vscode.Disposable {
  // Forks of VS Code leave it out.
  if (typeof vscode.chat?.createChatParticipant !== "function")
    return new vscode.Disposable(() => {});
  const participant = vscode.chat.createChatParticipant(
    participantId,
    async ({ prompt, references }, { history }, response, token) => {
      sidecar.start();
      const stream = streamOf(response);
      // VS Code adds the open file by itself; only what the person attached is worth a word.
      if (references.some(({ id }) => !id.startsWith("vscode.implicit"))) {
        stream.progress(
          vscode.l10n.t(
            "Attachments are not sent here. Attach them in Assent's panel.",
          ),
        );
      }
      const end = await chatTurn(sidecar, { text: prompt, taskId: taskOf(history) }, stream, token);
      return asResult(end);
    },
  );
  participant.iconPath = icon;
  participant.followupProvider = {
    provideFollowups: ({ metadata }) => followups(metadata as Metadata | undefined),
  };
  return participant;
}

function streamOf(response: vscode.ChatResponseStream): Stream {
  return {
    // A string is shown as Markdown that may neither run commands nor bring HTML.
    markdown: (text) => response.markdown(text),
    progress: (text) => response.progress(words(text)),
    link: (title, taskId, messageId) =>
      response.button({ command: showInTaskCommand, title, arguments: [taskId, messageId] }),
  };
}

/** The task in which the last answer of ours in this chat was given. */
function taskOf(history: vscode.ChatContext["history"]): string | undefined {
  for (const turn of history.toReversed()) {
    if (!(turn instanceof vscode.ChatResponseTurn) || turn.participant !== participantId) continue;
    const taskId: unknown = turn.result.metadata?.["taskId"];
    if (typeof taskId === "string") return taskId;
  }
  return undefined;
}

function asResult({ taskId, reason, problem }: TurnEnd): vscode.ChatResult {
  const metadata: Metadata = { taskId, ...(reason !== undefined && { reason }) };
  return {
    metadata,
    ...(problem !== undefined && { errorDetails: { message: words(problem) } }),
  };
}

function followups(metadata: Metadata | undefined): vscode.ChatFollowup[] {
  switch (metadata?.reason) {
    case "maxTokens":
    case "roundsLimit":
    case "stopped":
    case "interrupted":
      return [{ prompt: vscode.l10n.t("Go on."), label: vscode.l10n.t("Continue") }];
    default:
      return [];
  }
}
