// The wires of the providers on which hosts reach their model, as far as a model needs them that calls one tool and says
// one text. Every answer is a stream of server-sent events.

/** A tool that a host offers its model. */
export interface Offered {
  readonly name: string;
  /** Codex puts the tools of a server into a group, which a call has to name. */
  readonly namespace?: string;
}

/** What a model needs to know of a request. */
export interface Asked {
  readonly tools: readonly Offered[];
  /** What the tools returned so far, as the host shows it to its model. */
  readonly results: readonly string[];
}

/** How a provider's requests are read, and its answers written. */
export interface Wire {
  /** The end of the path of its requests. */
  readonly path: string;
  read(body: unknown): Asked;
  /** An answer is the data of its events. */
  say(text: string): readonly (object | string)[];
  call(tool: Offered, args: object): readonly (object | string)[];
}

interface ResponsesBody {
  readonly input: readonly { readonly type?: string; readonly output?: unknown }[];
  readonly tools?: readonly (
    | { readonly name: string; readonly tools: readonly Offered[] }
    | { readonly name?: string; readonly tools?: undefined }
  )[];
}

/** OpenAI's responses, which Codex uses. */
const responses: Wire = {
  path: "/responses",
  read(body) {
    const { input, tools = [] } = body as ResponsesBody;
    return {
      tools: tools.flatMap((tool) => {
        if (tool.tools !== undefined) {
          return tool.tools.map(({ name }) => ({ name, namespace: tool.name }));
        }
        // Tools of the provider's own, such as a search of the web, have no name.
        return tool.name === undefined ? [] : [{ name: tool.name }];
      }),
      results: input
        .filter(({ type }) => type === "function_call_output")
        .map(({ output }) => written(output)),
    };
  },
  say: (text) =>
    response({
      type: "message",
      id: "item-1",
      role: "assistant",
      content: [{ type: "output_text", text }],
    }),
  call: (tool, args) =>
    response({
      type: "function_call",
      id: "item-1",
      call_id: "call-1",
      arguments: JSON.stringify(args),
      ...tool,
    }),
};

function response(item: object): readonly object[] {
  const id = "response-1";
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return [
    { type: "response.created", response: { id } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id, usage } },
  ];
}

interface GeminiBody {
  readonly contents: readonly {
    readonly parts?: readonly {
      readonly functionResponse?: { readonly response: { readonly output?: unknown } };
    }[];
  }[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly Offered[] }[];
}

/** Gemini's own, which Gemini CLI uses. */
const gemini: Wire = {
  path: ":streamGenerateContent",
  read(body) {
    const { contents, tools = [] } = body as GeminiBody;
    return {
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
      results: contents
        .flatMap(({ parts = [] }) => parts)
        .flatMap(({ functionResponse: it }) =>
          it === undefined ? [] : [written(it.response.output)],
        ),
    };
  },
  say: (text) => [candidate({ text })],
  call: ({ name }, args) => [candidate({ functionCall: { name, args } })],
};

function candidate(part: object): object {
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const content = { role: "model", parts: [part] };
  return { candidates: [{ index: 0, content, finishReason: "STOP" }], usageMetadata };
}

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: Offered }[];
}

/** OpenAI's chat completions, which opencode uses, and most hosts can. */
const chat: Wire = {
  path: "/chat/completions",
  read(body) {
    const { messages, tools = [] } = body as ChatBody;
    return {
      tools: tools.map((tool) => tool.function),
      results: messages
        .filter(({ role }) => role === "tool")
        .map(({ content }) => written(content)),
    };
  },
  say: (content) => chunks({ content }, "stop"),
  call({ name }, args) {
    const called = { name, arguments: JSON.stringify(args) };
    return chunks(
      { tool_calls: [{ index: 0, id: "call-1", type: "function", function: called }] },
      "tool_calls",
    );
  },
};

function chunks(delta: object, finish_reason: string): readonly (object | string)[] {
  const choice = (members: object) => ({
    id: "chat-1",
    object: "chat.completion.chunk",
    created: 0,
    model: "scripted",
    choices: [{ index: 0, ...members }],
  });
  return [
    choice({ delta: { role: "assistant", ...delta }, finish_reason: null }),
    choice({ delta: {}, finish_reason }),
    "[DONE]",
  ];
}

interface MessagesBody {
  readonly messages: readonly {
    readonly content: string | readonly { readonly type: string; readonly content?: unknown }[];
  }[];
  readonly tools?: readonly Offered[];
}

/** Anthropic's messages, which Claude Code uses. */
const messages: Wire = {
  path: "/messages",
  read(body) {
    const { messages, tools = [] } = body as MessagesBody;
    return {
      tools,
      results: messages
        .flatMap(({ content }) => (typeof content === "string" ? [] : content))
        .filter(({ type }) => type === "tool_result")
        .map(({ content }) => written(content)),
    };
  },
  say: (text) => message({ type: "text", text: "" }, { type: "text_delta", text }, "end_turn"),
  call: ({ name }, args) =>
    message(
      { type: "tool_use", id: "call-1", name, input: {} },
      { type: "input_json_delta", partial_json: JSON.stringify(args) },
      "tool_use",
    ),
};

/** An answer of Anthropic's messages. Claude Code takes two with one id for one. */
export function message(
  block: object,
  delta: object,
  stop_reason: string,
  id = "message-1",
): readonly object[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const empty = { type: "message", role: "assistant", model: "scripted", content: [] };
  return [
    { type: "message_start", message: { id, ...empty, usage } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason }, usage },
    { type: "message_stop" },
  ];
}

export const wires: readonly Wire[] = [responses, gemini, chat, messages];

function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
