// A large table: a deletion that takes a while, as an MCP task of both shapes and as a plain call.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LegacyClient } from "../kit/testing/clients.ts";
import type { Message } from "../kit/testing/inbox.ts";
import { says } from "../kit/testing/talk.ts";
import { confirms, type Era, everything, look, model, newFolder, Talk } from "./testing/talk.ts";

const tasksExtension = { extensions: { "io.modelcontextprotocol/tasks": {} } };
/** A pause after each batch that outlasts the test: what happens in it happens in the middle. */
const halted = "60000";
const name = "delete_inactive_users";
const users = 10_000;
const inactive = users * 0.15;

let folder: Awaited<ReturnType<typeof newFolder>>;
let talk: Talk;

beforeEach(async () => {
  folder = await newFolder();
});
afterEach(async () => {
  await talk.wire.kill();
  await folder.remove();
});

async function open(era: Era, pace: string): Promise<void> {
  const args = ["--database", folder.file, "--large", String(users), "--pace", pace];
  args.push("--store", join(folder.folder, "tasks"));
  talk = await Talk.open(era, args, { ...everything, ...tasksExtension });
}

/** Makes the call a task, and answers its questions; its id. */
async function begin(): Promise<string> {
  const { client } = talk;
  const params = { name, _meta: { progressToken: "p" } };
  if (client instanceof LegacyClient) {
    const { task } = await client.request("tools/call", { ...params, task: {} });
    client.begin("tasks/result", { taskId: task.taskId });
    const answer = async (method: string, result: Message) => {
      const request = await client.next(method);
      const { taskId } = request["params"]._meta["io.modelcontextprotocol/related-task"];
      expect(taskId).toBe(task.taskId);
      await client.answer(request, result);
    };
    await answer("sampling/createMessage", says("HIGH: so many."));
    await answer("elicitation/create", confirms()({}));
    await answer("sampling/createMessage", says("A large deletion."));
    return task.taskId;
  }
  const { taskId } = await client.request("tools/call", params);
  client.begin("subscriptions/listen", { notifications: { taskIds: [taskId] } });
  for (const answer of [says("HIGH: so many."), confirms()({}), says("A large deletion.")]) {
    const asks = (task: Message) => task["status"] === "input_required";
    const { params } = await client.next("notifications/tasks", asks);
    const [key = ""] = Object.keys(params.inputRequests);
    await client.request("tasks/update", { taskId, inputResponses: { [key]: answer } });
  }
  return taskId;
}

/** Waits until rows are being deleted. */
async function deleting(): Promise<void> {
  const says = ({ statusMessage }: Message) => /: \d+ done$/.test(statusMessage ?? "");
  const legacy = talk.client instanceof LegacyClient;
  await talk.client.next(legacy ? "notifications/tasks/status" : "notifications/tasks", says);
}

async function ended(taskId: string): Promise<Message> {
  const { client } = talk;
  if (client instanceof LegacyClient) return await client.request("tasks/result", { taskId });
  const ends = ({ status }: Message) => status === "completed" || status === "failed";
  return (await client.next("notifications/tasks", ends))["params"].result;
}

describe.each(["2025-11-25", "2026-07-28"] as const)("as a task, in %s", (era) => {
  test("it asks, deletes in batches, and can be undone", async () => {
    await open(era, "0");
    const result = await ended(await begin());
    expect(result["structuredContent"]).toMatchObject({
      outcome: "deleted",
      deleted: inactive,
      risk: "HIGH",
      note: "A large deletion.",
    });
    expect(look(folder.file)).toMatchObject({ users: users - inactive, trash: inactive });
    const undone = await talk.call("undo_delete", { audit_id: 1 });
    expect(undone.result["structuredContent"]).toMatchObject({ restored: inactive });
    expect(look(folder.file)).toMatchObject({ users, trash: 0, intact: true });
  });

  test("a task that is cancelled in the middle deletes nothing", async () => {
    await open(era, halted);
    const taskId = await begin();
    await deleting();
    // Other readers, including this process, see none of it. No second change starts.
    const counted = await talk.call("count_inactive_users");
    expect(counted.result["structuredContent"]).toMatchObject({ inactive, total: users });
    const undone = await talk.call("undo_delete", { audit_id: 1 });
    expect(undone.text).toContain("Another change is under way. Nothing was changed");
    await talk.client.request("tasks/cancel", { taskId });
    const { status } = await talk.client.request("tasks/get", { taskId });
    expect(status).toBe("cancelled");
    expect(look(folder.file)).toEqual({ users, trash: 0, audit: [], intact: true });
    // The next change is not kept out by the one that was given up.
    const missing = await talk.call("undo_delete", { audit_id: 1 });
    expect(missing.text).toBe("There is no audit entry 1.");
  });

  test("a task of a server that was killed in the middle deletes once, in the next one", async () => {
    await open(era, halted);
    const taskId = await begin();
    await deleting();
    await talk.wire.kill();
    expect(look(folder.file)).toEqual({ users, trash: 0, audit: [], intact: true });
    await open(era, "0");
    const { client } = talk;
    if (client instanceof LegacyClient) await client.request("tasks/get", { taskId });
    else client.begin("subscriptions/listen", { notifications: { taskIds: [taskId] } });
    const result = await ended(taskId);
    expect(result["structuredContent"]).toMatchObject({ outcome: "deleted", deleted: inactive });
    expect(look(folder.file)).toMatchObject({ users: users - inactive, trash: inactive });
  });
});

test("a plain call that is cancelled in the middle deletes nothing", async () => {
  await open("2025-11-25", halted);
  const { client } = talk;
  if (!(client instanceof LegacyClient)) throw new Error("no session");
  const id = client.begin("tools/call", { name, _meta: { progressToken: "p" } });
  await client.answer(await client.next("sampling/createMessage"), model()({ systemPrompt: "" }));
  await client.answer(await client.next("elicitation/create"), confirms()({}));
  await client.answer(await client.next("sampling/createMessage"), says("A note."));
  const deleting = ({ progress }: Message) => progress > 4;
  const { params } = await client.next("notifications/progress", deleting);
  expect(params).toMatchObject({ progress: 504, total: inactive + 4 });
  talk.wire.cancel(id);
  await client.request("ping");
  expect(look(folder.file)).toEqual({ users, trash: 0, audit: [], intact: true });
});
