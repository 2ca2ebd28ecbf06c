import type { CallToolRequest, Field, Tool } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { isExact, writeExact } from "../../lib/exactJSON.ts";
import { ItemChoice } from "./ItemChoice.tsx";
import type { PaneProps } from "./paneProps.ts";
import { RequestForm } from "./RequestForm.tsx";
import { TaskTTL } from "./TaskTTL.tsx";

export interface ToolPaneProps extends PaneProps {
  readonly tools: readonly Tool[];
  readonly toolName: string | undefined;
  readonly onChoose: (toolName: string) => void;
}

/** A server's tools: choose one, fill in its arguments, run it. */
export function ToolPane(props: ToolPaneProps) {
  const { serverName, tools, toolName, disabled, onChoose, onRun } = props;
  const tool = tools.find(({ name }) => name === toolName);
  const [ttl, setTTL] = useState<number>();
  return (
    <>
      <ItemChoice
        {...{ serverName }}
        kind="tool"
        items={tools}
        chosen={tool}
        onChoose={({ name }) => onChoose(name)}
      />
      {tool !== undefined && (
        <RequestForm
          key={JSON.stringify([serverName, tool.name])}
          draftKey={`tool:${JSON.stringify([serverName, tool.name])}`}
          description={tool.description}
          fields={fieldsOf(tool)}
          verb={l10n.t("Run")}
          disabled={disabled}
          exactNumbers="exact"
          onRun={async (content) => onRun(callOf(tool, withMore(content), ttl))}
        >
          {tool.mcpTask === true && <TaskTTL ttl={ttl} onChange={setTTL} />}
        </RequestForm>
      )}
    </>
  );
}

/** The name of the field for arguments that the other fields do not have. */
const more = "…";

function fieldsOf({ fields = [], moreArguments = false }: Tool): readonly Field[] {
  if (!moreArguments) return fields;
  const title =
    fields.length === 0
      ? l10n.t("Arguments, as a JSON object")
      : l10n.t("Other arguments, as a JSON object");
  return [...fields, { type: "json", name: more, title, schema: { type: "object" } }];
}

type Content = Readonly<Record<string, unknown>>;

/** Returns the arguments of all fields. */
function withMore({ [more]: others = {}, ...content }: Content): Content {
  if (
    typeof others !== "object" ||
    others === null ||
    Array.isArray(others) ||
    "rawJSON" in others
  ) {
    throw new Error(l10n.t("The other arguments must be a JSON object, such as {0}.", '{"a": 1}'));
  }
  return { ...others, ...content };
}

/** A call with all digits of its numbers: as a text, if a double cannot hold one of them. */
function callOf(
  { name, mcpTask = false }: Tool,
  content: Readonly<Record<string, unknown>>,
  ttl: number | undefined,
): CallToolRequest {
  const text = writeExact(content);
  return {
    type: "tools/call",
    toolName: name,
    arguments: JSON.parse(text),
    ...(!isExact(text) && { argumentsText: text }),
    ...(mcpTask && ttl !== undefined && { taskTtl: ttl }),
  };
}
