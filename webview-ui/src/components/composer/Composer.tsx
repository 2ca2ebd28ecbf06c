import type {
  Model,
  QueuedMessage,
  SendChatParams,
  Server,
  Task,
  TaskSettings,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import {
  type ComponentProps,
  type FormEvent,
  type Ref,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { messageOf } from "../../link/client.ts";
import type { Offers } from "../../store/offers.ts";
import type { Actions } from "../../store/session.ts";
import { useView } from "../../view/ViewContext.ts";
import type { Attached } from "../../view/viewState.ts";
import { parkFocus } from "../ui/focus.ts";
import { IconButton } from "../ui/IconButton.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { useStart } from "../ui/useStart.ts";
import { AttachedList } from "./AttachedList.tsx";
import { ContextChoice, titleOf } from "./ContextChoice.tsx";
import { ModelChoice } from "./ModelChoice.tsx";
import { Queue } from "./Queue.tsx";
import { ServersChoice } from "./ServersChoice.tsx";
import { type AttachedState, useAttached } from "./useAttached.ts";

export interface ComposerProps {
  /** The open task's id; undefined if no task is open, and the first message creates one. */
  readonly taskId: string | undefined;
  /** Undefined until it was read. */
  readonly task: Task | undefined;
  /** The person's models; undefined until they were listed. */
  readonly models: readonly Model[] | undefined;
  readonly servers: readonly Server[];
  readonly offers: ReadonlyMap<string, Offers>;
  /** The host lets the person choose files; otherwise the page does. */
  readonly picksFiles: boolean;
  readonly actions: Actions;
  /** The first message is being sent. Its new task will have another composer. */
  readonly onBegin: () => void;
  readonly ref?: Ref<ComposerHandle>;
}

export interface ComposerHandle {
  /** Takes the focus if there is no better place. A new question may take it from here until the person types. */
  park(): void;
  /** Appends a text to the typed one, and takes the focus. */
  insert(text: string): void;
}

/**
 * What VS Code drags: URIs, one a line. Unlike `text/uri-list`, a web page cannot set this type for a dragged link. The
 * host checks each URI nevertheless.
 */
const draggedURIs = "application/vnd.code.uri-list";

const nothing: TaskSettings = {};
const emptyQueue: readonly QueuedMessage[] = [];

/** The message box, with the choice of the model and of its servers. */
export function Composer(props: ComposerProps) {
  const { taskId, task, models, servers, offers, picksFiles, actions, onBegin, ref } = props;
  const view = useView();
  const draftKey = `composer:${taskId ?? ""}`;
  const [text, setText] = useState(() => textOf(view.draft(draftKey)?.["text"]));
  // Settings that are chosen before a task exists.
  const [chosen, setChosen] = useState(nothing);
  const field = useRef<HTMLTextAreaElement>(null);
  const hintId = useId();

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
  const park = () => {
    if (field.current !== null) parkFocus(field.current);
  };
  useImperativeHandle(ref, () => ({
    park,
    insert: (more) => {
      write(text.trim() === "" ? more : `${text.trimEnd()}\n\n${more}`);
      field.current?.focus();
    },
  }));
  const { attached, refusals, reading, sent, ...attach } = useAttached(draftKey, actions);
  const { busy, refusal, start } = useStart(async (message: string, along: readonly Attached[]) => {
    const form = field.current?.form;
    const hadFocus = form?.contains(document.activeElement);
    if (taskId === undefined) onBegin();
    const params = { text: message, ...paramsOf(along) };
    await actions.sendChat(params, chosen === nothing ? undefined : chosen);
    sent(along);
    if (field.current?.value === message) {
      write("");
      // The person no longer types here, so the first question of the turn may take the focus. The button that had the
      // focus is disabled or gone, so the body may have it.
      const at = document.activeElement;
      if (hadFocus && (at === document.body || form?.contains(at))) parkFocus(field.current);
    } else {
      // Text that was typed while the message was being sent stays.
      view.setDraft(draftKey, undefined);
    }
  });
  const empty = text.trim() === "" && attached.every(({ kind }) => kind === "lost");
  const blocked = empty || busy || reading;
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (!blocked) start(text, attached);
  };
  const model = models?.find(({ id }) => id === (settings.modelId ?? models[0]?.id));
  const waits = queue.length > 0 && !running;

  return (
    <form
      className="composer"
      aria-label={l10n.t("Message to the model")}
      onSubmit={send}
      {...dropping(picksFiles, attach)}
    >
      {queue.length > 0 && task !== undefined && (
        <Queue
          queue={queue}
          onRemove={(id) => actions.unqueueChat(task.id, id)}
          onSend={waits ? () => start("", []) : undefined}
        />
      )}
      <div className="composer-box">
        <AttachedList {...{ attached, refusals, model }} onRemove={attach.remove} />
        <textarea
          ref={field}
          aria-label={l10n.t("Message")}
          aria-describedby={hintId}
          rows={1}
          placeholder={running ? l10n.t("Type a follow-up…") : l10n.t("Ask the model…")}
          value={text}
          onChange={({ target }) => write(target.value)}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return;
            event.preventDefault();
            attach.addFiles(event.clipboardData.files);
          }}
          onKeyDown={(event) => {
            // An Enter that ends an input method's composition does not send the message.
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <Hint id={hintId} running={running} />
        <ComposerBar
          {...{
            task,
            models,
            servers,
            offers,
            picksFiles,
            settings,
            actions,
            attach,
            empty,
            blocked,
          }}
          onConfigure={configure}
          // The button disappears with the turn.
          onStopped={park}
        />
      </div>
      {refusal !== undefined && <Refusal message={messageOf(refusal)} />}
    </form>
  );
}

function Hint({ id, running }: { readonly id: string; readonly running: boolean }) {
  return (
    <span id={id} className="visually-hidden">
      {running
        ? l10n.t(
            "Enter queues the message until the model is done. The message does not answer a question.",
          )
        : l10n.t("Enter sends. Shift+Enter starts a new line.")}
    </span>
  );
}

/** Returns the drag handlers of the composer, which attach dropped files. */
function dropping(
  picksFiles: boolean,
  attach: Pick<AttachedState, "addFiles" | "addURIs">,
): Pick<ComponentProps<"form">, "onDragOver" | "onDrop"> {
  return {
    onDragOver(event) {
      const { types } = event.dataTransfer;
      const taken = types.includes("Files") || (picksFiles && types.includes(draggedURIs));
      if (taken) event.preventDefault();
    },
    onDrop(event) {
      const { dataTransfer } = event;
      const uris = picksFiles ? urisOf(dataTransfer.getData(draggedURIs)) : [];
      if (uris.length === 0 && dataTransfer.files.length === 0) return;
      event.preventDefault();
      if (uris.length > 0) attach.addURIs(uris);
      else attach.addFiles(dataTransfer.files);
    },
  };
}

interface ComposerBarProps
  extends Pick<ComposerProps, "task" | "models" | "servers" | "offers" | "picksFiles" | "actions"> {
  readonly settings: TaskSettings;
  readonly attach: Pick<AttachedState, "addFiles" | "pickFiles" | "addResource">;
  /** There is nothing to send. */
  readonly empty: boolean;
  /** Nothing can be sent now. */
  readonly blocked: boolean;
  readonly onConfigure: (settings: TaskSettings) => void;
  readonly onStopped: () => void;
}

/** The choices below the text, and the buttons that send it and stop the model. */
function ComposerBar(props: ComposerBarProps) {
  const { task, models, servers, offers, picksFiles, actions, settings, attach } = props;
  const { empty, blocked, onConfigure, onStopped } = props;
  const chooser = useRef<HTMLInputElement>(null);
  const running = task?.running === true;
  return (
    <>
      <input
        ref={chooser}
        type="file"
        multiple
        aria-label={l10n.t("Files to attach")}
        onChange={({ target }) => {
          attach.addFiles(target.files ?? []);
          // Allows choosing the same file again.
          target.value = "";
        }}
      />
      <div className="composer-bar">
        <ContextChoice
          servers={task === undefined ? none : enabledIn(settings, servers)}
          {...{ offers, actions, picksFiles }}
          onFiles={() => (picksFiles ? attach.pickFiles() : chooser.current?.click())}
          onResource={(serverName, resource) =>
            attach.addResource(serverName, resource.uri, titleOf(resource))
          }
        />
        <ModelChoice {...{ models, settings }} onChange={onConfigure} />
        <ServersChoice {...{ servers, offers, settings, actions }} onChange={onConfigure} />
        {running && task !== undefined && (
          <IconButton
            icon="stop-circle"
            label={l10n.t("Stop")}
            className="composer-stop"
            onClick={() => {
              actions.stopChat(task.id);
              onStopped();
            }}
          />
        )}
        {(!running || !empty) && (
          <IconButton
            type="submit"
            icon={running ? "list-ordered" : "arrow-up"}
            label={running ? l10n.t("Queue") : l10n.t("Send")}
            title={running ? l10n.t("Queue (Enter)") : l10n.t("Send (Enter)")}
            className="composer-send"
            disabled={blocked}
          />
        )}
      </div>
    </>
  );
}

const none: readonly Server[] = [];

/** The servers that the model of a task may use. */
function enabledIn({ servers: enabled }: TaskSettings, servers: readonly Server[]) {
  if (enabled === undefined) return servers;
  return servers.filter(({ name }) => enabled.some(({ serverName }) => serverName === name));
}

function paramsOf(attached: readonly Attached[]): Pick<SendChatParams, "files" | "attachments"> {
  const files = attached.flatMap((one) =>
    one.kind === "file" && one.file !== undefined ? [one.file] : [],
  );
  const attachments = attached.flatMap((one) =>
    one.kind === "resource" && one.messageId !== undefined ? [one.messageId] : [],
  );
  return {
    ...(files.length > 0 && { files }),
    ...(attachments.length > 0 && { attachments }),
  };
}

function urisOf(list: string): readonly string[] {
  return list.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
}

function textOf(input: unknown): string {
  return typeof input === "string" ? input : "";
}
