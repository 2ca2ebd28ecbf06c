import type { PreviewedRequest, PreviewGrantResult } from "@assent/protocol";
import { Icon } from "../ui/Icon.tsx";
import { visible } from "../ui/visible.ts";
import { briefly, count, money } from "../ui/words.ts";

export interface GrantPreviewProps {
  readonly result: PreviewGrantResult;
  readonly serverName: string;
  /** Brings the request into view. */
  readonly onOpen: (taskId: string, messageId: number) => void;
}

/** What a grant would have done to a server's past requests. */
export function GrantPreview({ result, serverName, onOpen }: GrantPreviewProps) {
  const { requests = [], truncated = false } = result;
  return (
    <div className="grant-preview">
      <p role="status">
        {requests.length === 0 ? `${serverName} has asked no model yet.` : sumOf(requests)}
      </p>
      <ul aria-label="Past requests">
        {requests.map((request) => (
          <li key={`${request.taskId}:${request.messageId}`}>
            <button
              type="button"
              className="task-option"
              onClick={() => onOpen(request.taskId, request.messageId)}
            >
              <span className="mcp-task-line">
                <Icon name={request.allowed ? "pass" : "question"} />
                <span className="task-line-title">{titleOf(request)}</span>
              </span>
              <span className="mcp-task-more muted">
                {request.allowed ? "allowed" : "would have asked"}
                {request.reason !== undefined && `: ${visible(request.reason)}`}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {truncated && <p className="muted">There were older ones, which were not tried.</p>}
    </div>
  );
}

function titleOf({ at, toolNames = [], modelId, usage }: PreviewedRequest): string {
  return [
    briefly(at),
    ...toolNames.map(visible),
    ...(modelId === undefined ? [] : [visible(modelId)]),
    count(usage.inputTokens + usage.outputTokens, "token"),
    ...(usage.cost === undefined ? [] : [money(usage.cost)]),
  ].join(" · ");
}

/** What the allowed ones come to. A sum in which a price is missing would be wrong. */
function sumOf(requests: readonly PreviewedRequest[]): string {
  const allowed = requests.filter((request) => request.allowed);
  const tokens = allowed.reduce(
    (sum, { usage }) => sum + usage.inputTokens + usage.outputTokens,
    0,
  );
  const costs = allowed.flatMap(({ usage: { cost } }) => (cost === undefined ? [] : [cost]));
  const isPriced = allowed.length > 0 && costs.length === allowed.length;
  return [
    `It would have allowed ${allowed.length} of ${count(requests.length, "past request")}`,
    count(tokens, "token"),
    ...(isPriced ? [money(costs.reduce((sum, cost) => sum + cost, 0))] : []),
  ].join(", ");
}
