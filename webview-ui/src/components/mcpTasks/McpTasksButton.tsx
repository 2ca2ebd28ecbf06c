import type { Ref } from "react";
import { IconButton } from "../ui/IconButton.tsx";

export interface McpTasksButtonProps {
  /** How many are under way. */
  readonly running: number;
  readonly shown: boolean;
  readonly ref: Ref<HTMLButtonElement>;
  readonly onToggle: () => void;
}

/** The way to the list of MCP tasks, and how many of them are under way. */
export function McpTasksButton({ running, shown, ref, onToggle }: McpTasksButtonProps) {
  return (
    <span className="mcp-tasks-button">
      <IconButton
        ref={ref}
        icon="server-process"
        label={running === 0 ? "MCP Tasks" : `MCP Tasks (${running} under way)`}
        aria-expanded={shown}
        onClick={onToggle}
      />
      {running > 0 && (
        <span className="badge" aria-hidden="true">
          {running}
        </span>
      )}
    </span>
  );
}
