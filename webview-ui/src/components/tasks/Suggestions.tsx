import * as l10n from "@vscode/l10n";
import { Icon } from "../ui/Icon.tsx";

export interface SuggestionsProps {
  readonly prompts: readonly string[];
  readonly onChoose: (prompt: string) => void;
}

/** Suggested first messages. */
export const defaultPrompts = (): readonly string[] => [
  l10n.t("What can you do with the tools of my servers?"),
  l10n.t("Which of these tools only read, and which change something?"),
  l10n.t("List the resources that my servers offer, and summarize each one."),
];

/** Suggested prompts. Pressing one sends it. */
export function Suggestions({ prompts, onChoose }: SuggestionsProps) {
  return (
    <ul className="prompts" aria-label={l10n.t("Suggestions")}>
      {prompts.map((prompt) => (
        <li key={prompt}>
          <button type="button" className="prompt" onClick={() => onChoose(prompt)}>
            <Icon name="comment" />
            <span>{prompt}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
