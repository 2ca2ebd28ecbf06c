import type { Model, QueuedMessage, Server, Task, TaskSettings } from "@assent/protocol";
import { type FormEvent, type Ref, useId, useImperativeHandle, useRef, useState } from "react";
import { type Actions, messageOf } from "../../session.ts";
import type { Offers } from "../../state/offers.ts";
import { useStart } from "../tools/useStart.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { useView } from "../ViewContext.ts";
import { ModelChoice } from "./ModelChoice.tsx";
import { Queue } from "./Queue.tsx";
import { ServersChoice } from "./ServersChoice.tsx";

export interface ComposerProps {
  /** The open task's id; absent where none is: the first message makes one. */
  readonly taskId: string | undefined;
  /** Absent until it was read. */
  readonly task: Task | undefined;
  /** The models of the person; absent until they were listed. */
  readonly models: readonly Model[] | undefined;
  readonly servers: readonly Server[];
  readonly offers: ReadonlyMap<string, Offers>;
  readonly actions: Actions;
  /** The first message is sent: there will be another composer, of the task that it makes. */
  readonly onBegin: () => void;
  readonly ref?: Ref<ComposerHandle>;
}

export interface ComposerHandle {
  focus(): void;
}

const nothing: TaskSettings = {};
const emptyQueue: readonly QueuedMessage[] = [];

/** Where the person writes to the model, and chooses which one, and what it may use. */
export function Composer(props: ComposerProps) {
  const { taskId, task, models, servers, offers, actions, onBegin, ref } = props;
  const view = useView();
  const draftKey = `composer:${taskId ?? ""}`;
  const [text, setText] = useState(() => textOf(view.draft(draftKey)?.["text"]));
  // What is chosen before there is a task to keep it.
  const [chosen, setChosen] = useState(nothing);
  const field = useRef<HTMLTextAreaElement>(null);
  const hintId = useId();
  useImperativeHandle(ref, () => ({ focus: () => field.current?.focus() }));

  const running = task?.running === true;
  const queue = task?.queue ?? emptyQueue;
  const settings = taskId === undefined ? chosen : (task?.settings ?? nothing);
  const configure = (next: TaskSettings) => {
    if (taskId === undefined) setChosen(next);
    else actions.configureTask(taskId, next);
  };
  const write = (next: string) => {
    setText(next);
    view.setDraft(draftKey, next === "" ? undefined : { text: next });
  };
  const { busy, refusal, start } = useStart(async (message: string) => {
    if (taskId === undefined) onBegin();
    await actions.sendChat({ text: message }, chosen === nothing ? undefined : chosen);
    // What was typed while it was sent stays.
    if (field.current?.value === message) write("");
    else view.setDraft(draftKey, undefined);
  });
  const empty = text.trim() === "";
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (!empty && !busy) start(text);
  };
  const waits = queue.length > 0 && !running;

  return (
    <form className="composer" aria-label="Message to the model" onSubmit={send}>
      {queue.length > 0 && task !== undefined && (
        <Queue
          queue={queue}
          onRemove={(id) => actions.unqueueChat(task.id, id)}
          onSend={waits ? () => start("") : undefined}
        />
      )}
      <textarea
        ref={field}
        aria-label="Message"
        aria-describedby={hintId}
        rows={1}
        placeholder={running ? "Say what is to be done next…" : "Ask the model…"}
        value={text}
        onChange={({ target }) => write(target.value)}
        onKeyDown={(event) => {
          // What ends the composition of a character is not the end of the message.
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <span id={hintId} className="visually-hidden">
        {running
          ? "Enter puts it in the queue, which is sent when the model is done. It answers no question."
          : "Enter sends, Shift and Enter begin a new line."}
      </span>
      {refusal !== undefined && <Refusal message={messageOf(refusal)} />}
      <div className="composer-bar">
        <ModelChoice {...{ models, settings }} onChange={configure} />
        <ServersChoice {...{ servers, offers, settings, actions }} onChange={configure} />
        {running && task !== undefined && (
          <button
            type="button"
            className="secondary composer-send"
            onClick={() => actions.stopChat(task.id)}
          >
            <Icon name="debug-stop" /> Stop
          </button>
        )}
        <button type="submit" className="primary composer-send" disabled={empty || busy}>
          <Icon name={running ? "list-ordered" : "send"} /> {running ? "Queue" : "Send"}
        </button>
      </div>
    </form>
  );
}

function textOf(input: unknown): string {
  return typeof input === "string" ? input : "";
}
