import type { CallRequest, CompleteParams, Server } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type RefObject, useEffect, useId, useRef } from "react";
import { unreachable } from "../../lib/unreachable.ts";
import {
  itemsOf,
  type Listing,
  type OfferKind,
  type Offers,
  offerKinds,
  problemsOf,
} from "../../store/offers.ts";
import type { Actions } from "../../store/session.ts";
import type { RunnerState, RunnerTab } from "../../view/viewState.ts";
import { ListProblems } from "../servers/ListProblems.tsx";
import { kindWords } from "../servers/serverWords.ts";
import { parkedFocus } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { Tabs } from "../ui/Tabs.tsx";
import { PromptPane } from "./PromptPane.tsx";
import type { CompleteArgument } from "./paneProps.ts";
import { ResourcePane } from "./ResourcePane.tsx";
import { ServerChoice } from "./ServerChoice.tsx";
import { ToolPane } from "./ToolPane.tsx";

export interface RunnerProps {
  readonly servers: readonly Server[];
  /** The loaded offers of servers, by server name. */
  readonly offers: ReadonlyMap<string, Offers>;
  readonly runner: RunnerState;
  readonly onChange: (runner: RunnerState) => void;
  /** Why nothing can be run in the open task; undefined if it can. */
  readonly blocked: string | undefined;
  /** Takes the focus when the runner is opened. */
  readonly firstControl: RefObject<HTMLSelectElement | null>;
  readonly actions: Actions;
}

/**
 * Runs tools, reads resources and gets prompts: the person chooses a server and an item, and fills in its arguments.
 */
export function Runner(props: RunnerProps) {
  const { servers, offers, runner, onChange, blocked, firstControl, actions } = props;
  const { open } = runner;
  const section = useRef<HTMLElement>(null);
  const listing = useRef<AbortController>(null);
  const bodyId = useId();
  const server = servers.find(({ name }) => name === runner.serverName);
  const offered = server && (offers.get(server.name) ?? noOffers);

  const list = (serverName: string, known: Offers) => {
    // A person who chooses another server no longer waits for the earlier one.
    listing.current?.abort();
    listing.current = new AbortController();
    const kinds = offerKinds.filter((kind) => known[kind]?.state !== "ready");
    actions.listOffers(serverName, kinds, listing.current.signal);
  };

  // Listing starts a server that is not running, which returning to this page must not do. A running server is listed
  // at once.
  const unlisted =
    open &&
    offered !== undefined &&
    server?.state === "running" &&
    offerKinds.some((kind) => offered[kind] === undefined) &&
    server.name;
  // biome-ignore lint/correctness/useExhaustiveDependencies: list and offered are new at each drawing.
  useEffect(() => {
    if (unlisted) list(unlisted, offered ?? noOffers);
  }, [unlisted]);

  const run = async (request: CallRequest) => {
    if (server === undefined) return;
    await actions.startCall({ serverName: server.name, request });
    onChange({ ...runner, open: false });
    section.current?.focus();
  };

  return (
    <section ref={section} className="runner" aria-label={l10n.t("Use a server")} {...parkedFocus}>
      <h2>
        <button
          type="button"
          className="runner-toggle"
          aria-expanded={open}
          aria-controls={bodyId}
          onClick={() => onChange({ ...runner, open: !open })}
        >
          <Icon name={open ? "chevron-down" : "chevron-right"} />
          <span>{l10n.t("Use a Server")}</span>{" "}
          {!open && server !== undefined && (
            <span className="muted runner-choice">{server.name}</span>
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
          onShow={(serverName) => actions.reveal({ kind: "servers", serverName })}
          onChoose={(serverName) => {
            onChange({ open, serverName });
            const known = offers.get(serverName) ?? noOffers;
            if (offerKinds.some((kind) => known[kind]?.state !== "ready")) list(serverName, known);
          }}
        />
        {server !== undefined && offered !== undefined && (
          <>
            <Progress offers={offered} server={server} onList={() => list(server.name, offered)} />
            <ListProblems problems={offerKinds.flatMap((kind) => problemsOf(offered[kind]))} />
            <Offered
              {...{ server, offers: offered, runner, onChange }}
              disabled={blocked !== undefined}
              onRun={run}
              onComplete={(params, signal) => actions.complete(params, signal)}
            />
          </>
        )}
      </div>
    </section>
  );
}

const noOffers: Offers = {};

interface OfferedProps {
  readonly server: Server;
  readonly offers: Offers;
  readonly runner: RunnerState;
  readonly onChange: (runner: RunnerState) => void;
  readonly disabled: boolean;
  readonly onRun: (request: CallRequest) => Promise<void>;
  readonly onComplete: Actions["complete"];
}

const tabs: readonly {
  readonly key: RunnerTab;
  readonly kinds: readonly OfferKind[];
}[] = [
  { key: "tools", kinds: ["tools"] },
  { key: "resources", kinds: ["resources", "templates"] },
  { key: "prompts", kinds: ["prompts"] },
];

/** The server's offers, with a tab for each kind. */
function Offered(props: OfferedProps) {
  const { server, offers, runner, onChange, disabled, onRun, onComplete } = props;
  const shown = tabs.filter(({ kinds }) => kinds.some((kind) => hasSomething(offers[kind])));
  const tab = shown.find(({ key }) => key === runner.tab) ?? shown[0];
  if (tab === undefined) return null;

  // Suggestions must not start a server that the person has stopped.
  const complete: CompleteArgument | undefined =
    server.state === "running"
      ? (argument, signal) => {
          const params: CompleteParams = { serverName: server.name, ...argument };
          return onComplete(params, signal);
        }
      : undefined;
  const pane = { serverName: server.name, disabled, onRun };
  const content = () => {
    switch (tab.key) {
      case "tools":
        return (
          <ToolPane
            {...pane}
            tools={itemsOf(offers.tools)}
            toolName={runner.toolName}
            onChoose={(toolName) => onChange({ ...runner, toolName })}
          />
        );
      case "resources":
        return (
          <ResourcePane
            {...pane}
            resources={itemsOf(offers.resources)}
            templates={itemsOf(offers.templates)}
            uriTemplate={runner.uriTemplate}
            complete={complete}
            onChoose={(uriTemplate) => onChange({ ...runner, uriTemplate })}
          />
        );
      case "prompts":
        return (
          <PromptPane
            {...pane}
            prompts={itemsOf(offers.prompts)}
            promptName={runner.promptName}
            complete={complete}
            onChoose={(promptName) => onChange({ ...runner, promptName })}
          />
        );
      default:
        return unreachable(tab.key);
    }
  };
  return (
    <Tabs
      label={l10n.t("Offers")}
      tabs={shown.map(({ key }) => ({ key, label: kindWords(key) }))}
      chosen={tab.key}
      onChoose={(key) => onChange({ ...runner, tab: key })}
    >
      {content()}
    </Tabs>
  );
}

function hasSomething(list: Listing<unknown> | undefined): boolean {
  return list?.state === "ready" && list.items.length > 0;
}

interface ProgressProps {
  readonly server: Server;
  readonly offers: Offers;
  readonly onList: () => void;
}

/** Explains lists that are missing or empty. */
function Progress({ server, offers, onList }: ProgressProps) {
  const lists = offerKinds.map((kind) => offers[kind]);
  if (lists.some((list) => list?.state === "loading")) {
    return (
      <p role="status" className="muted">
        <Icon name="loading" spin /> {l10n.t("Reading what the server offers…")}
      </p>
    );
  }
  // The server's own line shows the problem and the button.
  if (server.state === "failed") return null;
  // All lists of an unreachable server fail in the same way.
  const messages = new Set(lists.flatMap((list) => (list?.state === "failed" ? list.message : [])));
  const start = (
    <div className="actions">
      <button type="button" className="secondary" onClick={onList}>
        {server.state === "running" ? l10n.t("Try Again") : l10n.t("Start Server")}
      </button>
    </div>
  );
  if (messages.size > 0) {
    return (
      <>
        {[...messages].map((message) => (
          <Refusal key={message} message={message} />
        ))}
        {start}
      </>
    );
  }
  if (lists.some((list) => list === undefined)) return start;
  return lists.some(hasSomething) ? null : (
    <p className="muted">{l10n.t("This server has no tools, no resources and no prompts.")}</p>
  );
}
