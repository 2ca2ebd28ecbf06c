import {
  type ContentBlock,
  ErrorCode,
  type LanguageModelMessage,
  type LanguageModelRequest,
  type LanguageModelResponse,
  type ListLanguageModelsResult,
  type SamplingTool,
  type ToolUseContent,
} from "@assent/protocol";
import * as vscode from "vscode";
import { ResponseError } from "vscode-jsonrpc/node";

export async function listLanguageModels(): Promise<ListLanguageModelsResult> {
  const models = await vscode.lm.selectChatModels();
  return {
    models: models.map((model) => {
      const { name, vendor, family, maxInputTokens } = model;
      return { id: idOf(model), name, vendor, family, maxInputTokens };
    }),
  };
}

/** Continues a conversation with one of VS Code's models, and passes on each piece as it arrives. */
export async function sendLanguageModelRequest(
  request: LanguageModelRequest,
  piece: (text: string) => void,
  token: vscode.CancellationToken,
): Promise<LanguageModelResponse> {
  const models = await vscode.lm.selectChatModels();
  const model = models.find((candidate) => idOf(candidate) === request.modelId);
  if (model === undefined) {
    throw failure(
      vscode.l10n.t(
        "VS Code no longer has the language model {0}. Choose another one.",
        request.modelId,
      ),
    );
  }
  const messages = (request.messages ?? []).map(toMessage);
  const toolUses: ToolUseContent[] = [];
  try {
    const response = await model.sendRequest(messages, toOptions(request), token);
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) piece(part.value);
      else if (part instanceof vscode.LanguageModelToolCallPart) {
        toolUses.push({ type: "tool_use", id: part.callId, name: part.name, input: part.input });
      }
    }
  } catch (error) {
    if (!token.isCancellationRequested) throw readable(error, model);
  }
  // Models may end a cancelled answer with an error, or as if it were complete.
  if (token.isCancellationRequested) {
    throw new ResponseError(
      ErrorCode.RequestCancelled,
      vscode.l10n.t("The request was cancelled."),
    );
  }
  return toolUses.length === 0 ? {} : { toolUses };
}

/** VS Code promises only that an id is unique among the models of one vendor. */
export function idOf({ vendor, id }: vscode.LanguageModelChat): string {
  return `${vendor}/${id}`;
}

function toMessage(message: LanguageModelMessage): vscode.LanguageModelChatMessage {
  const parts = (message.content ?? []).map(toPart);
  return message.role === "user"
    ? vscode.LanguageModelChatMessage.User(parts.map(usersPart))
    : vscode.LanguageModelChatMessage.Assistant(parts.map(assistantsPart));
}

type Part =
  | vscode.LanguageModelTextPart
  | vscode.LanguageModelDataPart
  | vscode.LanguageModelToolCallPart
  | vscode.LanguageModelToolResultPart;

function usersPart(part: Part): Exclude<Part, vscode.LanguageModelToolCallPart> {
  if (!(part instanceof vscode.LanguageModelToolCallPart)) return part;
  throw failure(vscode.l10n.t("A message of the user cannot have a tool call."));
}

function assistantsPart(part: Part): Exclude<Part, vscode.LanguageModelToolResultPart> {
  if (!(part instanceof vscode.LanguageModelToolResultPart)) return part;
  throw failure(vscode.l10n.t("A message of the assistant cannot have a tool's result."));
}

function toPart(block: ContentBlock): Part {
  switch (block.type) {
    case "text":
      return new vscode.LanguageModelTextPart(block.text);
    case "image":
      return vscode.LanguageModelDataPart.image(Buffer.from(block.data, "base64"), block.mimeType);
    case "tool_use":
      return new vscode.LanguageModelToolCallPart(block.id, block.name, block.input as object);
    case "tool_result":
      return new vscode.LanguageModelToolResultPart(
        block.toolUseId,
        (block.content ?? []).map(toPart),
      );
    case "audio":
    case "resource":
    case "resource_link":
    case "unknown":
      throw failure(
        vscode.l10n.t("VS Code's language models do not accept content of type {0}.", block.type),
      );
    default:
      return block satisfies never;
  }
}

/** VS Code passes these options to the model unchanged. The names are those of OpenAI's and Copilot's models. */
function toOptions(request: LanguageModelRequest): vscode.LanguageModelChatRequestOptions {
  const { justification, maxTokens, temperature, stopSequences, tools, toolRequired } = request;
  return {
    justification,
    ...(tools === undefined ? {} : { tools: tools.map(toTool) }),
    ...(toolRequired === true ? { toolMode: vscode.LanguageModelChatToolMode.Required } : {}),
    modelOptions: {
      max_tokens: maxTokens,
      ...(temperature === undefined ? {} : { temperature }),
      ...(stopSequences === undefined ? {} : { stop: stopSequences }),
    },
  };
}

function toTool({ name, description, inputSchema }: SamplingTool): vscode.LanguageModelChatTool {
  return { name, description: description ?? "", inputSchema: (inputSchema ?? {}) as object };
}

function readable(error: unknown, model: vscode.LanguageModelChat): ResponseError<void> {
  if (error instanceof ResponseError) return error;
  if (error instanceof vscode.LanguageModelError) {
    switch (error.code) {
      case vscode.LanguageModelError.NoPermissions.name:
        return failure(
          vscode.l10n.t(
            'Assent is not allowed to use {0}. Allow it in "Manage Language Model Access", or choose another model.',
            model.name,
          ),
        );
      case vscode.LanguageModelError.Blocked.name:
        return failure(
          vscode.l10n.t(
            "{0} refused: its quota is used up, or its content filter blocked the request.",
            model.name,
          ),
        );
      case vscode.LanguageModelError.NotFound.name:
        return failure(
          vscode.l10n.t(
            "VS Code no longer has the language model {0}. Choose another one.",
            model.name,
          ),
        );
    }
  }
  return failure(
    vscode.l10n.t(
      "{0} failed: {1}",
      model.name,
      error instanceof Error ? error.message : String(error),
    ),
  );
}

function failure(message: string): ResponseError<void> {
  return new ResponseError(ErrorCode.InternalError, message);
}
