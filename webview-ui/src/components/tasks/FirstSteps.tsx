import * as l10n from "@vscode/l10n";
import { listed, plural } from "../../lib/l10n.ts";
import { modelsFor } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { defaultPrompts, Suggestions } from "./Suggestions.tsx";

export interface FirstStepsProps {
  readonly state: Pick<State, "servers" | "offers" | "models" | "prompts" | "imports" | "setsUp">;
  readonly actions: Actions;
}

/**
 * What a person can do in an empty conversation: run a tool of their servers by hand, or send a message, which is
 * suggested only if there is a model and a server for it. Otherwise the steps that lead there come first. The example
 * server, which needs neither, is offered to a person who has no server.
 */
export function FirstSteps({ state, actions }: FirstStepsProps) {
  const { servers, offers, imports, setsUp } = state;
  const prompts = promptsOf(state);
  if (servers === undefined || prompts === undefined) return null;
  const noServer = servers.length === 0;
  const noModel = prompts.length === 0;
  const own = servers.filter(({ source }) => source !== "built in").map(({ name }) => name);
  return (
    <div className="begin">
      {own.length > 0 && (
        <>
          <p>{l10n.t("Your servers: {0}", listed(described(own, offers)))}</p>
          <div className="actions">
            <button
              type="button"
              className={noModel ? "primary" : "secondary"}
              onClick={() => actions.reveal({ kind: "toolRunner", ...only(own) })}
            >
              {l10n.t("Run a Tool")}
            </button>
          </div>
        </>
      )}
      {!noServer && !noModel && (
        <>
          <p>{l10n.t("Type a task below, or try one of these:")}</p>
          <Suggestions prompts={prompts} onChoose={(text) => void actions.sendChat({ text })} />
        </>
      )}
      {(noServer || noModel) && (setsUp || own.length === 0) && (
        <section className="first-steps" aria-label={l10n.t("First steps")}>
          {noServer && (
            <>
              <p>{l10n.t("Add an MCP server, for this workspace or for all workspaces.")}</p>
              <div className="actions">
                <button
                  type="button"
                  className="primary"
                  onClick={() => actions.openConfiguration({})}
                >
                  {l10n.t("Open MCP Configuration")}
                </button>
                {imports && (
                  <button type="button" className="secondary" onClick={actions.importServers}>
                    {l10n.t("Import from Other Programs…")}
                  </button>
                )}
              </div>
            </>
          )}
          {noModel && setsUp && (
            <>
              <p>{l10n.t("No model is set up yet. You need one to type a task.")}</p>
              <div className="actions">
                <button
                  type="button"
                  className={noServer || own.length > 0 ? "secondary" : "primary"}
                  onClick={actions.chooseModel}
                >
                  {l10n.t("Choose a Model…")}
                </button>
                <button type="button" className="secondary" onClick={actions.setModelApiKey}>
                  {l10n.t("Set an API Key…")}
                </button>
              </div>
            </>
          )}
          {own.length === 0 && (
            <>
              <p>{l10n.t("See a question first. You need no model and no network.")}</p>
              <div className="actions">
                <button type="button" className="secondary" onClick={actions.tryExampleServer}>
                  {l10n.t("Try the Example Server")}
                </button>
              </div>
            </>
          )}
          {setsUp && (
            <button type="button" className="link" onClick={actions.openWalkthrough}>
              {l10n.t("Open Walkthrough")}
            </button>
          )}
        </section>
      )}
    </div>
  );
}

/** How many servers are named. */
const mostNamed = 5;

/** The names of the first servers with the number of their tools, as far as it is known, and how many others there are. */
function described(names: readonly string[], offers: State["offers"]): readonly string[] {
  const named = names.slice(0, mostNamed).map((name) => {
    const tools = offers.get(name)?.tools;
    if (tools?.state !== "ready") return name;
    return plural(tools.items.length, l10n.t("{1} (1 tool)"), l10n.t("{1} ({0} tools)"), name);
  });
  const others = names.length - named.length;
  return others > 0 ? [...named, plural(others, l10n.t("1 other"), l10n.t("{0} others"))] : named;
}

/** The name of the only server: a person with several chooses. */
function only([serverName, another]: readonly string[]): { readonly serverName?: string } {
  return serverName === undefined || another !== undefined ? {} : { serverName };
}

/**
 * Returns suggestions for a first message. They need a model that understands them, which the demo script does not. A
 * host that provides suggestions knows that they work. Undefined until the models are known.
 */
function promptsOf(state: FirstStepsProps["state"]): readonly string[] | undefined {
  if (state.prompts !== undefined) return state.prompts;
  const usable = modelsFor(state, undefined)
    .get("")
    ?.models.some(({ provider }) => provider !== "demo");
  if (usable === undefined) return undefined;
  return usable ? defaultPrompts() : [];
}
