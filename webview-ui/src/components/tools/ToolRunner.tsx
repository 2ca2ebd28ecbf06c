import type { Server } from "@assent/protocol";
import { type RefObject, useEffect, useId, useRef } from "react";
import type { Actions } from "../../session.ts";
import type { ToolList } from "../../state/state.ts";
import { unreachable } from "../../unreachable.ts";
import type { RunnerState } from "../../viewState.ts";
import { parkedFocus } from "../chat/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { ServerChoice } from "./ServerChoice.tsx";
import { ToolChoice } from "./ToolChoice.tsx";
import { ToolForm } from "./ToolForm.tsx";

export interface ToolRunnerProps {
  readonly servers: readonly Server[];
  readonly tools: ReadonlyMap<string, ToolList>;
  readonly runner: RunnerState;
  readonly onChange: (runner: RunnerState) => void;
  /** Why no tool can be run in the open task; absent where one can. */
  readonly blocked: string | undefined;
  /** Takes the focus when the runner is asked for. */
  readonly firstControl: RefObject<HTMLSelectElement | null>;
  readonly actions: Actions;
}

/** Runs a tool of a server: choose the server, choose the tool, fill in the arguments. */
export function ToolRunner(props: ToolRunnerProps) {
  const { servers, tools, runner, onChange, blocked, firstControl, actions } = props;
  const { open, toolName } = runner;
  const section = useRef<HTMLElement>(null);
  const listing = useRef<AbortController>(null);
  const bodyId = useId();

  const server = servers.find(({ name }) => name === runner.serverName);
  const list = server && tools.get(server.name);
  const tool =
    list?.state === "ready" ? list.tools.find(({ name }) => name === toolName) : undefined;

  const listTools = (serverName: string) => {
    // Who chooses another server no longer waits for the one before.
    listing.current?.abort();
    listing.current = new AbortController();
    actions.listTools(serverName, listing.current.signal);
  };

  // Listing starts a server that is not running, which nobody wants from merely coming back here. One
  // that runs is listed without asking.
  const unlisted = open && list === undefined && server?.state === "running" && server.name;
  // biome-ignore lint/correctness/useExhaustiveDependencies: listTools is new at each drawing.
  useEffect(() => {
    if (unlisted) listTools(unlisted);
  }, [unlisted]);

  const run = async (content: Readonly<Record<string, unknown>>) => {
    if (server === undefined || tool === undefined) return;
    const request = { type: "tools/call", toolName: tool.name, arguments: content } as const;
    await actions.startCall({ serverName: server.name, request });
    onChange({ ...runner, open: false });
    section.current?.focus();
  };

  return (
    <section ref={section} className="runner" aria-label="Run a tool" {...parkedFocus}>
      <h2>
        <button
          type="button"
          className="runner-toggle"
          aria-expanded={open}
          aria-controls={bodyId}
          onClick={() => onChange({ ...runner, open: !open })}
        >
          <Icon name={open ? "chevron-down" : "chevron-right"} />
          <span>Run a Tool</span>{" "}
          {!open && tool !== undefined && (
            <span className="muted runner-choice">
              {tool.name} of {server?.name}
            </span>
          )}
        </button>
      </h2>
      <div id={bodyId} className="runner-body" hidden={!open}>
        {blocked !== undefined && <p className="muted">{blocked}</p>}
        <ServerChoice
          servers={servers}
          chosen={server}
          selectRef={firstControl}
          onRestart={actions.restartServer}
          onStop={actions.stopServer}
          onChoose={(serverName) => {
            onChange({ open, serverName });
            if (tools.get(serverName)?.state !== "ready") listTools(serverName);
          }}
        />
        {server !== undefined && (
          <Tools
            list={list}
            failed={server.state === "failed"}
            onList={() => listTools(server.name)}
          />
        )}
        {server !== undefined && list?.state === "ready" && (
          <ToolChoice
            tools={list.tools}
            chosen={tool}
            onChoose={(name) => onChange({ ...runner, toolName: name })}
          />
        )}
        {server !== undefined && tool !== undefined && (
          <ToolForm
            key={JSON.stringify([server.name, tool.name])}
            serverName={server.name}
            tool={tool}
            disabled={blocked !== undefined}
            onRun={run}
          />
        )}
      </div>
    </section>
  );
}

interface ToolsProps {
  readonly list: ToolList | undefined;
  /** The server itself tells what is wrong. */
  readonly failed: boolean;
  readonly onList: () => void;
}

/** What is to be said while there are no tools to choose from. */
function Tools({ list, failed, onList }: ToolsProps) {
  const start = (
    <div className="actions">
      <button type="button" className="secondary" onClick={onList}>
        Start Server
      </button>
    </div>
  );
  if (list === undefined) return failed ? null : start;
  switch (list.state) {
    case "loading":
      return (
        <p role="status" className="muted">
          <Icon name="loading" spin /> Reading the server's tools…
        </p>
      );
    case "ready":
      return null;
    case "failed":
      return failed ? null : (
        <>
          <Refusal message={list.message} />
          {start}
        </>
      );
    default:
      return unreachable(list);
  }
}
