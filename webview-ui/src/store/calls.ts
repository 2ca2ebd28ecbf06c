import type {
  CallResult,
  CheckFormParams,
  CompleteParams,
  CompleteResult,
  FieldProblem,
  StartCallParams,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { messageOf } from "../link/client.ts";
import { set } from "./state.ts";
import type { Store } from "./store.ts";
import { takesCalls } from "./tasks.ts";

/** The example server, as `sidecar/config` names it, and its tool. */
const exampleServer = "example-server";
const exampleTool = "plan_lunch";

export type CallsActions = ReturnType<typeof createCalls>["actions"];

export function createCalls(store: Store, createTask: () => Promise<string>) {
  const { request, attempt } = store;

  async function tryExampleServer(): Promise<void> {
    await request("host/setExampleServer", { added: true });
    const open = store.state.conversation;
    const taskId =
      takesCalls(open) && open.task !== undefined && open.messages.length === 0
        ? open.taskId
        : await createTask();
    const call = { type: "tools/call", toolName: exampleTool, arguments: {} } as const;
    await request("call/start", { taskId, serverName: exampleServer, request: call });
  }

  /** Waits for the end of a call while its task is open here. */
  function endOf(taskId: string, messageId: number): Promise<CallResult> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const { conversation } = store.state;
        const body = conversation?.messages.find(({ id }) => id === messageId)?.body;
        if (conversation?.taskId !== taskId) {
          unsubscribe();
          reject(new Error(l10n.t("Another task was opened before the resource was read.")));
        } else if (body?.type === "call" && body.result !== undefined) {
          unsubscribe();
          resolve(body.result);
        }
      };
      const unsubscribe = store.subscribe(look);
      look();
    });
  }

  return {
    actions: {
      /** Sends a request to a server in the open task. If no task is open, it creates one. */
      async startCall(params: Omit<StartCallParams, "taskId">): Promise<void> {
        const taskId = store.state.conversation?.taskId ?? (await createTask());
        await request("call/start", { ...params, taskId });
      },
      /** Resolves to whether the sidecar accepted it. If not, the person is told. */
      async cancelCall(taskId: string, messageId: number): Promise<boolean> {
        try {
          await request("call/cancel", { taskId, messageId });
          return true;
        } catch (error) {
          store.update(set({ failure: messageOf(error) }));
          return false;
        }
      },
      /** Runs the equal call that joined a call on its own. Resolves to whether the sidecar accepted it. */
      async runSeparately(taskId: string, messageId: number): Promise<boolean> {
        try {
          await request("call/runSeparately", { taskId, messageId });
          return true;
        } catch (error) {
          store.update(set({ failure: messageOf(error) }));
          return false;
        }
      },
      /** Reads a resource in the open task. Resolves to the call once it succeeded; rejects if it failed. */
      async readResource(serverName: string, uri: string): Promise<number> {
        const taskId = store.state.conversation?.taskId;
        if (taskId === undefined) {
          throw new Error(l10n.t("Open a task first: a resource is read in one."));
        }
        const params = { taskId, serverName, request: { type: "resources/read", uri } } as const;
        const { messageId } = await request("call/start", params);
        const result = await endOf(taskId, messageId);
        if (result.type === "result" && result.isError !== true) return messageId;
        throw new Error(`${uri} of ${serverName} could not be read: its call says why.`);
      },
      /** Requests suggestions for an argument from a server. Rejects with an {@link RpcError} if it has none. */
      complete: (params: CompleteParams, signal: AbortSignal): Promise<CompleteResult> =>
        request("completion/complete", params, { signal }),
      /** Finds the problems of a form. Rejects with an {@link RpcError} if the sidecar cannot check it. */
      async checkForm(
        params: CheckFormParams,
        signal: AbortSignal,
      ): Promise<readonly FieldProblem[]> {
        return (await request("ask/check", params, { signal })).problems ?? [];
      },
      /** Adds the example server and calls its tool: in the open task if that is empty, otherwise in a new one. */
      tryExampleServer: (): void => attempt(tryExampleServer),
    },
  };
}
