import type { AttachedFile, SendChatParams, TaskSettings } from "@assent/protocol";
import type { PickedFile } from "@assent/protocol/host";
import type { Store } from "./store.ts";

/** What the chat needs of the task store. */
export interface TasksOfChat {
  readonly createTask: () => Promise<string>;
  readonly configureTask: (taskId: string, settings: TaskSettings) => Promise<void>;
}

export type ChatActions = ReturnType<typeof createChat>["actions"];

/** Sends messages to a task's model, and reads attached files. */
export function createChat(store: Store, { createTask, configureTask }: TasksOfChat) {
  const { request, attempt } = store;
  return {
    actions: {
      /**
       * Sends a message to the model of the open task. If no task is open, it creates one with these settings. Resolves
       * when the message is stored. Rejects with an {@link RpcError} if it is not.
       */
      async sendChat(
        params: Omit<SendChatParams, "taskId">,
        settings?: TaskSettings,
      ): Promise<void> {
        const open = store.state.conversation;
        // A closed task is read-only.
        const taskId =
          open === undefined || open.task?.closed === true ? await createTask() : open.taskId;
        if (taskId !== open?.taskId && settings !== undefined) {
          await configureTask(taskId, settings);
        }
        await request("chat/send", { ...params, taskId });
      },
      stopChat: (taskId: string): void => attempt(() => request("chat/stop", { taskId })),
      /** Has the turn ask the model without the servers that it waits for. */
      skipServers: (taskId: string): void => attempt(() => request("chat/skipServers", { taskId })),
      /** Asks the model again. Its new message replaces the last one. */
      retryChat: (taskId: string): void => attempt(() => request("chat/retry", { taskId })),
      unqueueChat: (taskId: string, queuedId: string): void =>
        attempt(() => request("chat/unqueue", { taskId, queuedId })),
      /** Lets the person choose files. Only for a host with `picksFiles`. */
      async pickFiles(): Promise<readonly PickedFile[]> {
        return (await request("host/pickFiles")).files;
      },
      /** Reads a file that was dragged from VS Code. Only for a host with `picksFiles`. */
      readFile: (uri: string): Promise<PickedFile> => request("host/readFile", { uri }),
      /** Has the host store an attachment that is not sent yet. Resolves to its id when it is on disk. */
      async keepFile(file: AttachedFile): Promise<string> {
        return (await request("host/keepFile", file)).id;
      },
      /** Reads a file that the host stores; undefined if it is gone. */
      async keptFile(id: string): Promise<AttachedFile | undefined> {
        return (await request("host/keptFile", { id })).file;
      },
      forgetFiles: (ids: readonly string[]): void =>
        attempt(() => request("host/forgetFiles", { ids })),
    },
  };
}
