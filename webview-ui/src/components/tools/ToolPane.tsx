import type { CallToolRequest, Tool } from "@assent/protocol";
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
          fields={tool.fields ?? noFields}
          verb={l10n.t("Run")}
          disabled={disabled}
          exactNumbers="exact"
          onRun={(content) => onRun(callOf(tool, content, ttl))}
        >
          {tool.mcpTask === true && <TaskTTL ttl={ttl} onChange={setTTL} />}
        </RequestForm>
      )}
    </>
  );
}

const noFields = [] as const;

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
