import type { Model, TaskSettings } from "@assent/protocol";
import * as l10n from "@vscode/l10n";

export interface ModelChoiceProps {
  /** Undefined until they were listed. */
  readonly models: readonly Model[] | undefined;
  readonly settings: TaskSettings;
  readonly onChange: (settings: TaskSettings) => void;
}

/** The model of a conversation. Without a choice, it is the first one. */
export function ModelChoice({ models = [], settings, onChange }: ModelChoiceProps) {
  const chosen = settings.modelId ?? models[0]?.id ?? "";
  const known = models.some(({ id }) => id === chosen);
  return (
    <select
      className="composer-model"
      aria-label={l10n.t("Model of the conversation")}
      value={chosen}
      onChange={({ target }) => onChange({ ...settings, modelId: target.value })}
    >
      {!known && (
        <option value={chosen}>
          {chosen === "" ? l10n.t("No model") : l10n.t("{0} (not there now)", chosen)}
        </option>
      )}
      {models.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
