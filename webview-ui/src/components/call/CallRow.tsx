import type { Call, CallResult, PromptResult, ToolResult } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type ReactNode, useId, useState } from "react";
import { shownArguments } from "../../lib/exactJSON.ts";
import { duration, elapsed, json } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import { AnnotatedBlocks } from "../content/AnnotatedBlocks.tsx";
import { ContentBlocks, Verbatim } from "../content/ContentBlocks.tsx";
import { StructuredResult, shownParts } from "../content/StructuredResult.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { parkedFocus } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import type { IconList } from "../ui/icons.ts";
import { ServerIcon } from "../ui/ServerIcon.tsx";
import { useNow } from "../ui/useNow.ts";
import { CallProgress } from "./CallProgress.tsx";
import { CancelCall } from "./CancelCall.tsx";
import { describeCall, foundMcpTask } from "./callWords.ts";
import { McpTaskDetails } from "./McpTaskDetails.tsx";
import { isFinal } from "./mcpTaskWords.ts";

export interface CallRowProps {
  readonly call: Call;
  readonly startedAt: number;
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
  /** The element that takes the focus for the row. */
  readonly elementId: string;
  /** A question of the call is open. */
  readonly waits: boolean;
  /** For how many milliseconds questions of the call waited for the person, once it has ended. */
  readonly asked: number;
  /** The asks that the call caused. */
  readonly steps: ReactNode;
  /** Draws the tool's app; undefined if it has none. The app replaces the plain result until the person wants that. */
  readonly app?: ((plain: boolean, onPlain: (plain: boolean) => void) => ReactNode) | undefined;
  /** Undefined if the call cannot be cancelled from here. */
  readonly onCancel: (() => Promise<boolean>) | undefined;
}

/** A request to a server, with its progress and its result. */
export function CallRow(props: CallRowProps) {
  const { call, startedAt, keep, elementId, waits, asked, steps, app, onCancel } = props;
  const [plain, setPlain] = useState(false);
  const { request, progress, task, result, endedAt } = call;
  const { name, title, list, from, args, argumentsText } = called(call);
  const cancelling = task?.cancelling === true && !isFinal(task.status);
  const headingId = useId();
  const cancellingId = useId();
  const now = useNow(result === undefined);
  const { icon, spin, words } = describeCall(call, now);
  const byModel = call.toolUse !== undefined;
  return (
    <article
      id={elementId}
      className={byModel ? "call call-of-model" : "call"}
      aria-labelledby={headingId}
      {...parkedFocus}
    >
      <header className="row-head">
        <Icon name={icon} spin={spin} />
        <div className="row-title">
          <h2 id={headingId}>
            <span className="name" title={title === undefined ? undefined : visible(name)}>
              {list !== undefined && (
                <ServerIcon serverName={call.serverName} list={list} item={name} />
              )}
              {visible(title ?? name)}
            </span>{" "}
            <span className="muted">{visible(from)}</span>
          </h2>
          <span className="row-state muted">
            {words}{" "}
            {result === undefined
              ? elapsed(now - startedAt)
              : endedAt !== undefined && took(endedAt - startedAt, asked)}
          </span>
          {result === undefined && onCancel !== undefined && (
            <CancelCall
              cancelling={cancelling}
              describedBy={cancelling ? cancellingId : undefined}
              onCancel={onCancel}
            />
          )}
        </div>
      </header>
      {hasMembers(args) && !byModel && (
        <Disclosure keep={`${keep}:arguments`} summary={l10n.t("Arguments")}>
          <Verbatim text={shownArguments(args, argumentsText)} />
        </Disclosure>
      )}
      {request.type === "tasks/result" && (
        <p className="muted">
          {l10n.t("It comes from the server's list of MCP tasks, which does not name the tool.")}
        </p>
      )}
      {result === undefined && progress !== undefined && (
        <CallProgress progress={progress} said={task?.statusMessage} labelledBy={headingId} />
      )}
      {task !== undefined && (
        <McpTaskDetails
          {...{ task, waits, now, cancellingId, keep }}
          ended={result !== undefined}
        />
      )}
      {steps}
      {app?.(plain, setPlain)}
      {result !== undefined && (app === undefined ? !byModel : plain || !isGood(result)) && (
        <Ending result={result} keep={keep} />
      )}
      {byModel && (
        // A model's call is one line, because the model reports the result itself.
        <Disclosure
          keep={`${keep}:call`}
          summary={
            result === undefined || app !== undefined
              ? l10n.t("Arguments")
              : l10n.t("Arguments and result")
          }
        >
          <Verbatim text={shownArguments(args ?? {}, argumentsText)} />
          {result !== undefined && app === undefined && <Ending result={result} keep={keep} />}
        </Disclosure>
      )}
    </article>
  );
}

/** How long a call took, and how much of that the person did, if that is worth a word. */
function took(ms: number, asked: number): string {
  return asked < 1000
    ? duration(ms)
    : l10n.t("{0}, {1} of it yours", duration(ms), duration(asked));
}

/** Reports whether an app shows the result by itself. */
function isGood(result: CallResult): boolean {
  if (result.type !== "result") return false;
  return result.isError !== true && result.removedAfter === undefined;
}

interface Called {
  readonly name: string;
  /** Undefined if the item has none. */
  readonly title?: string | undefined;
  /** The list that has the item; undefined if it is unknown. */
  readonly list?: IconList;
  /** Names the kind of the item, and its server. */
  readonly from: string;
  readonly args: unknown;
  /** Used if a double cannot hold the numbers. */
  readonly argumentsText?: string | undefined;
}

function called({ request, serverName, fromApp }: Call): Called {
  switch (request.type) {
    case "tools/call":
      return {
        name: request.toolName,
        title: request.title,
        list: "tools",
        from:
          fromApp === undefined
            ? l10n.t("of {0}", serverName)
            : l10n.t("of {0}, called by its app", serverName),
        args: request.arguments,
        argumentsText: request.argumentsText,
      };
    case "resources/read":
      return {
        name: request.uri,
        list: "resources",
        from: l10n.t("resource of {0}", serverName),
        args: undefined,
      };
    case "prompts/get":
      return {
        name: request.promptName,
        list: "prompts",
        from: l10n.t("prompt of {0}", serverName),
        args: request.arguments,
      };
    case "tasks/result":
      return { name: foundMcpTask(), from: l10n.t("of {0}", serverName), args: undefined };
    default:
      return unreachable(request);
  }
}

interface EndingProps<R> {
  readonly result: R;
  readonly keep: string;
}

function Ending({ result, keep }: EndingProps<CallResult>) {
  switch (result.type) {
    case "result":
      return <Returned result={result} keep={keep} />;
    case "prompt":
      return <FilledIn result={result} keep={keep} />;
    case "error":
      return (
        <div className="ending ending-error">
          <p>
            {l10n.t(
              "The server answered with error {0}: {1}",
              result.code,
              visible(result.message),
            )}
          </p>
          {result.data !== undefined && result.data !== null && (
            <Disclosure keep={`${keep}:data`} summary={l10n.t("Error data")}>
              <Verbatim text={json(result.data)} />
            </Disclosure>
          )}
        </div>
      );
    case "cancelled":
      return <p className="ending muted">{l10n.t("Cancelled before it ended.")}</p>;
    case "abandoned":
      return <p className="ending muted">{visible(result.reason)}</p>;
    case "lost":
      return <p className="ending ending-lost">{visible(result.reason)}</p>;
    default:
      return unreachable(result);
  }
}

function Returned({ result, keep }: EndingProps<ToolResult>) {
  const { isError = false, removedAfter } = result;
  const parts = shownParts(result);
  if (removedAfter !== undefined) {
    return (
      <p className="ending muted">
        {plural(
          removedAfter,
          l10n.t("The result was removed after 1 day, as set by assent.retention.days."),
          l10n.t("The result was removed after {0} days, as set by assent.retention.days."),
        )}
      </p>
    );
  }
  return (
    <div className={isError ? "ending ending-error" : "ending"}>
      {isError && <p>{l10n.t("The tool reported an error:")}</p>}
      {parts.content.length === 0 && !parts.structured && (
        <p className="muted">{l10n.t("It returned nothing.")}</p>
      )}
      <AnnotatedBlocks blocks={parts.content} keep={`${keep}:result`} />
      <StructuredResult {...{ result, parts, keep }} />
    </div>
  );
}

/** A prompt is text for a model, so it is shown verbatim, with its markup. */
function FilledIn({ result, keep }: EndingProps<PromptResult>) {
  const { description = "", messages = [] } = result;
  return (
    <div className="ending">
      {description !== "" && <p className="muted">{visible(description)}</p>}
      {messages.length === 0 && <p className="muted">{l10n.t("It has no messages.")}</p>}
      {messages.map(({ role, content }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message has no name but its place.
        <div key={index} className="turn">
          <p className="turn-role">{role === "user" ? l10n.t("User") : l10n.t("Assistant")}</p>
          <ContentBlocks blocks={[content]} texts="plain" keep={`${keep}:message${index}`} />
        </div>
      ))}
    </div>
  );
}

function hasMembers(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}
