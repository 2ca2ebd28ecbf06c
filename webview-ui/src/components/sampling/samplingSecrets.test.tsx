import type {
  ContentBlock,
  McpSamplingRequest,
  SamplingContext,
  SecretFinding,
} from "@assent/protocol";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { demoModel } from "../../testing/samples.ts";
import { blockWithoutSecrets, masked } from "../../timeline/secrets.ts";
import { McpSamplingApproval, type McpSamplingApprovalProps } from "./McpSamplingApproval.tsx";

// The half second before an ask can be answered has a test of its own.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

// Put together here, so that scanners of source code do not take them for real ones.
const key = ["AKIA", "Q3EGRIJ4XKBDEMPL"].join("");
const password = ["hunter", '2"and more'].join("");
const aws: SecretFinding = { description: "an AWS access key", text: key };
const held: SecretFinding = { description: "the password of mail", text: password };

const request: McpSamplingRequest = {
  systemPrompt: `Use ${key}.`,
  messages: [
    { role: "user", content: [{ type: "text", text: `**Key** ${key}, ${key}; ${password}` }] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c", name: "login", input: { password } }],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", toolUseId: "c", content: [{ type: "text", text: "Welcome" }] },
      ],
    },
  ],
  maxTokens: 10,
};

function show(part: Partial<McpSamplingApprovalProps> = {}) {
  const onApprove = vi.fn<McpSamplingApprovalProps["onApprove"]>();
  const onDraft = vi.fn<McpSamplingApprovalProps["onDraft"]>();
  const card = (more: Partial<McpSamplingApprovalProps> = {}) => (
    <McpSamplingApproval
      askId="a1"
      serverName="database"
      toolNames={[]}
      request={request}
      secrets={[aws, held]}
      model={demoModel}
      models={[demoModel]}
      draft={undefined}
      busy={false}
      refusal={undefined}
      keep="t1:1"
      onDraft={onDraft}
      onApprove={onApprove}
      onDecline={() => {}}
      onCancel={() => {}}
      {...part}
      {...more}
    />
  );
  const { rerender, ...drawn } = render(card());
  return {
    ...drawn,
    onApprove,
    onDraft,
    again: (more: Partial<McpSamplingApprovalProps>) => rerender(card(more)),
    user: userEvent.setup(),
  };
}

const approve = () => screen.getByRole("button", { name: "Approve & Send" });
const isShut = () => approve().matches(":disabled");
const marks = (container: HTMLElement) =>
  [...container.querySelectorAll("mark")].map((mark) => mark.textContent);
const warning = () => screen.getByRole("region", { name: /possible secret/ });

test("secrets are marked in the text, and listed with their places", async () => {
  const { container } = show();
  expect(marks(container)).toEqual([
    `looks like an AWS access key: ${key}`,
    `looks like an AWS access key: ${key}`,
    `looks like an AWS access key: ${key}`,
    `looks like the password of mail: ${password}`,
    `looks like the password of mail: ${password.replace('"', '\\"')}`,
  ]);
  const items = within(warning()).getAllByRole("listitem");
  expect(items.map((item) => item.textContent)).toEqual([
    "an AWS access key, AKIA…EMPL in the system prompt, message 1Redact AKIA…EMPL",
    `the password of mail, hunt…more in message 1, message 2Redact hunt…more`,
  ]);
  expect(await axeFindings(container)).toEqual([]);
});

test("a request with secrets is sent only after confirmation", async () => {
  const { user, onApprove } = show();
  expect(isShut()).toBe(true);
  await user.click(approve());
  expect(onApprove).not.toHaveBeenCalled();
  await user.click(screen.getByRole("checkbox", { name: "Send with 2 secrets" }));
  await user.click(approve());
  expect(onApprove).toHaveBeenCalledExactlyOnceWith({ confirmSecrets: true });
});

test("one is taken out of everything that can be edited, by the keyboard too", async () => {
  const { user, onApprove, container } = show();
  screen.getByRole("button", { name: "Redact hunt…more" }).focus();
  await user.keyboard("{Enter}");
  expect(document.activeElement).toBe(warning());
  within(warning()).getByText(/^the password of mail/);
  within(warning()).getByText("not sent");
  expect(marks(container)).toHaveLength(3);
  await user.click(screen.getByRole("checkbox", { name: "Send with 1 secret" }));
  await user.click(approve());
  const { samplingEdit, confirmSecrets } = onApprove.mock.calls[0]?.[0] ?? {};
  expect(confirmSecrets).toBe(true);
  expect(samplingEdit?.messages?.[0]?.content).toEqual([
    { type: "text", text: `**Key** ${key}, ${key}; [redacted: the password of mail]` },
  ]);
  expect(samplingEdit?.messages?.[1]?.content).toEqual([
    {
      type: "tool_use",
      id: "c",
      name: "login",
      input: { password: "[redacted: the password of mail]" },
    },
  ]);
});

test("all are taken out at once, and undone as any edit is", async () => {
  const { user, onApprove, onDraft, container } = show();
  await user.click(screen.getByRole("button", { name: "Redact All" }));
  screen.getByRole("region", { name: "No secret is left in the request." });
  expect(marks(container)).toEqual([]);
  expect(await axeFindings(container)).toEqual([]);
  // The draft holds no secret.
  expect(JSON.stringify(onDraft.mock.lastCall)).not.toContain(key);
  await user.click(approve());
  expect(JSON.stringify(onApprove.mock.lastCall)).not.toContain(key);
  expect(onApprove.mock.lastCall?.[0].confirmSecrets).toBeUndefined();
  expect(onApprove.mock.lastCall?.[0].samplingEdit?.systemPrompt).toBe(
    "Use [redacted: an AWS access key].",
  );
  await user.click(screen.getByRole("button", { name: "Undo all changes" }));
  expect(isShut()).toBe(true);
});

test("a yes to secrets is for the request that it was said of", async () => {
  const { user } = show({ draft: { editing: true } });
  await user.click(screen.getByRole("checkbox", { name: "Send with 2 secrets" }));
  expect(isShut()).toBe(false);
  await user.type(screen.getByRole("textbox", { name: "System prompt" }), "!");
  expect(isShut()).toBe(true);
});

test("what stands where nothing can be edited can only be confirmed, or denied", () => {
  const stop = { maxTokens: 1, messages: request.messages?.slice(2) ?? [], stopSequences: [key] };
  const { container } = show({ request: stop, secrets: [aws] });
  expect(within(warning()).queryByRole("button")).toBeNull();
  within(warning()).getByText("This text is read-only.");
  expect(isShut()).toBe(true);
  expect(marks(container)).toHaveLength(1);
});

test("secrets that the person wrote are told when they are refused", async () => {
  const { user, again, onApprove } = show({
    request: {
      maxTokens: 9,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    },
    secrets: undefined,
    draft: { editing: true },
  });
  await user.type(screen.getByRole("textbox", { name: "System prompt" }), key);
  await user.click(approve());
  again({ refusedSecrets: ["What you wrote looks like an AWS access key."] });
  screen.getByText("What you wrote looks like an AWS access key.");
  expect(isShut()).toBe(true);
  await user.click(screen.getByRole("checkbox", { name: "Send anyway" }));
  await user.click(approve());
  expect(onApprove.mock.lastCall?.[0].confirmSecrets).toBe(true);
  // The new text has not been searched for secrets yet.
  await user.clear(screen.getByRole("textbox", { name: "System prompt" }));
  expect(screen.queryByText(/looks like/)).toBeNull();
  expect(isShut()).toBe(false);
});

test("a secret that was found in JSON is taken out of JSON, and out of a tool's text", () => {
  const pem = ["-----BEGIN", "KEY-----\\nMII"].join(" ");
  const secrets = [
    { description: "a key", text: pem },
    { description: "a key", text: pem.replace("\\n", "\n") },
  ];
  const use: ContentBlock = {
    type: "tool_use",
    id: "c",
    name: "t",
    input: { k: JSON.parse(`"${pem}"`) },
  };
  expect(blockWithoutSecrets(use, secrets)).toEqual({ ...use, input: { k: "[redacted: a key]" } });
  const content = [{ type: "text", text: `<${pem.replace("\\n", "\n")}>` } as const];
  const result: ContentBlock = { type: "tool_result", toolUseId: "c", content };
  expect(blockWithoutSecrets(result, secrets.slice(1))).toEqual({
    ...result,
    content: [{ type: "text", text: "<[redacted: a key]>" }],
  });
  expect(blockWithoutSecrets(result, [])).toBe(result);
});

test.each([
  [key, "AKIA…EMPL"],
  ["12345678", "12…78"],
  ["1234", "…"],
])("%s is shown as %s", (text, want) => {
  expect(masked({ description: "", text })).toBe(want);
});

const context: SamplingContext = {
  text: `What MCP servers returned: ${key}`,
  serverNames: ["calendar", "mail"],
  omitted: 2,
};

test("context goes along where the person says so, and with it the secrets in it", async () => {
  const plain = { maxTokens: 9, messages: [{ role: "user" as const, content: [] }] };
  const { user, onApprove, onDraft, container } = show({ request: plain, context, secrets: [aws] });
  const summary = screen.getByText(
    "The server asks for context: 47 characters from calendar, mail",
  );
  screen.getByText(/^1 message · about 4 tokens/);
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith({});
  await user.click(summary);
  await screen.findByText(/^What MCP servers returned/);
  screen.getByText("2 older results were left out because they did not fit.");
  const along = screen.getByRole<HTMLInputElement>("checkbox", { name: "Send this context" });
  expect(along.checked).toBe(false);
  await user.click(along);
  expect(onDraft).toHaveBeenLastCalledWith({ context: true });
  screen.getByText(/^2 messages · about 20 tokens/);
  within(warning()).getByText(/in the context$/);
  expect(isShut()).toBe(true);
  expect(await axeFindings(container)).toEqual([]);
  await user.click(screen.getByRole("checkbox", { name: "Send with 1 secret" }));
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith({ includeContext: true, confirmSecrets: true });
});

test("why no grant was enough is said", () => {
  show({ grantReason: "The grant made at 14:03 is used up." });
  screen.getByText("The grant made at 14:03 is used up.");
});
