import type { Task, TaskSettings } from "@assent/protocol";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { valueIn } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import {
  ask,
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

const field = () => screen.findByRole("textbox", { name: "Message" });

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
  expect(host.calls("chat/send")).toEqual([]);
});

test("a message that is refused stays, with the reason", async () => {
  const host = talking({}, { "chat/send": () => Promise.reject(new Error("too long")) });
  const { user } = showApp(host);
  await user.type(await field(), "Hello{Enter}");
  await screen.findByText(/too long/);
  expect(valueIn(await field())).toBe("Hello");
});

test("what was typed is there again in another life of the view", async () => {
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

test("the turn says what it waits for", async () => {
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

test("the first message makes a task with what was chosen for it, and a suggestion does too", async () => {
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

test("nothing can be said in a closed task", async () => {
  showApp(talking({ closed: true }));
  await screen.findByRole("button", { name: "New Task" });
  expect(screen.queryByRole("textbox", { name: "Message" })).toBeNull();
});
