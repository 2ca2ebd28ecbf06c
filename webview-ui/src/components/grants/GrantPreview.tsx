import type { PreviewedRequest, PreviewGrantResult } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { briefly, money } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { Icon } from "../ui/Icon.tsx";

export interface GrantPreviewProps {
  readonly result: PreviewGrantResult;
  readonly serverName: string;
  /** Reveals the request. */
  readonly onOpen: (taskId: string, messageId: number) => void;
}

/** Shows which past requests of a server a grant would have allowed. */
export function GrantPreview({ result, serverName, onOpen }: GrantPreviewProps) {
  const { requests = [], truncated = false } = result;
  return (
    <div className="grant-preview">
      <p role="status">
        {requests.length === 0
          ? l10n.t("{0} has not asked a model yet.", serverName)
          : sumOf(requests)}
      </p>
      <ul aria-label={l10n.t("Past requests")}>
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
                {request.allowed ? l10n.t("allowed") : l10n.t("would have asked")}
                {request.reason !== undefined && `: ${visible(request.reason)}`}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {truncated && <p className="muted">{l10n.t("Older requests were not tried.")}</p>}
    </div>
  );
}

function titleOf({ at, toolNames = [], modelId, usage }: PreviewedRequest): string {
  return [
    briefly(at),
    ...toolNames.map(visible),
    ...(modelId === undefined ? [] : [visible(modelId)]),
    plural(usage.inputTokens + usage.outputTokens, l10n.t("1 token"), l10n.t("{0} tokens")),
    ...(usage.cost === undefined ? [] : [money(usage.cost)]),
  ].join(" · ");
}

/** The total of the allowed requests. A cost is shown only if all prices are known. */
function sumOf(requests: readonly PreviewedRequest[]): string {
  const allowed = requests.filter((request) => request.allowed);
  const tokens = allowed.reduce(
    (sum, { usage }) => sum + usage.inputTokens + usage.outputTokens,
    0,
  );
  const costs = allowed.flatMap(({ usage: { cost } }) => (cost === undefined ? [] : [cost]));
  const isPriced = allowed.length > 0 && costs.length === allowed.length;
  return [
    plural(
      requests.length,
      l10n.t("It would have allowed {1} of 1 past request"),
      l10n.t("It would have allowed {1} of {0} past requests"),
      allowed.length,
    ),
    plural(tokens, l10n.t("1 token"), l10n.t("{0} tokens")),
    ...(isPriced ? [money(costs.reduce((sum, cost) => sum + cost, 0))] : []),
  ].join(", ");
}
