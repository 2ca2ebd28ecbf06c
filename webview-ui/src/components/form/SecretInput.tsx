import * as l10n from "@vscode/l10n";
import { type InputHTMLAttributes, useState } from "react";

export interface SecretInputProps extends InputHTMLAttributes<HTMLInputElement> {
  /** The field's name. */
  readonly title: string;
}

/** A masked text input, with a button to show the text. */
export function SecretInput({ title, ...input }: SecretInputProps) {
  const [shown, setShown] = useState(false);
  return (
    <span className="secret-input">
      <input {...input} type={shown ? "text" : "password"} />
      <button
        type="button"
        className="secondary"
        aria-label={l10n.t("Show {0}", title)}
        aria-pressed={shown}
        onClick={() => setShown(!shown)}
      >
        {shown ? l10n.t("Hide") : l10n.t("Show")}
      </button>
    </span>
  );
}
