import type { Tool } from "@assent/protocol";
import { ItemChoice } from "./ItemChoice.tsx";
import type { PaneProps } from "./paneProps.ts";
import { RequestForm } from "./RequestForm.tsx";

export interface ToolPaneProps extends PaneProps {
  readonly tools: readonly Tool[];
  readonly toolName: string | undefined;
  readonly onChoose: (toolName: string) => void;
}

/** A server's tools: choose one, fill in its arguments, run it. */
export function ToolPane(props: ToolPaneProps) {
  const { serverName, tools, toolName, disabled, onChoose, onRun } = props;
  const tool = tools.find(({ name }) => name === toolName);
  return (
    <>
      <ItemChoice noun="tool" items={tools} chosen={tool} onChoose={({ name }) => onChoose(name)} />
      {tool !== undefined && (
        <RequestForm
          key={JSON.stringify([serverName, tool.name])}
          draftKey={`tool:${JSON.stringify([serverName, tool.name])}`}
          description={tool.description}
          fields={tool.fields ?? noFields}
          verb="Run"
          disabled={disabled}
          onRun={(content) =>
            onRun({ type: "tools/call", toolName: tool.name, arguments: content })
          }
        />
      )}
    </>
  );
}

const noFields = [] as const;
