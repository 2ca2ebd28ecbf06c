import * as l10n from "@vscode/l10n";
import { useId } from "react";

export interface TaskTTLProps {
  /** In milliseconds; undefined for Assent's default. */
  readonly ttl: number | undefined;
  readonly onChange: (ttl: number | undefined) => void;
}

const hour = 3_600_000;
const day = 24 * hour;

/** How long the server should keep the MCP task of a call, with its result. */
export function TaskTTL({ ttl, onChange }: TaskTTLProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{l10n.t("The server keeps the result for")}</label>
      <select
        id={id}
        value={ttl ?? ""}
        onChange={({ target: { value } }) => onChange(value === "" ? undefined : Number(value))}
      >
        <option value={hour}>{l10n.t("1 hour")}</option>
        <option value={day}>{l10n.t("1 day")}</option>
        <option value="">{l10n.t("7 days")}</option>
        <option value={30 * day}>{l10n.t("30 days")}</option>
      </select>
    </div>
  );
}
