import { useEffect, useRef } from "react";
import { openAsksOf } from "../../store/openAsks.ts";
import type { Actions } from "../../store/session.ts";
import type { State } from "../../store/state.ts";

/**
 * Reads which models a server may use, again for each request that waits for approval and each answer that waits for
 * review.
 */
export function useModels({ conversation, sidecar, models }: State, actions: Actions): void {
  const running = sidecar.state === "running";
  const asked = useRef(new Set<string>());
  const hadModels = useRef(false);
  useEffect(() => {
    // A new connection or sidecar invalidates the known models.
    if (!running || (hadModels.current && models.size === 0)) asked.current.clear();
    hadModels.current = models.size > 0;
    if (!running) return;
    // The models of a conversation, which no server asks for.
    if (!asked.current.has("")) {
      asked.current.add("");
      actions.listModels("");
    }
    const news = openAsksOf(conversation).filter(
      ({ askId, question }) =>
        (question.type === "mcp_sampling" || question.type === "mcp_sampling_review") &&
        !asked.current.has(askId),
    );
    for (const { askId } of news) asked.current.add(askId);
    const servers = new Set(news.map(({ question }) => question.serverName));
    for (const serverName of servers) actions.listModels(serverName, conversation?.task);
  }, [running, conversation, models, actions]);
}
