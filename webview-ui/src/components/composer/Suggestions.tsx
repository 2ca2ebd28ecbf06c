import { Icon } from "../ui/Icon.tsx";

export interface SuggestionsProps {
  readonly prompts: readonly string[];
  readonly onChoose: (prompt: string) => void;
}

/** What a person could say first. */
export const defaultPrompts: readonly string[] = [
  "What can you do with the tools of my servers?",
  "Which of these tools only read, and which change something?",
  "List the resources that my servers offer, and say what is in them.",
];

/** Prompts to begin with: one press sends one. */
export function Suggestions({ prompts, onChoose }: SuggestionsProps) {
  return (
    <ul className="prompts" aria-label="Suggestions">
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
