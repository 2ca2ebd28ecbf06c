// A model of what hosts do that grew out of a chat with one question at a time: there is one slot for the
// answer, an ask looks every 100 ms whether it is filled, one that is no longer the last is given up, and
// every change sends the whole conversation to the front end.
import { setTimeout as sleep } from "node:timers/promises";
import type { AskResponseParams } from "@assent/protocol";
import { accepted, askMessage, type HostMessage, serve } from "./host.ts";

/** How often an ask looks for its answer, in milliseconds. */
const interval = 100;

serve((tell) => {
  const messages: HostMessage[] = [];
  let slot: AskResponseParams | undefined;
  // A copy, because it is encoded later.
  const show = (taskId: string) => tell("state", { taskId, messages: [...messages] });
  return {
    async elicit(taskId, askId, question) {
      slot = undefined;
      const message = askMessage(messages.length, askId, question);
      messages.push(message);
      show(taskId);
      while (slot === undefined && messages.at(-1) === message) await sleep(interval);
      if (slot === undefined || messages.at(-1) !== message) {
        throw new Error("the ask was given up: there is a newer one");
      }
      const result = accepted(slot);
      messages[messages.length - 1] = { id: message.id, body: { type: "answered", result } };
      show(taskId);
      return result;
    },
    answer(params) {
      slot = params;
    },
  };
});
