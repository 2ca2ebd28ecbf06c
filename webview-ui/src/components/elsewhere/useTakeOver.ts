import { useState } from "react";
import type { Actions } from "../../session.ts";
import type { Conversation } from "../../state/state.ts";
import type { AwayTask } from "./ElsewhereContext.ts";

/** Where the open task is, while it is not here; until it is wholly here, where that is under way. */
export function useTakeOver(
  conversation: Conversation | undefined,
  actions: Pick<Actions, "takeOver">,
): AwayTask | undefined {
  const [taking, setTaking] = useState<Pick<AwayTask, "elsewhere"> & { readonly taskId: string }>();
  if (conversation === undefined) return undefined;
  const { taskId, task } = conversation;
  const isTaking = taking?.taskId === taskId;
  // A form begins with what was typed, which is read after the task is here.
  const elsewhere = isTaking ? taking.elsewhere : task?.elsewhere;
  if (elsewhere === undefined) return undefined;
  const take = async () => {
    setTaking({ taskId, elsewhere });
    await actions.takeOver(taskId);
    setTaking(undefined);
  };
  return { elsewhere, taking: isTaking, onContinue: () => void take() };
}
