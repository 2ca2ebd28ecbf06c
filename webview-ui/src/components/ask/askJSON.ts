import type {
  ContentBlock,
  Field,
  McpElicitationRequest,
  McpElicitationResponse,
  McpSamplingRequest,
  McpSamplingResponse,
  UseMcpServer,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { parseExact } from "../../lib/exactJSON.ts";
import { unreachable } from "../../lib/unreachable.ts";
import type { JSONPart } from "../ui/RawJSON.tsx";

/**
 * Returns a question and its answer as in the MCP specification: the request's params and, if there is one, the result.
 * Members that Assent does not read are left out, and secrets in a result are masked. Assent's own questions have no
 * JSON. An `undelivered` answer did not reach the server.
 */
export function askJSON(question: UseMcpServer, undelivered = false): readonly JSONPart[] {
  const result = (value: unknown): JSONPart => ({
    label: undelivered
      ? l10n.t("Answer (not delivered to the server)")
      : l10n.t("Returned to the server"),
    value,
  });
  switch (question.type) {
    case "mcp_elicitation": {
      const { elicitationRequest, elicitationResponse } = question;
      return [
        params("elicitation/create", elicitationParams(elicitationRequest)),
        ...(elicitationResponse === undefined
          ? []
          : [result(elicitationResult(elicitationResponse, elicitationRequest.fields ?? []))]),
      ];
    }
    case "mcp_url_elicitation": {
      const { message, url, elicitationResponse } = question;
      return [
        params("elicitation/create", { mode: "url", message, url }),
        ...(elicitationResponse === undefined
          ? []
          : [result(elicitationResult(elicitationResponse, []))]),
      ];
    }
    case "mcp_sampling": {
      const { samplingRequest, sentRequest, result: ended } = question;
      return [
        params("sampling/createMessage", samplingParams(samplingRequest)),
        ...(sentRequest === undefined
          ? []
          : [
              {
                label: l10n.t("Sent to the model after your edits"),
                value: samplingParams(sentRequest),
              },
            ]),
        ...(ended?.type === "response" ? [result(createMessageResult(ended))] : []),
      ];
    }
    case "mcp_sampling_review": {
      const { samplingResponse, sentResponse } = question;
      return [
        {
          label: l10n.t("{0}, result of the model", "sampling/createMessage"),
          value: createMessageResult(samplingResponse),
        },
        ...(sentResponse === undefined ? [] : [result(createMessageResult(sentResponse))]),
      ];
    }
    case "use_mcp_tool": {
      const { tool, arguments: args, argumentsText, sentArguments } = question;
      const exact = argumentsText === undefined ? args : parseExact(argumentsText);
      const { name } = tool;
      if (sentArguments === undefined) {
        return [params("tools/call", { name, arguments: exact })];
      }
      return [
        {
          label: l10n.t("{0}, params of the model", "tools/call"),
          value: { name, arguments: exact },
        },
        {
          label: l10n.t("Sent to the server after your edits"),
          value: { name, arguments: sentArguments },
        },
      ];
    }
    case "access_mcp_resource":
      return [params("resources/read", { uri: question.uri })];
    case "host_permission":
      return [{ label: l10n.t("Input of {0}", question.tool), value: parseExact(question.input) }];
    case "repeat_mcp_call":
      return [];
    default:
      return unreachable(question);
  }
}

function params(method: string, value: unknown): JSONPart {
  return { label: l10n.t("{0}, params", method), value };
}

function elicitationParams(request: McpElicitationRequest): unknown {
  const { message, requestedSchema, _meta } = request;
  return {
    message,
    ...(requestedSchema !== undefined && { requestedSchema: parseExact(requestedSchema) }),
    ...(_meta !== undefined && { _meta }),
  };
}

function elicitationResult(
  { action, content, secretFields = [] }: McpElicitationResponse,
  fields: readonly Field[],
): unknown {
  const secrets = fields.filter(({ secret }) => secret).map(({ name }) => name);
  return {
    action,
    ...(content !== undefined && { content: masked(content, [...secrets, ...secretFields]) }),
  };
}

/** The sidecar has masked them already, except while a server is still to receive them. */
function masked(content: unknown, secrets: readonly string[]): unknown {
  if (typeof content !== "object" || content === null || secrets.length === 0) return content;
  return Object.fromEntries(
    Object.entries(content).map(([name, value]: [string, unknown]) => [
      name,
      secrets.includes(name) ? "•••" : value,
    ]),
  );
}

function samplingParams({ messages = [], ...rest }: McpSamplingRequest): unknown {
  return {
    messages: messages.map(({ role, content = [] }) => ({ role, content: contentOf(content) })),
    ...rest,
  };
}

function createMessageResult(response: McpSamplingResponse): unknown {
  const { role, content = [], model, stopReason } = response;
  return {
    ...{ role, content: contentOf(content), model },
    ...(stopReason !== undefined && { stopReason }),
  };
}

/** A single block is written without an array, which every revision of MCP accepts. */
function contentOf(content: readonly ContentBlock[]): unknown {
  const blocks = content.map((block) => (block.type === "unknown" ? block.raw : block));
  return blocks.length === 1 ? blocks[0] : blocks;
}
