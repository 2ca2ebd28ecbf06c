import * as l10n from "@vscode/l10n";

export interface TerminalButtonProps {
  readonly ready: boolean;
  readonly busy: boolean;
  readonly onClick: () => void;
}

/** Leaves a question of an agent's host to the host's own prompt. */
export function TerminalButton({ ready, busy, onClick }: TerminalButtonProps) {
  const enabled = ready && !busy;
  return (
    <button
      type="button"
      className="secondary"
      aria-disabled={!enabled}
      onClick={() => {
        if (enabled) onClick();
      }}
    >
      {l10n.t("Answer in the Terminal")}
    </button>
  );
}
