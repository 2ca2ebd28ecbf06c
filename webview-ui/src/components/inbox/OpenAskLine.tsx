import type { AskWants, OpenAsk } from "@assent/protocol";
import { during } from "../chat/during.ts";
import { brief } from "../ui/brief.ts";
import { Icon } from "../ui/Icon.tsx";
import { elapsed } from "../ui/words.ts";

export interface OpenAskLineProps {
  readonly ask: OpenAsk;
  readonly now: number;
}

/** What the card of each kind says, with its icon. */
export const does: Readonly<Record<AskWants, { readonly icon: string; readonly words: string }>> = {
  mcp_elicitation: { icon: "question", words: "asks" },
  mcp_url_elicitation: { icon: "link-external", words: "wants you to open a page" },
  mcp_sampling: { icon: "sparkle", words: "wants a completion" },
  mcp_sampling_review: { icon: "eye", words: "is to get an answer" },
  use_mcp_tool: { icon: "tools", words: "has a tool that a model wants to use" },
  access_mcp_resource: { icon: "file", words: "has a resource that a model wants to read" },
};

/** An open question in a list: who asks, what about, during what, and for how long it has waited. */
export function OpenAskLine({ ask, now }: OpenAskLineProps) {
  const { origin, wants, text = "", time, elsewhere = false } = ask;
  const { icon, words } = does[wants];
  const occasion = during(origin);
  return (
    <>
      <span className="mcp-task-line">
        <Icon name={icon} />
        <span className="task-line-title">
          <strong className="name">{origin.serverName}</strong>{" "}
          <span className="muted">{words}</span>
        </span>
      </span>
      {text !== "" && <span className="mcp-task-more mcp-task-says">{brief(text)}</span>}
      <span className="mcp-task-more muted">
        {`for ${elapsed(now - time)}`}
        {occasion !== undefined && `, ${brief(occasion)}`}
        {elsewhere && ", not in this window"}
      </span>
    </>
  );
}
