import type { Task, TaskSettings } from "@assent/protocol";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { valueIn } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import {
  ask,
  at,
  call,
  demoModel,
  elicitation,
  message,
  otherModel,
  server,
  task,
  tool,
} from "../../testing/samples.ts";

const servers = [server(), server({ name: "mail" })];

function talking(
  part: Partial<Task> = {},
  handlers: ConstructorParameters<typeof FakeHost>[2] = {},
) {
  const host: FakeHost = new FakeHost(task(part), [], {
    "chat/send": () => ({ messageId: 1 }),
    "chat/stop": () => ({ stopped: true }),
    "chat/skipServers": () => ({ skipped: true }),
    "chat/unqueue": () => ({ removed: true }),
    "model/list": () => ({ models: [demoModel, otherModel] }),
    "tools/list": () => ({ tools: [tool, { name: "count" }] }),
    "task/configure": ({ settings }) => {
      host.task = { ...host.task, settings };
      return host.task;
    },
    ...handlers,
  });
  host.servers = servers;
  return host;
}

const field = () => screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });

async function settled(host: FakeHost, settings: TaskSettings) {
  await waitFor(() =>
    expect(host.calls("task/configure").at(-1)).toEqual({ taskId: "t1", settings }),
  );
  await host.event({
    type: "taskChanged",
    task: { ...host.task, lastNumber: host.task.lastNumber + 1 },
  });
}

test("Enter sends, Shift and Enter break a line, and the field is empty then", async () => {
  const host = talking();
  const { user, container } = showApp(host);
  await user.type(await field(), "Hello{Shift>}{Enter}{/Shift}there{Enter}");
  await waitFor(() =>
    expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "Hello\nthere" }]),
  );
  await waitFor(async () => expect(valueIn(await field())).toBe(""));
  expect(await axeFindings(container)).toEqual([]);
});

test("what ends the composition of a character sends nothing", async () => {
  const host = talking();
  const { user } = showApp(host);
  await user.type(await field(), "か");
  fireEvent.keyDown(await field(), { key: "Enter", isComposing: true });
  await user.type(await field(), "な{Enter}");
  await waitFor(() => expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "かな" }]));
});

test("nothing is not sent", async () => {
  const host = talking();
  const { user } = showApp(host);
  await user.type(await field(), "  {Enter}");
  expect(screen.getByRole("button", { name: "Send" }).matches(":disabled")).toBe(true);
  await host.caughtUp();
  expect(host.calls("chat/send")).toEqual([]);
});

test("a message that is refused stays, with the reason", async () => {
  const host = talking({}, { "chat/send": () => Promise.reject(new Error("too long")) });
  const { user } = showApp(host);
  await user.type(await field(), "Hello{Enter}");
  await screen.findByText(/too long/);
  expect(valueIn(await field())).toBe("Hello");
});

test("restores the typed text after a reload", async () => {
  const storage = new MemoryStorage();
  const { user, unmount } = showApp(talking(), storage);
  await user.type(await field(), "Half a");
  unmount();
  showApp(talking(), storage);
  expect(valueIn(await field())).toBe("Half a");
});

test("while the model is at work, a message is queued, can be taken out, and answers nothing", async () => {
  const queue = [{ id: "q1", text: "And then?" }];
  const host = talking({ running: true, queue, openAsks: 1 });
  host.messages = [message(1, ask("a1", elicitation()))];
  const { user } = showApp(host);
  await user.type(await field(), "More{Enter}");
  await waitFor(() => expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "More" }]));
  await host.caughtUp();
  expect(host.calls("askResponse")).toEqual([]);
  const list = screen.getByRole("region", { name: "Queued messages" });
  within(list).getByText("And then?");
  await user.click(within(list).getByRole("button", { name: "Remove from the Queue" }));
  await waitFor(() =>
    expect(host.calls("chat/unqueue")).toEqual([{ taskId: "t1", queuedId: "q1" }]),
  );
  expect(screen.queryByRole("button", { name: "Send Now" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Stop" }));
  await waitFor(() => expect(host.calls("chat/stop")).toEqual([{ taskId: "t1" }]));
});

test("what waits after a turn that was ended is sent when the person says so", async () => {
  const host = talking({ queue: [{ id: "q1", text: "And then?" }] });
  const { user } = showApp(host);
  await user.click(await screen.findByRole("button", { name: "Send Now" }));
  await waitFor(() => expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "" }]));
});

test("a turn that waits for servers names them, and the person can skip them", async () => {
  const awaits = { serverNames: ["npx-server", "other"], since: Date.now() - 4_000 };
  const host = talking({ running: true, awaits });
  const { user } = showApp(host);
  const status = await screen.findByText("Starting npx-server, other");
  expect(status.getAttribute("role")).toBe("status");
  await user.click(screen.getByRole("button", { name: "Skip" }));
  await waitFor(() => expect(host.calls("chat/skipServers")).toEqual([{ taskId: "t1" }]));
});

test("the turn shows the pending step", async () => {
  const host = talking({ running: true });
  host.messages = [message(1, { type: "user", text: "Hello" })];
  showApp(host);
  await screen.findByText("Reading what the servers offer…");
  await host.event({
    type: "messageAdded",
    message: message(2, { type: "model", model: demoModel, progress: { text: "", sequence: 0 } }),
  });
  await screen.findByText(`Waiting for ${demoModel.name}…`);
  await host.tell("chat/progress", { taskId: "t1", messageId: 2, sequence: 0, chunk: "So" });
  await screen.findByText(`${demoModel.name} is writing…`);
  screen.getByText("So");
});

test("the model, the servers and their tools are chosen", async () => {
  const host = talking();
  const { user, container } = showApp(host);
  const models = await screen.findByRole("combobox", { name: "Model of the conversation" });
  await within(models).findByRole("option", { name: otherModel.name });
  await user.selectOptions(models, otherModel.name);
  const modelId = otherModel.id;
  await settled(host, { modelId });

  await user.click(await screen.findByRole("button", { name: "Servers: All servers" }));
  await user.click(screen.getByRole("checkbox", { name: "mail" }));
  await settled(host, { modelId, servers: [{ serverName: "database" }] });
  await user.click(screen.getByRole("button", { name: "Tools of database" }));
  await user.click(await screen.findByRole("checkbox", { name: "cleanup" }));
  await settled(host, { modelId, servers: [{ serverName: "database", toolNames: ["count"] }] });
  expect(await axeFindings(container)).toEqual([]);
  await user.keyboard("{Escape}");
  const button = screen.getByRole("button", { name: "Servers: database" });
  expect(document.activeElement).toBe(button);
});

test("the first message creates a task with the chosen settings, and so does a suggestion", async () => {
  const made = task({ id: "t2", title: "" });
  const host = talking(
    {},
    {
      "task/list": () => ({ tasks: [] }),
      "task/create": () => made,
      "task/configure": ({ settings }) => ({ ...made, settings }),
      "task/open": () => ({ task: made, reset: true }),
    },
  );
  const { user } = showApp(host);
  await screen.findByRole("button", { name: "What can you do with the tools of my servers?" });
  await user.click(screen.getByRole("button", { name: "Servers: All servers" }));
  await user.click(screen.getByRole("checkbox", { name: "mail" }));
  await user.type(await field(), "Hello{Enter}");
  await waitFor(() => expect(host.calls("chat/send")).toEqual([{ taskId: "t2", text: "Hello" }]));
  expect(host.calls("task/configure")).toEqual([
    { taskId: "t2", settings: { servers: [{ serverName: "database" }] } },
  ]);
  await waitFor(async () => {
    expect(valueIn(await field())).toBe("");
    expect(document.activeElement).toBe(await field());
  });
  await user.click(await screen.findByRole("button", { name: /^What can you do/ }));
  await waitFor(() => expect(host.calls("chat/send")).toHaveLength(2));
});

test("the first question takes the focus from the composer of the task that the first message made", async () => {
  const host = talking({}, { "task/list": () => ({ tasks: [] }), "task/create": () => host.task });
  const { user } = showApp(host);
  await user.type(await field(), "Hello{Enter}");
  await waitFor(() => expect(host.calls("chat/send")).toHaveLength(1));
  await waitFor(async () => expect(document.activeElement).toBe(await field()));
  await host.event({ type: "messageAdded", message: message(2, ask("a2", elicitation())) }, 1);
  const card = await screen.findByRole("region", { name: "database asks" });
  await waitFor(() => expect(document.activeElement).toBe(card));
});

test("nothing can be said in a closed task", async () => {
  const { user } = showApp(talking({ closed: true }));
  await user.click(await screen.findByRole("button", { name: /^First/ }));
  await screen.findAllByText(/^This task is closed\./);
  expect(screen.queryByRole("textbox", { name: "Message" })).toBeNull();
});

const text = (name = "notes.txt", content = "Buy milk.") => new File([content], name);
const attached = () => screen.getByRole("list", { name: "Attached" });

test("files are attached, taken out again, and sent", async () => {
  const host = talking();
  const { user, container } = showApp(host);
  await user.type(await field(), "Read them");
  const chooser = container.querySelector<HTMLInputElement>("input[type=file]");
  if (chooser === null) throw new Error("there is nothing to choose files by");
  await user.upload(chooser, [text(), text("other.md", "# Other"), new File(["\0"], "bad.bin")]);
  await within(await screen.findByRole("list", { name: "Attached" })).findByText("other.md");
  await screen.findByText(/^bad.bin is neither text nor a PNG/);
  expect(valueIn(await field())).toBe("Read them");
  expect(await axeFindings(container)).toEqual([]);
  await user.click(within(attached()).getByRole("button", { name: "Remove other.md" }));
  await user.click(screen.getByRole("button", { name: "Send" }));
  const files = [{ name: "notes.txt", content: { type: "text", text: "Buy milk." } }];
  await waitFor(() =>
    expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "Read them", files }]),
  );
  await waitFor(() => expect(screen.queryByRole("list", { name: "Attached" })).toBeNull());
});

test("a file without text is a message, and stays if that is refused", async () => {
  const host = talking({}, { "chat/send": () => Promise.reject(new Error("no room")) });
  const { user } = showApp(host);
  fireEvent.drop(await screen.findByRole("form", { name: "Message to the model" }), {
    dataTransfer: { files: [text()], types: ["Files"], getData: () => "" },
  });
  await screen.findByText("notes.txt");
  await user.click(screen.getByRole("button", { name: "Send" }));
  await screen.findByText(/no room/);
  within(attached()).getByText("notes.txt");
});

test("a pasted file is attached, and is still there after another task was open", async () => {
  const other = task({ id: "t2", title: "Second" });
  const host: FakeHost = talking({}, { "task/list": () => ({ tasks: [task(), other] }) });
  const { user, session } = showApp(host);
  await screen.findByRole("button", { name: "First" });
  const bytes = Uint8Array.from("\x89PNG\r\n\x1a\n", (character) => character.charCodeAt(0));
  fireEvent.paste(await field(), { clipboardData: { files: [new File([bytes], "image.png")] } });
  await screen.findByText("image.png");
  await screen.findByText(/may not read images: only their names are sent/);
  session.actions.openTask("t2");
  await waitFor(() => expect(screen.queryByText("image.png")).toBeNull());
  session.actions.openTask("t1");
  await screen.findByText("image.png");
  await user.click(screen.getByRole("button", { name: "Remove image.png" }));
});

describe("after a reload", () => {
  const kept = { name: "notes.txt", content: { type: "text", text: "Buy milk." } } as const;
  const drop = async (...files: readonly File[]) =>
    fireEvent.drop(await screen.findByRole("form", { name: "Message to the model" }), {
      dataTransfer: { files, types: ["Files"], getData: () => "" },
    });

  test("an attachment is restored, and sent", async () => {
    const storage = new MemoryStorage();
    const before = talking();
    const { unmount } = showApp(before, storage);
    await drop(text());
    await waitFor(() => expect(JSON.stringify(storage.saved)).toContain("kept-0"));
    unmount();

    const host = talking();
    host.keptFiles = before.keptFiles;
    const { user } = showApp(host, storage);
    await within(await screen.findByRole("list", { name: "Attached" })).findByText("9 B");
    await user.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() =>
      expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "", files: [kept] }]),
    );
    await waitFor(() => expect(host.keptFiles.size).toBe(0));
    expect(screen.queryByRole("list", { name: "Attached" })).toBeNull();
  });

  test("a missing attachment is reported as lost, and is not sent", async () => {
    const storage = new MemoryStorage();
    const { unmount, user } = showApp(talking(), storage);
    await user.type(await field(), "Read it");
    await drop(text());
    await waitFor(() => expect(JSON.stringify(storage.saved)).toContain("kept-0"));
    unmount();

    const host = talking();
    const next = showApp(host, storage);
    const list = await screen.findByRole("list", { name: "Attached" });
    await within(list).findByText("not kept");
    screen.getByText("Attachments that were not saved are not sent. Attach them again.");
    expect(await axeFindings(next.container)).toEqual([]);
    await next.user.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() =>
      expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "Read it" }]),
    );
    await waitFor(() => expect(screen.queryByRole("list", { name: "Attached" })).toBeNull());
  });

  test("one alone is no message, and can be put away", async () => {
    const storage = new MemoryStorage();
    storage.saved = { attached: { "composer:t1": [{ kind: "file", key: 1, name: "a", size: 1 }] } };
    const { user } = showApp(talking(), storage);
    await screen.findByText("not kept");
    expect(screen.getByRole("button", { name: "Send" }).matches(":disabled")).toBe(true);
    await user.click(screen.getByRole("button", { name: "Remove a" }));
    expect(screen.queryByRole("list", { name: "Attached" })).toBeNull();
  });

  test("one that the host cannot keep is attached for now, and that is said", async () => {
    const host = talking({}, { "host/keepFile": () => Promise.reject(new Error("disk full")) });
    const { user } = showApp(host);
    await drop(text());
    await screen.findByText(/^notes.txt is attached, but is lost .*disk full$/);
    await user.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() =>
      expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "", files: [kept] }]),
    );
  });

  test("one that is taken out is not kept, also while it is about to be", async () => {
    let keep = () => {};
    const host: FakeHost = talking(
      {},
      { "host/keepFile": () => new Promise((done) => (keep = () => done({ id: "late" }))) },
    );
    const { user } = showApp(host);
    await drop(text());
    await user.click(await screen.findByRole("button", { name: "Remove notes.txt" }));
    await waitFor(() => expect(host.calls("host/keepFile")).toHaveLength(1));
    keep();
    await waitFor(() => expect(host.calls("host/forgetFiles")).toEqual([{ ids: ["late"] }]));
  });
});

describe("files that are dragged from VS Code", () => {
  const form = () => screen.findByRole("form", { name: "Message to the model" });
  const dragged = (type: string, uris: readonly string[]) => ({
    dataTransfer: {
      files: [],
      types: [type],
      getData: (asked: string) => (asked === type ? uris.join("\r\n") : ""),
    },
  });
  const codeURIs = "application/vnd.code.uri-list";
  const inVSCode = () =>
    talking(
      {},
      {
        "host/ready": () => ({ status: { state: "running" }, picksFiles: true }),
        "host/readFile": ({ uri }) => {
          if (!uri.endsWith(".txt")) throw new Error(`${uri} is not a file of this workspace.`);
          return { name: "a.txt", size: 2, data: btoa("hi") };
        },
      },
    );

  test("are read by the host, and its refusals are shown", async () => {
    const host = inVSCode();
    const { user } = showApp(host);
    await field();
    await waitFor(async () => {
      // Whether it is taken decides what the pointer looks like.
      expect(fireEvent.dragOver(await form(), dragged(codeURIs, []))).toBe(false);
    });
    fireEvent.drop(await form(), dragged(codeURIs, ["file:///w/a.txt", "file:///etc/passwd"]));
    await within(await screen.findByRole("list", { name: "Attached" })).findByText("a.txt");
    await screen.findByText(/file:\/\/\/etc\/passwd is not a file of this workspace/);
    await user.click(screen.getByRole("button", { name: "Send" }));
    const files = [{ name: "a.txt", content: { type: "text", text: "hi" } }];
    await waitFor(() =>
      expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "", files }]),
    );
  });

  test("a link of a web page is never attached", async () => {
    const host = inVSCode();
    showApp(host);
    await waitFor(async () => {
      expect(fireEvent.dragOver(await form(), dragged(codeURIs, []))).toBe(false);
    });
    const link = dragged("text/uri-list", ["file:///w/a.txt"]);
    expect(fireEvent.dragOver(await form(), link)).toBe(true);
    fireEvent.drop(await form(), link);
    await host.caughtUp();
    expect(host.calls("host/readFile")).toEqual([]);
  });

  test("how it is done is said where files are chosen", async () => {
    const { user } = showApp(inVSCode());
    await user.click(await screen.findByRole("button", { name: "Add Context" }));
    await screen.findByText("Hold Shift to drag files from the Explorer onto the message.");
  });

  test("a browser takes none", async () => {
    showApp(talking());
    await screen.findByRole("button", { name: "First" });
    expect(fireEvent.dragOver(await form(), dragged(codeURIs, []))).toBe(true);
  });
});

test("uses the host's own dialog if there is one", async () => {
  const host = talking(
    {},
    {
      "host/ready": () => ({ status: { state: "running" }, picksFiles: true }),
      "host/pickFiles": () => ({
        files: [
          { name: "a.txt", size: 2, data: btoa("hi") },
          { name: "b.bin", size: 5_000_000 },
        ],
      }),
    },
  );
  const { user } = showApp(host);
  await user.click(await screen.findByRole("button", { name: "Add Context" }));
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Files…" }));
  await user.keyboard("{Enter}");
  await screen.findByText("a.txt");
  await screen.findByText(/^b.bin \(4.8 MB\) is too large/);
});

test("a resource is read in the task, and goes along once it is", async () => {
  const host: FakeHost = talking(
    { settings: { servers: [{ serverName: "database" }] } },
    {
      "resources/list": () => ({ resources: [{ uri: "db://1", name: "Rows" }] }),
      "call/start": () => ({ messageId: 1 }),
    },
  );
  const { user, container } = showApp(host);
  await field();
  await user.click(screen.getByRole("button", { name: "Add Context" }));
  const found = await within(await screen.findByRole("list", { name: "Resources" })).findAllByRole(
    "button",
  );
  expect(found).toHaveLength(1);
  expect(await axeFindings(container)).toEqual([]);
  await user.type(screen.getByRole("searchbox", { name: "Find a resource" }), "none");
  screen.getByText("There is no such resource.");
  await user.clear(screen.getByRole("searchbox", { name: "Find a resource" }));
  await user.click(screen.getByRole("button", { name: "Rows database" }));
  await screen.findByText("loading…");
  expect(screen.getByRole("button", { name: "Send" }).matches(":disabled")).toBe(true);
  const request = { type: "resources/read", uri: "db://1" } as const;
  const started = { taskId: "t1", serverName: "database", request };
  await waitFor(() => expect(host.calls("call/start")).toEqual([started]));
  const body = call({ request, result: { type: "result", content: [] }, endedAt: at });
  await host.event({ type: "messageAdded", message: message(1, body) });
  await screen.findByText("of database");
  await user.click(screen.getByRole("button", { name: "Send" }));
  await waitFor(() =>
    expect(host.calls("chat/send")).toEqual([{ taskId: "t1", text: "", attachments: [1] }]),
  );
});

test("a resource that cannot be read is not attached", async () => {
  const host: FakeHost = talking(
    {},
    {
      "resources/list": () => ({ resources: [{ uri: "db://1", name: "Rows" }] }),
      "call/start": () => ({ messageId: 1 }),
    },
  );
  const { user } = showApp(host);
  await field();
  await user.click(screen.getByRole("button", { name: "Add Context" }));
  await user.click(await screen.findByRole("button", { name: "Rows database" }));
  await screen.findByText("loading…");
  const result = { type: "error", code: 1, message: "gone" } as const;
  const body = call({ request: { type: "resources/read", uri: "db://1" }, result, endedAt: at });
  await host.event({ type: "messageAdded", message: message(1, body) });
  await screen.findByText("db://1 of database could not be read: its call says why.");
  expect(screen.queryByRole("list", { name: "Attached" })).toBeNull();
});

describe("what the host brings for the person to go on with", () => {
  const quoted = "`a.ts`, line 1:\n\n```\nx\n```\n\n";

  test("is added after the typed text, and nothing is sent", async () => {
    const host = new FakeHost(task(), []);
    const { user } = showApp(host);
    await user.type(await field(), "Look at this. ");
    await host.tell("host/reveal", { kind: "draft", text: quoted });
    const message = await field();
    await waitFor(() => expect(message.value).toBe(`Look at this.\n\n${quoted}`));
    expect(document.activeElement).toBe(message);
    await user.keyboard("What is it?");
    expect(message.value).toBe(`Look at this.\n\n${quoted}What is it?`);
    await host.caughtUp();
    expect(host.calls("chat/send")).toEqual([]);
  });

  test("begins a new task where the open one takes no more", async () => {
    const closed = task({ closed: true });
    const made = task({ id: "t2", title: "New" });
    const host: FakeHost = new FakeHost(closed, [], {
      "task/create": () => made,
      "task/open": ({ taskId }) => ({ task: taskId === "t2" ? made : closed }),
    });
    const storage = new MemoryStorage();
    storage.saved = { openTaskId: "t1" };
    showApp(host, storage);
    await screen.findAllByText(/^This task is closed\./);
    expect(screen.queryByRole("textbox", { name: "Message" })).toBeNull();
    await host.tell("host/reveal", { kind: "draft", text: quoted });
    await waitFor(async () => expect((await field()).value).toBe(quoted));
    await host.caughtUp();
    expect(host.calls("chat/send")).toEqual([]);
  });
});

test("a turn that is under way is stopped where a message is sent", async () => {
  const host = talking({ running: true });
  const { user } = showApp(host);
  const stop = await screen.findByRole("button", { name: "Stop" });
  for (const name of ["Send", "Queue"]) expect(screen.queryByRole("button", { name })).toBeNull();
  await user.type(await field(), "next");
  await user.click(screen.getByRole("button", { name: "Queue" }));
  await waitFor(() => expect(screen.queryByRole("button", { name: "Queue" })).toBeNull());
  await waitFor(async () => expect(document.activeElement).toBe(await field()));
  await user.click(stop);
  await waitFor(() => expect(host.calls("chat/stop")).toEqual([{ taskId: "t1" }]));
  await waitFor(async () => expect(document.activeElement).toBe(await field()));
});

test("the message has the focus again if the button loses it during the sending", async () => {
  const host = talking(
    { running: true },
    {
      "chat/send": () => {
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
        return { messageId: 1 };
      },
    },
  );
  const { user } = showApp(host);
  await user.type(await field(), "next");
  await user.click(screen.getByRole("button", { name: "Queue" }));
  await waitFor(async () => expect(document.activeElement).toBe(await field()));
});

test("a new task is made to write in it", async () => {
  const made = task({ id: "t2", title: "" });
  const host = talking(
    {},
    {
      "task/create": () => made,
      "task/open": ({ taskId }) => ({
        task: taskId === "t2" ? made : task(),
        messages: [],
        reset: true,
      }),
    },
  );
  const { user } = showApp(host);
  const first = await field();
  expect(document.activeElement).toBe(document.body);
  await user.click(screen.getByRole("button", { name: "New Task" }));
  await screen.findByRole("button", { name: "New task" });
  await waitFor(async () => expect(document.activeElement).toBe(await field()));
  expect(first.isConnected).toBe(false);
});

test("in a browser the message has the focus at first", async () => {
  document.body.dataset["host"] = "browser";
  try {
    showApp(talking());
    await screen.findByRole("button", { name: "First" });
    await waitFor(async () => expect(document.activeElement).toBe(await field()));
  } finally {
    delete document.body.dataset["host"];
  }
});
