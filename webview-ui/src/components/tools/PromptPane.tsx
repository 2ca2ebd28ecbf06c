import type { Prompt, StringField } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useMemo } from "react";
import { ItemChoice } from "./ItemChoice.tsx";
import type { CompleteArgument, PaneProps } from "./paneProps.ts";
import { RequestForm } from "./RequestForm.tsx";

export interface PromptPaneProps extends PaneProps {
  readonly prompts: readonly Prompt[];
  readonly promptName: string | undefined;
  readonly onChoose: (promptName: string) => void;
  /** Undefined while the server cannot be asked. */
  readonly complete: CompleteArgument | undefined;
}

/** A server's prompts: choose one, fill in its arguments, and see the result. */
export function PromptPane(props: PromptPaneProps) {
  const { serverName, prompts, promptName, disabled, onChoose, complete, onRun } = props;
  const prompt = prompts.find(({ name }) => name === promptName);
  const fields = useMemo(() => fieldsOf(prompt), [prompt]);
  return (
    <>
      <ItemChoice
        {...{ serverName }}
        kind="prompt"
        items={prompts}
        chosen={prompt}
        onChoose={({ name }) => onChoose(name)}
      />
      {prompt !== undefined && (
        <RequestForm
          key={JSON.stringify([serverName, prompt.name])}
          draftKey={`prompt:${JSON.stringify([serverName, prompt.name])}`}
          description={prompt.description}
          fields={fields}
          verb={l10n.t("Get Prompt")}
          disabled={disabled}
          complete={
            complete &&
            ((argument, signal) => complete({ promptName: prompt.name, ...argument }, signal))
          }
          onRun={(content) =>
            onRun({
              type: "prompts/get",
              promptName: prompt.name,
              // Every field is a text, and so is its value.
              arguments: content as Readonly<Record<string, string>>,
            })
          }
        />
      )}
    </>
  );
}

/** The arguments of a prompt, which are all texts. */
function fieldsOf(prompt: Prompt | undefined): readonly StringField[] {
  return (prompt?.arguments ?? []).map((argument) => ({ type: "string", ...argument }));
}
