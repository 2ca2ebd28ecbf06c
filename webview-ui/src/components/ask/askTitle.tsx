import type { UseMcpServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import type { ReactNode } from "react";
import { filled } from "../../l10n.ts";
import { wanted } from "../inbox/OpenAskLine.tsx";
import { visible } from "../ui/visible.ts";

/** What an ask is about, in a line, and its icon. */
export interface AskTitle {
  readonly icon: string;
  /** The line, with something's name at {0}. */
  readonly words: string;
  /** The name to put at {0}; absent for the server's name. */
  readonly what?: string;
}

export function titleOf(question: UseMcpServer): AskTitle {
  switch (question.type) {
    case "use_mcp_tool": {
      const { tool, destructive = false } = question;
      return {
        icon: destructive ? "warning" : "tools",
        words: l10n.t("Allow {0}?"),
        what: visible(tool.title ?? tool.annotations?.title ?? tool.name),
      };
    }
    case "access_mcp_resource": {
      const { resource, uri } = question;
      return {
        icon: "file",
        words: l10n.t("Allow reading {0}?"),
        what: visible(resource?.title ?? resource?.name ?? uri),
      };
    }
    case "mcp_elicitation":
    case "mcp_url_elicitation":
    case "mcp_sampling":
    case "mcp_sampling_review":
    case "repeat_mcp_call":
      return wanted(question.type);
    default:
      question satisfies never;
      return { icon: "question", words: l10n.t("{0} asks") }; // its card says that it cannot be drawn
  }
}

export interface AskTitleLineProps {
  readonly question: UseMcpServer;
}

/** The same, drawn in a line. */
export function AskTitleLine({ question }: AskTitleLineProps): ReactNode {
  const { words, what } = titleOf(question);
  return (
    <>
      {filled(words, <strong className="name">{what ?? question.serverName}</strong>)}
      {what !== undefined && (
        <>
          {" "}
          <span className="muted name">{question.serverName}</span>
        </>
      )}
    </>
  );
}
