import * as vscode from "vscode";
import { chatTurn, type Stream, type TurnEnd, words } from "./chatTurn.ts";
import type { Sidecar } from "./sidecar.ts";

/** The id in the manifest. */
const participantId = "assent.chat";

/** The command behind a button of an answer. No menu has it. */
export const showInTaskCommand = "assent.showInTask";

/** What VS Code stores with an answer, for later answers. */
interface Metadata {
  readonly taskId: string;
  readonly reason?: TurnEnd["reason"];
}

/**
 * Takes part in VS Code's own chat as @assent. A chat there is a task in Assent, with the same model, servers and
 * questions. Does nothing if VS Code has no chat.
 */
export function registerChatParticipant(sidecar: Sidecar, icon: vscode.Uri): vscode.Disposable {
  // Some forks of VS Code have no chat.
  if (typeof vscode.chat?.createChatParticipant !== "function")
    return new vscode.Disposable(() => {});
  const participant = vscode.chat.createChatParticipant(
    participantId,
    async ({ prompt, references }, { history }, response, token) => {
      sidecar.start();
      const stream = streamOf(response);
      // VS Code adds the open file by itself, so only files that the person attached are mentioned.
      if (references.some(({ id }) => !id.startsWith("vscode.implicit"))) {
        stream.progress(
          vscode.l10n.t("Attachments are not sent here. Attach them in Assent's panel."),
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
    // VS Code shows a string as Markdown that can neither run commands nor contain HTML.
    markdown: (text) => response.markdown(text),
    progress: (text) => response.progress(words(text)),
    link: (title, taskId, messageId) =>
      response.button({ command: showInTaskCommand, title, arguments: [taskId, messageId] }),
  };
}

/** The task of Assent's last answer in this chat. */
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
