import type { Reveal } from "@assent/protocol/host";
import { type RefObject, useEffect, useRef } from "react";
import { unreachable } from "../../lib/unreachable.ts";
import {
  type AskPlace,
  isOnOlderPage,
  placeOfAsk,
  stepFrom,
  stopsOf,
} from "../../store/askOrder.ts";
import { openAsksOf } from "../../store/openAsks.ts";
import { isBeingRead } from "../../store/openTask.ts";
import type { Actions } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { otherTasksWaiting } from "../../store/tasks.ts";
import type { ChatHandle } from "../conversation/ChatView.tsx";
import { focusedAskId } from "../ui/focus.ts";

/** The pages that take the place of the task. At most one is shown. */
export type PageName = "openAsks" | "mcpTasks" | "policy" | "servers" | "setup";

/** The parts of the panel that can be revealed. */
export interface PanelHandles {
  readonly chat: RefObject<ChatHandle | null>;
  readonly askForRunner: (serverName: string | undefined) => void;
  readonly newTask: () => void;
  /** Adds a text to the composer. Reports whether there is a composer. */
  readonly insert: (text: string) => boolean;
  readonly show: (page: PageName, at?: string) => void;
  readonly isPageShown: boolean;
  /** Shows the task in place of a page. */
  readonly leavePages: () => void;
  readonly openMessage: (taskId: string, messageId: number) => void;
}

/** State that is kept between renders until something is in view. */
interface Memory {
  /** Another task was opened or created for this already. That happens once. */
  followed?: Reveal;
  /** An older page was requested for this. A failed page is not requested again. */
  paged?: { readonly reveal: Reveal; readonly oldest: number };
  /** The ask that the last step led to. */
  stepped?: AskPlace;
  /** The ask that had the focus last. */
  lastAsk?: string;
}

interface Scene {
  readonly state: State;
  readonly actions: Actions;
  readonly handles: PanelHandles;
  readonly memory: Memory;
}

/** Reveals what the host or a button asked for, as soon as it can be drawn. */
export function useReveal(state: State, actions: Actions, handles: PanelHandles): void {
  const memory = useRef<Memory>({}).current;
  useLastAsk(memory);
  useEffect(() => {
    const { reveal, sidecar, tasks, servers } = state;
    if (reveal === undefined || sidecar.state !== "running") return;
    if (tasks === undefined || servers === undefined) return;
    follow(reveal, { state, actions, handles, memory });
  });
}

/**
 * Remembers which ask had the focus last. VS Code takes the focus from the page to run a command, so during the command
 * no ask has it.
 */
function useLastAsk(memory: Memory): void {
  useEffect(() => {
    const onFocusIn = () => {
      const askId = focusedAskId();
      if (askId !== undefined) memory.lastAsk = askId;
    };
    document.addEventListener("focusin", onFocusIn);
    return () => document.removeEventListener("focusin", onFocusIn);
  }, [memory]);
}

/** Continues to reveal something. It is called after each render until that is in view. */
function follow(reveal: Reveal, scene: Scene): void {
  const { state, actions, handles } = scene;
  if (handles.isPageShown && isInTask(reveal)) {
    handles.leavePages();
    return; // what a page hides cannot have the focus
  }
  switch (reveal.kind) {
    case "newTask":
      actions.revealed();
      handles.newTask();
      return;
    case "exampleServer":
      actions.revealed();
      actions.tryExampleServer();
      return;
    case "task":
      actions.revealed();
      actions.openTask(reveal.taskId);
      return;
    case "toolRunner":
      actions.revealed();
      if (state.conversation?.task?.workspace !== undefined) actions.newTask();
      handles.askForRunner(reveal.serverName);
      return;
    case "openAsks":
    case "mcpTasks":
    case "setup":
      actions.revealed();
      handles.show(reveal.kind);
      return;
    case "policy":
      actions.revealed();
      handles.show("policy", reveal.grantId);
      return;
    case "servers":
      actions.revealed();
      handles.show("servers", reveal.serverName);
      return;
    case "draft":
      followDraft(reveal, scene);
      return;
    case "ask":
      followAsk(reveal, scene);
      return;
    case "nextAsk":
    case "previousAsk":
      followStep(reveal.kind === "nextAsk" ? "next" : "previous", scene);
      return;
    case "message":
      followMessage(reveal, scene);
      return;
    default:
      unreachable(reveal);
  }
}

function isInTask({ kind }: Reveal): boolean {
  switch (kind) {
    case "openAsks":
    case "mcpTasks":
    case "policy":
    case "servers":
    case "setup":
    case "nextAsk":
    case "previousAsk":
      return false;
    default:
      return true;
  }
}

function followDraft(reveal: Reveal & { kind: "draft" }, scene: Scene): void {
  const { state, actions, handles, memory } = scene;
  const { conversation } = state;
  if (isBeingRead(conversation)) return;
  if (handles.insert(reveal.text)) {
    actions.revealed();
  } else if (conversation !== undefined && memory.followed !== reveal) {
    memory.followed = reveal;
    actions.newTask(); // the open task accepts no messages
  }
}

/** Shows the oldest ask of the open task. Without one, it shows the oldest ask of another task, or the inbox. */
function followAsk(reveal: Reveal, { state, actions, handles, memory }: Scene): void {
  const { conversation, inbox } = state;
  if (isBeingRead(conversation)) return;
  const [oldest] = openAsksOf(conversation);
  const first = inbox.entries?.find(({ taskId }) => taskId === conversation?.taskId);
  if (first !== undefined && conversation?.earlier && isOnOlderPage(first, conversation)) {
    handles.openMessage(first.taskId, first.messageId);
    return;
  }
  const [task] = otherTasksWaiting(state);
  // Switches the task only once: two tasks that point to each other must not cause a loop.
  if (oldest === undefined && task !== undefined && memory.followed !== reveal) {
    memory.followed = reveal;
    actions.openTask(task.id);
    return;
  }
  actions.revealed();
  if (oldest !== undefined) handles.chat.current?.showAsk(oldest.askId);
  else if (inbox.unattributed.length > 0) handles.show("openAsks");
}

/** Goes to the next or previous ask of all tasks, starting at the one that had the focus last. */
function followStep(direction: "next" | "previous", scene: Scene): void {
  const { state, actions, handles, memory } = scene;
  const { inbox } = state;
  if (inbox.entries === undefined && inbox.failure === undefined) return;
  const at = placeOfAsk(state, memory.lastAsk) ?? memory.stepped;
  const to = stepFrom(stopsOf(inbox), at, direction);
  if (to === undefined) {
    actions.revealed();
    handles.show("openAsks");
    return;
  }
  memory.stepped = to;
  memory.lastAsk = to.askId;
  if (to.unattributed) {
    actions.revealed();
    handles.show("openAsks", to.askId);
  } else {
    handles.openMessage(to.taskId, to.messageId);
  }
}

function followMessage(reveal: Reveal & { kind: "message" }, scene: Scene): void {
  const { state, actions, handles, memory } = scene;
  const { conversation } = state;
  if (conversation?.taskId !== reveal.taskId && memory.followed !== reveal) {
    memory.followed = reveal;
    actions.openTask(reveal.taskId);
    return;
  }
  if (isBeingRead(conversation)) return;
  const oldest = conversation?.messages[0]?.id;
  const asked = memory.paged?.reveal === reveal && memory.paged.oldest === oldest;
  if (oldest !== undefined && reveal.messageId < oldest && conversation?.earlier && !asked) {
    memory.paged = { reveal, oldest };
    actions.loadEarlier(reveal.messageId);
    return;
  }
  actions.revealed();
  if (conversation?.taskId === reveal.taskId) handles.chat.current?.show(reveal.messageId);
}
