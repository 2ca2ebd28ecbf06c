import type {
  ServerLaunch as Launch,
  PortUse,
  ServerFailure,
  ServerInspection,
  ServerProcess,
} from "@assent/protocol";
import type { SourcePosition } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import type { ReactNode } from "react";
import { when } from "../../lib/format.ts";
import { filled, plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { Verbatim } from "../content/ContentBlocks.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Part } from "./Part.tsx";
import { placeWords } from "./serverWords.ts";

export interface ServerLaunchProps {
  readonly known: ServerInspection;
  readonly onConfigure: (position: SourcePosition) => void;
  /** Removes the example server, which no file configures. */
  readonly onRemove: () => void;
}

/** How the server is started or reached, and possible problems. */
export function ServerLaunch({ known, onConfigure, onRemove }: ServerLaunchProps) {
  const { server, line, launch, endpoint, lastFailure, ports = [], orphans = [] } = known;
  const { args = [], envNames = [], searched = [], nearMisses = [] } = launch ?? {};
  return (
    <Part heading={launch === undefined ? l10n.t("Endpoint") : l10n.t("Launch")}>
      {server.source === "built in" ? (
        <p>
          {l10n.t("It is built into Assent.")}{" "}
          <button type="button" className="link" onClick={onRemove}>
            {l10n.t("Remove Example Server")}
          </button>
        </p>
      ) : (
        <p>
          {filled(
            line === undefined
              ? l10n.t("Configured in {0}.")
              : l10n.t("Configured in {0}, line {1}."),
            <span className="server-path">{visible(server.source)}</span>,
            line,
          )}{" "}
          <button
            type="button"
            className="link"
            onClick={() =>
              onConfigure({ source: server.source, ...(line !== undefined && { line }) })
            }
          >
            {l10n.t("Open Configuration")}
          </button>
        </p>
      )}
      <dl className="values">
        {launch !== undefined && (
          <Fact name={l10n.t("Program")}>
            {launch.path === undefined ? (
              programProblem(launch)
            ) : (
              <>
                {visible(launch.path)}
                {launch.foundBy !== undefined && (
                  <span className="muted"> {placeWords(launch.foundBy)}</span>
                )}
                {launch.manager !== undefined && (
                  <span className="muted">, {l10n.t("of {0}", launch.manager)}</span>
                )}
              </>
            )}
          </Fact>
        )}
        {launch?.path !== undefined && launch.problem !== undefined && (
          <Fact name={l10n.t("Problem")}>{visible(launch.problem)}</Fact>
        )}
        {args.length > 0 && <Fact name={l10n.t("Arguments")}>{args.map(quoted).join(" ")}</Fact>}
        {launch?.cwd !== undefined && <Fact name={l10n.t("Folder")}>{visible(launch.cwd)}</Fact>}
        {envNames.length > 0 && (
          <Fact name={l10n.t("Environment")}>
            {envNames.map(visible).join(", ")}{" "}
            <span className="muted">{l10n.t("(values are not shown)")}</span>
          </Fact>
        )}
        {endpoint !== undefined && <Fact name={l10n.t("URL")}>{visible(endpoint.url)}</Fact>}
        {endpoint?.headerNames !== undefined && (
          <Fact name={l10n.t("Headers")}>
            {endpoint.headerNames.map(visible).join(", ")}{" "}
            <span className="muted">{l10n.t("(values are not shown)")}</span>
          </Fact>
        )}
        {ports.map((use) => (
          <Fact key={use.port} name={l10n.t("Port {0}", use.port)}>
            {listenerWords(use)}
          </Fact>
        ))}
        {orphans.length > 0 && (
          <Fact name={l10n.t("Leftover processes")}>
            {orphans.map(processWords).join(", ")}{" "}
            <span className="muted">
              {l10n.t("— same command, without a parent process. Assent does not end it.")}
            </span>
          </Fact>
        )}
      </dl>
      {known.machineUnknown && (
        <p className="muted">
          {l10n.t("Assent can find listening processes and leftover processes on Linux only.")}
        </p>
      )}
      {nearMisses.length > 0 && (
        <ul aria-label={l10n.t("Similar names found")}>
          {nearMisses.map((miss) => (
            <li key={miss}>{visible(miss)}</li>
          ))}
        </ul>
      )}
      {searched.length > 0 && (
        <Disclosure
          keep={`server-searched:${server.name}`}
          summary={plural(
            searched.length,
            l10n.t("Searched 1 folder"),
            l10n.t("Searched {0} folders"),
          )}
        >
          <Verbatim text={searched.join("\n")} />
        </Disclosure>
      )}
      {lastFailure !== undefined && <LastFailure failure={lastFailure} name={server.name} />}
    </Part>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function LastFailure({
  failure,
  name,
}: {
  readonly failure: ServerFailure;
  readonly name: string;
}) {
  const { at, reason, exitCode, stderr = [], stdout = [] } = failure;
  return (
    <Disclosure keep={`server-failure:${name}`} summary={l10n.t("Last failure, {0}", when(at))}>
      <p>{visible(reason)}</p>
      {exitCode !== undefined && <p className="muted">{l10n.t("Exit code {0}.", exitCode)}</p>}
      {stderr.length > 0 && (
        <>
          <p className="muted">{l10n.t("The end of stderr:")}</p>
          <Verbatim text={stderr.join("\n")} />
        </>
      )}
      {stdout.length > 0 && (
        <>
          <p className="muted">{l10n.t("First output on stdout that is not MCP:")}</p>
          <Verbatim text={stdout.join("\n")} />
        </>
      )}
    </Disclosure>
  );
}

/** Why the program was not found. The searched folders are listed below. */
function programProblem({ problem, searched = [] }: Launch): string {
  return searched.length > 0 ? l10n.t("not found") : visible(problem ?? l10n.t("not known"));
}

/** Quotes an argument as it would be typed. */
function quoted(arg: string): string {
  return /^[\w./:@%+=,${}…-]+$/.test(arg) ? arg : JSON.stringify(visible(arg));
}

function listenerWords({ listening, by = [] }: PortUse): string {
  if (!listening) return l10n.t("nothing listens");
  if (by.length === 0) return l10n.t("used by a process that Assent may not see");
  return l10n.t("used by {0}", by.map(processWords).join(", "));
}

function processWords({ pid, name, since, own = false }: ServerProcess): string {
  const it = visible(name);
  if (since === undefined) {
    return own
      ? l10n.t("{0} (process {1}, the server's own)", it, pid)
      : l10n.t("{0} (process {1})", it, pid);
  }
  return own
    ? l10n.t("{0} (process {1}, the server's own since {2})", it, pid, when(since))
    : l10n.t("{0} (process {1} since {2})", it, pid, when(since));
}
