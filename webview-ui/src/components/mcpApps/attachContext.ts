import type { ViewStateStore } from "../../view/viewState.ts";

/** The app that gives a context. */
export interface AppOfCall {
  readonly taskId: string;
  readonly messageId: number;
  readonly serverName: string;
  readonly toolName: string;
}

/**
 * Attaches the context that an app gives the model to the person's next message, in place of the earlier one. The person
 * sees it there and can remove it. Undefined removes it.
 */
export function attachContext(
  view: ViewStateStore,
  app: AppOfCall,
  text: string | undefined,
): void {
  const draft = `composer:${app.taskId}`;
  const name = `context of ${app.serverName}'s app ${app.toolName} (${app.messageId})`;
  const others = view.attached(draft).filter((one) => one.kind === "resource" || one.name !== name);
  if (text === undefined) {
    view.setAttached(draft, others);
    return;
  }
  const said = `The MCP app of ${app.serverName} wrote this, and not the user:\n\n${text}`;
  view.setAttached(draft, [
    ...others,
    {
      kind: "file",
      key: view.nextKey(),
      name,
      size: said.length,
      file: { name, content: { type: "text", text: said } },
      keptAs: undefined,
    },
  ]);
}
