// The best that a host within an editor's process can do: an ask is a promise, its message is sent once.
import type { AskResponseParams } from "@assent/protocol";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { accepted, askMessage, type HostMessage, serve } from "./host.ts";

serve((tell) => {
  const messages: HostMessage[] = [];
  const open = new Map<string, (result: ElicitResult) => void>();
  return {
    elicit(taskId, askId, question) {
      const message = askMessage(messages.length, askId, question);
      messages.push(message);
      tell("task/event", { taskId, event: { type: "messageAdded", message } });
      return new Promise((resolve) => open.set(askId, resolve));
    },
    answer(params: AskResponseParams) {
      open.get(params.askId)?.(accepted(params));
      open.delete(params.askId);
    },
  };
});
