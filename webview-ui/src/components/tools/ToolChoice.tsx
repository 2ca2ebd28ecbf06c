import type { Tool } from "@assent/protocol";
import { useId, useState } from "react";

export interface ToolChoiceProps {
  readonly tools: readonly Tool[];
  readonly chosen: Tool | undefined;
  readonly onChoose: (toolName: string) => void;
}

/** With more tools than this, there is a filter. */
const fewTools = 8;

/** Which of a server's tools. */
export function ToolChoice({ tools, chosen, onChoose }: ToolChoiceProps) {
  const [filter, setFilter] = useState("");
  const id = useId();
  const wanted = filter.trim().toLowerCase();
  const shown = tools.filter(
    (tool) =>
      tool === chosen ||
      [tool.name, tool.title].some((text) => text?.toLowerCase().includes(wanted)),
  );
  return (
    <div className="field">
      <label htmlFor={id}>Tool</label>
      {tools.length > fewTools && (
        <input
          type="search"
          aria-label="Filter the tools"
          placeholder={`Filter ${tools.length} tools`}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <select id={id} value={chosen?.name ?? ""} onChange={(event) => onChoose(event.target.value)}>
        <option value="" disabled>
          {tools.length === 0 ? "This server has no tools" : "Choose a tool…"}
        </option>
        {shown.map((tool) => (
          <option key={tool.name} value={tool.name}>
            {toolTitle(tool)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The title is the server's word for people, the name the one that calls show. */
function toolTitle({ name, title }: Tool): string {
  return title === undefined || title === "" || title === name ? name : `${title} (${name})`;
}
