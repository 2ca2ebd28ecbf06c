import type { McpTaskEntry, ServerMcpTask, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { taskTitle } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import type { McpTasks as Known, ServerMcpTasks as OfServers } from "../../store/mcpTasks.ts";
import { isUnderWay } from "../../store/mcpTasks.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Page } from "../ui/Page.tsx";
import { useNow } from "../ui/useNow.ts";
import { McpTaskLine } from "./McpTaskLine.tsx";
import { ServerMcpTasks } from "./ServerMcpTasks.tsx";

export interface McpTasksProps {
  readonly known: Known;
  readonly ofServers: OfServers;
  /** The open task accepts calls. */
  readonly here: boolean;
  readonly tasks: readonly Task[];
  readonly onOpen: (taskId: string, messageId: number) => void;
  /** Resolves to whether the sidecar accepted it. If not, the person is told. */
  readonly onFollow: (task: ServerMcpTask) => Promise<boolean>;
  /** Requests the next page of the list. */
  readonly onMore: () => void;
  readonly onRetry: () => void;
  readonly onBack: () => void;
}

/** The MCP tasks of all servers and conversations, including those of closed windows. */
export function McpTasks(props: McpTasksProps) {
  const { known, ofServers, here, tasks, onOpen, onFollow, onMore, onRetry, onBack } = props;
  const { entries, more, reading, failure } = known;
  const running = entries?.filter(isUnderWay) ?? [];
  const ended = entries?.filter((entry) => !isUnderWay(entry)) ?? [];
  const now = useNow(running.length > 0 || ofServers.listed?.mcpTasks !== undefined);
  const list = (some: readonly McpTaskEntry[]) => (
    <ul>
      {some.map((entry) => (
        <li key={`${entry.taskId}:${entry.messageId}`}>
          <button
            type="button"
            className="task-option"
            onClick={() => onOpen(entry.taskId, entry.messageId)}
          >
            <McpTaskLine entry={entry} title={titleOf(entry, tasks)} now={now} />
          </button>
        </li>
      ))}
    </ul>
  );
  return (
    <Page heading={l10n.t("MCP tasks")} busy={known.reading} {...{ failure, onRetry, onBack }}>
      {entries !== undefined && running.length === 0 && (
        <p className="muted">{l10n.t("No MCP task is running.")}</p>
      )}
      {running.length > 0 && list(running)}
      {ended.length > 0 && (
        <Disclosure
          keep="mcp-tasks-ended"
          summary={
            more
              ? l10n.t("{0} ended, and older ones", ended.length)
              : l10n.t("{0} ended", ended.length)
          }
          initiallyOpen={running.length === 0}
        >
          {list(ended)}
          {more && (
            <button
              type="button"
              className="secondary small"
              aria-disabled={reading}
              onClick={() => {
                if (!reading) onMore();
              }}
            >
              {l10n.t("Show Older MCP Tasks")}
            </button>
          )}
        </Disclosure>
      )}
      <ServerMcpTasks {...{ ofServers, here, now, onFollow }} entries={entries ?? []} />
    </Page>
  );
}

/** The conversation may have been renamed since the list was read. */
function titleOf({ taskId, title, workspace }: McpTaskEntry, tasks: readonly Task[]): string {
  const known = taskTitle(tasks.find(({ id }) => id === taskId) ?? { title });
  return workspace === undefined ? known : `${known} (${visible(workspace)})`;
}
