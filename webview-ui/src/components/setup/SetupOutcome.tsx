import type {
  ApplySetupResult,
  FileRestored,
  RestoredFile,
  RestoreSetupResult,
  SetupProblem,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { listed, plural } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import { Icon } from "../ui/Icon.tsx";

/** What setup or restore did last. */
export type Outcome =
  | { readonly type: "applied"; readonly result: ApplySetupResult }
  | { readonly type: "restored"; readonly result: RestoreSetupResult };

export interface SetupOutcomeProps {
  readonly outcome: Outcome;
}

/** What setup or restore did, for the person and for screen readers. */
export function SetupOutcome({ outcome }: SetupOutcomeProps) {
  const { problems = [] } = outcome.result;
  return (
    <div role="status">
      {outcome.type === "applied" ? (
        <Applied result={outcome.result} />
      ) : (
        <Restored result={outcome.result} />
      )}
      {problems.map((problem) => (
        <Problem key={`${problem.path} ${problem.message}`} problem={problem} />
      ))}
    </div>
  );
}

function Applied({ result }: { readonly result: ApplySetupResult }) {
  const { added = [], secrets = 0, files = [] } = result;
  if (files.length === 0) return <p>{l10n.t("Nothing was changed.")}</p>;
  return (
    <>
      <p>
        {plural(files.length, l10n.t("Changed 1 file."), l10n.t("Changed {0} files."))}{" "}
        {l10n.t("Restart the programs that are running.")}
      </p>
      {added.length > 0 && (
        <p>{l10n.t("Added to your own servers: {0}.", listed(added.map(visible)))}</p>
      )}
      {secrets > 0 && (
        <p>{plural(secrets, l10n.t("Moved 1 secret."), l10n.t("Moved {0} secrets."))}</p>
      )}
    </>
  );
}

function Restored({
  result: { files = [], problems = [] },
}: {
  readonly result: RestoreSetupResult;
}) {
  if (files.length === 0 && problems.length === 0) {
    return <p>{l10n.t("There is nothing to restore.")}</p>;
  }
  return (
    <ul className="setup-paths">
      {files.map((file) => (
        <li key={file.path}>
          <File file={file} />
        </li>
      ))}
    </ul>
  );
}

function File({ file: { path, how, notes = [] } }: { readonly file: RestoredFile }) {
  return (
    <>
      <code>{visible(path)}</code>: {wordsOf(how)}
      {notes.map((note) => (
        <span key={note}> {visible(note)}</span>
      ))}
    </>
  );
}

function wordsOf(how: FileRestored): string {
  switch (how) {
    case "put back":
      return l10n.t("As it was before.");
    case "removed":
      return l10n.t("Removed, because it was not there before.");
    case "merged":
      return l10n.t("You or a program had changed it. Assent took back only its own entries.");
    case "untouched":
      return l10n.t("It already was as before setup.");
    default:
      return unreachable(how);
  }
}

function Problem({ problem: { path, message } }: { readonly problem: SetupProblem }) {
  return (
    <p className="setup-note">
      <Icon name="warning" />
      <span>
        <code>{visible(path)}</code>: {visible(message)}
      </span>
    </p>
  );
}
