import type {
  ServerLaunch as Launch,
  PortUse,
  ServerFailure,
  ServerInspection,
  ServerProcess,
} from "@assent/protocol";
import type { SourcePosition } from "@assent/protocol/host";
import type { ReactNode } from "react";
import { Verbatim } from "../chat/ContentBlocks.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { visible } from "../ui/visible.ts";
import { count, when } from "../ui/words.ts";
import { Part } from "./Part.tsx";
import { placeWords } from "./serverWords.ts";

export interface ServerLaunchProps {
  readonly known: ServerInspection;
  readonly onConfigure: (position: SourcePosition) => void;
}

/** How the server is started or reached, and what speaks against it. */
export function ServerLaunch({ known, onConfigure }: ServerLaunchProps) {
  const { server, line, launch, endpoint, lastFailure, ports = [], orphans = [] } = known;
  const { args = [], envNames = [], searched = [], nearMisses = [] } = launch ?? {};
  return (
    <Part heading={launch === undefined ? "How it is reached" : "How it is started"}>
      <p>
        Configured in <span className="server-path">{visible(server.source)}</span>
        {line !== undefined && `, line ${line}`}.{" "}
        <button
          type="button"
          className="link"
          onClick={() =>
            onConfigure({ source: server.source, ...(line !== undefined && { line }) })
          }
        >
          Open Configuration
        </button>
      </p>
      <dl className="values">
        {launch !== undefined && (
          <Fact name="Program">
            {launch.path === undefined ? (
              programProblem(launch)
            ) : (
              <>
                {visible(launch.path)}
                {launch.foundBy !== undefined && (
                  <span className="muted"> {placeWords(launch.foundBy)}</span>
                )}
                {launch.manager !== undefined && (
                  <span className="muted">, of {launch.manager}</span>
                )}
              </>
            )}
          </Fact>
        )}
        {launch?.path !== undefined && launch.problem !== undefined && (
          <Fact name="Problem">{visible(launch.problem)}</Fact>
        )}
        {args.length > 0 && <Fact name="Arguments">{args.map(quoted).join(" ")}</Fact>}
        {launch?.cwd !== undefined && <Fact name="Folder">{visible(launch.cwd)}</Fact>}
        {envNames.length > 0 && (
          <Fact name="Environment">
            {envNames.map(visible).join(", ")} <span className="muted">(values are not shown)</span>
          </Fact>
        )}
        {endpoint !== undefined && <Fact name="URL">{visible(endpoint.url)}</Fact>}
        {endpoint?.headerNames !== undefined && (
          <Fact name="Headers">
            {endpoint.headerNames.map(visible).join(", ")}{" "}
            <span className="muted">(values are not shown)</span>
          </Fact>
        )}
        {ports.map((use) => (
          <Fact key={use.port} name={`Port ${use.port}`}>
            {listenerWords(use)}
          </Fact>
        ))}
        {orphans.length > 0 && (
          <Fact name="Left behind">
            {orphans.map(processWords).join(", ")}{" "}
            <span className="muted">
              — of the same command, with nobody who started it. Assent does not end it.
            </span>
          </Fact>
        )}
      </dl>
      {known.machineUnknown && (
        <p className="muted">
          Who listens on a port, and what was left behind, Assent can find out on Linux only.
        </p>
      )}
      {nearMisses.length > 0 && (
        <ul aria-label="What is there instead">
          {nearMisses.map((miss) => (
            <li key={miss}>{visible(miss)}</li>
          ))}
        </ul>
      )}
      {searched.length > 0 && (
        <Disclosure
          keep={`server-searched:${server.name}`}
          summary={`Looked for in ${count(searched.length, "folder")}`}
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
    <Disclosure keep={`server-failure:${name}`} summary={`Last failure, ${when(at)}`}>
      <p>{visible(reason)}</p>
      {exitCode !== undefined && <p className="muted">Exit code {exitCode}.</p>}
      {stderr.length > 0 && (
        <>
          <p className="muted">The end of stderr:</p>
          <Verbatim text={stderr.join("\n")} />
        </>
      )}
      {stdout.length > 0 && (
        <>
          <p className="muted">What came first on stdout and is not MCP:</p>
          <Verbatim text={stdout.join("\n")} />
        </>
      )}
    </Disclosure>
  );
}

/** Why there is no program. Where it was looked for is said below. */
function programProblem({ problem, searched = [] }: Launch): string {
  return searched.length > 0 ? "not found" : visible(problem ?? "not known");
}

/** An argument as it would be typed. */
function quoted(arg: string): string {
  return /^[\w./:@%+=,${}…-]+$/.test(arg) ? arg : JSON.stringify(visible(arg));
}

function listenerWords({ listening, by = [] }: PortUse): string {
  if (!listening) return "nobody listens";
  if (by.length === 0) return "somebody listens whom Assent may not see";
  return `${by.map(processWords).join(", ")} listens`;
}

function processWords({ pid, name, since, own = false }: ServerProcess): string {
  const from = since === undefined ? "" : ` since ${when(since)}`;
  return `${visible(name)} (process ${pid}${own ? ", the server's own" : ""}${from})`;
}
