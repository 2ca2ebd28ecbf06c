import type { CallResult, ToolCall, ToolResult } from "@assent/protocol";
import { useId } from "react";
import { unreachable } from "../../unreachable.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { useNow } from "../ui/useNow.ts";
import { duration, elapsed, json } from "../ui/words.ts";
import { ContentBlocks, Verbatim } from "./ContentBlocks.tsx";

export interface ToolCallRowProps {
  readonly call: ToolCall;
  readonly startedAt: number;
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
  readonly onCancel: () => void;
}

/** A call of a server's tool: what was sent, how it is going, and what came back. */
export function ToolCallRow({ call, startedAt, keep, onCancel }: ToolCallRowProps) {
  const { serverName, toolName, result, endedAt } = call;
  const { icon, words } = describe(result);
  const headingId = useId();
  const now = useNow(result === undefined);
  return (
    <section className="tool-call" aria-labelledby={headingId}>
      <header className="row-head">
        <Icon name={icon} spin={result === undefined} />
        <div className="row-title">
          <h2 id={headingId}>
            <span className="name">{toolName}</span> <span className="muted">of {serverName}</span>
          </h2>
          <span className="row-state muted">
            {words}{" "}
            {result === undefined
              ? elapsed(now - startedAt)
              : endedAt !== undefined && duration(endedAt - startedAt)}
          </span>
          {result === undefined && (
            <button type="button" className="secondary small" onClick={onCancel}>
              Cancel
            </button>
          )}
        </div>
      </header>
      {hasMembers(call.arguments) && (
        <Disclosure keep={`${keep}:arguments`} summary="Arguments">
          <Verbatim text={json(call.arguments)} />
        </Disclosure>
      )}
      {result !== undefined && <Ending result={result} keep={keep} />}
    </section>
  );
}

function describe(result: CallResult | undefined): {
  readonly icon: string;
  readonly words: string;
} {
  if (result === undefined) return { icon: "loading", words: "running" };
  switch (result.type) {
    case "result":
      return result.isError ? { icon: "error", words: "failed" } : { icon: "pass", words: "done" };
    case "error":
      return { icon: "error", words: "refused" };
    case "cancelled":
      return { icon: "circle-slash", words: "cancelled" };
    case "lost":
      return { icon: "debug-disconnect", words: "lost" };
    default:
      return unreachable(result);
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
    case "error":
      return (
        <div className="ending ending-error">
          <p>
            The server answered with error {result.code}: {result.message}
          </p>
          {result.data !== undefined && result.data !== null && (
            <Disclosure keep={`${keep}:data`} summary="Error data">
              <Verbatim text={json(result.data)} />
            </Disclosure>
          )}
        </div>
      );
    case "cancelled":
      return <p className="ending muted">Cancelled before it ended.</p>;
    case "lost":
      return <p className="ending ending-lost">{result.reason}</p>;
    default:
      return unreachable(result);
  }
}

function Returned({ result, keep }: EndingProps<ToolResult>) {
  const { content = [], structuredContent, isError = false } = result;
  return (
    <div className={isError ? "ending ending-error" : "ending"}>
      {isError && <p>The tool says that it failed:</p>}
      {content.length === 0 && structuredContent === undefined && (
        <p className="muted">It returned nothing.</p>
      )}
      <ContentBlocks blocks={content} texts="plain" keep={`${keep}:result`} />
      {structuredContent !== undefined && (
        <Disclosure
          keep={`${keep}:structured`}
          summary="Structured result"
          initiallyOpen={content.length === 0}
        >
          <Verbatim text={json(structuredContent)} />
        </Disclosure>
      )}
    </div>
  );
}

function hasMembers(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}
