import type { AskWants, HostPermission, UseMcpServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import type { ReactNode } from "react";
import { filled } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";

import { visible } from "../../lib/visible.ts";
import { contentTitle, firstLine } from "../../timeline/subject.ts";

/** The one-line title of an ask, and its icon. */
export interface AskTitle {
  readonly icon: string;
  /** The server's own words, which come first; undefined if it has none. */
  readonly asked?: string | undefined;
  /** The line, with something's name at {0}. */
  readonly words: string;
  /** The name to put at {0}; undefined for the server's name. */
  readonly what?: string;
}

/** The title of each kind of card, with the server's name at {0}, and its icon. */
export function wanted(wants: AskWants): { readonly icon: string; readonly words: string } {
  switch (wants) {
    case "mcp_elicitation":
      return { icon: "question", words: l10n.t("{0} asks") };
    case "mcp_url_elicitation":
      return { icon: "link-external", words: l10n.t("{0} wants you to open a page") };
    case "mcp_sampling":
      return { icon: "sparkle", words: l10n.t("{0} wants to ask a model") };
    case "mcp_sampling_review":
      return { icon: "eye", words: l10n.t("Review the answer for {0}") };
    case "use_mcp_tool":
      return { icon: "tools", words: l10n.t("A model wants to use a tool of {0}") };
    case "use_mcp_tool_for_app":
      return { icon: "tools", words: l10n.t("{0}'s app wants to call a tool") };
    case "access_mcp_resource":
      return { icon: "file", words: l10n.t("A model wants to read a resource of {0}") };
    case "repeat_mcp_call":
      return { icon: "debug-restart", words: l10n.t("Call {0} again?") };
    case "host_permission":
      return { icon: "shield", words: l10n.t("{0} asks for your permission") };
    default:
      return unreachable(wants);
  }
}

export function titleOf(question: UseMcpServer): AskTitle {
  switch (question.type) {
    case "use_mcp_tool": {
      const { tool, destructive = false, fromApp = false, serverName } = question;
      return {
        icon: destructive ? "warning" : "tools",
        words: fromApp
          ? l10n.t("{1}'s app wants to call {0}", "{0}", visible(serverName))
          : l10n.t("Allow {0}?"),
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
      return { ...wanted(question.type), asked: firstLine(question.elicitationRequest.message) };
    case "mcp_url_elicitation":
      return { ...wanted(question.type), asked: firstLine(question.message) };
    case "mcp_sampling": {
      const { samplingRequest, secrets = [] } = question;
      const last = samplingRequest.messages?.at(-1)?.content ?? [];
      // Other people may see the title.
      const asked = secrets.length > 0 ? undefined : contentTitle(last);
      return { ...wanted(question.type), asked };
    }
    case "host_permission":
      return { icon: "shield", words: permissionWords(question) };
    case "mcp_sampling_review":
    case "repeat_mcp_call":
      return wanted(question.type);
    default:
      question satisfies never;
      return { icon: "question", words: l10n.t("{0} asks") }; // the card says that it cannot be drawn
  }
}

/** What an agent wants to do, with its host's name at {0}. */
function permissionWords({ command, changes = [], plan, tool }: HostPermission): string {
  if (plan !== undefined) return l10n.t("{0} has a plan");
  if (command !== undefined) return l10n.t("{0} wants to run a command");
  return changes.length > 0
    ? l10n.t("{0} wants to change a file")
    : l10n.t("{0} wants to use {1}", "{0}", visible(tool));
}

export interface AskTitleLineProps {
  readonly question: UseMcpServer;
}

/** Renders the title as elements: the question, and then who asks. */
export function AskTitleLine({ question }: AskTitleLineProps): ReactNode {
  const { words, what, asked } = titleOf(question);
  const { serverName } = question;
  if (asked !== undefined) {
    return (
      <>
        <q className="name">{asked}</q>{" "}
        <span className="muted ask-from">
          {filled(words, <span className="name">{serverName}</span>)}
        </span>
      </>
    );
  }
  return (
    <>
      {filled(words, <strong className="name">{what ?? serverName}</strong>)}
      {what !== undefined && (
        <>
          {" "}
          <span className="muted name ask-from">{serverName}</span>
        </>
      )}
    </>
  );
}

/** The title as a text, for screen readers. */
export function askTitleText(question: UseMcpServer): string {
  const { words, what, asked } = titleOf(question);
  const { serverName } = question;
  const kind = words.replace("{0}", () => what ?? serverName); // a name may have a $
  if (asked !== undefined) return l10n.t("{0} {1}.", asked, kind);
  return what === undefined ? kind : l10n.t("{0} {1}.", kind, serverName);
}
