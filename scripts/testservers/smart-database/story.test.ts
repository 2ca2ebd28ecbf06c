import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LegacyClient } from "../kit/testing/clients.ts";
import { says } from "../kit/testing/talk.ts";
import { confirms, eras, everything, look, model, newFolder, Talk } from "./testing/talk.ts";

let folder: Awaited<ReturnType<typeof newFolder>>;
let talk: Talk;

beforeEach(async () => {
  folder = await newFolder();
});
afterEach(async () => {
  await talk.wire.kill();
  await folder.remove();
});

async function open(era: (typeof eras)[number], capabilities = everything): Promise<void> {
  talk = await Talk.open(era, ["--database", folder.file], capabilities);
}

const untouched = { users: 200, trash: 0, audit: [], intact: true };

describe.each(eras)("in %s", (era) => {
  test("users are counted, judged, confirmed, deleted and brought back", async () => {
    await open(era);
    const counted = await talk.call("count_inactive_users");
    expect(counted.text).toMatch(/^30 of 200 users have not logged in for 730 days/);
    expect(counted.result["structuredContent"]).toMatchObject({ inactive: 30, total: 200 });

    const { text, result, asked, progress } = await talk.call(
      "delete_inactive_users",
      { inactive_for_days: 730 },
      { model: model(), person: confirms() },
    );
    expect(asked.map(({ method }) => method)).toEqual([
      "sampling/createMessage",
      "elicitation/create",
      "sampling/createMessage",
    ]);
    const [risk, form, note] = asked.map(({ params }) => params);
    expect(risk?.["messages"][0].content.text).toContain("Users to delete: 30 of 200");
    expect(form?.["message"]).toMatch(
      /^Delete 30 users of 200.*Risk: MEDIUM \(some have orders\)\..*\(`\S+@example\.com`\)/s,
    );
    expect(Object.keys(form?.["requestedSchema"].properties)).toEqual([
      "confirm",
      "reason",
      "keep_backup",
    ]);
    expect(form?.["requestedSchema"].properties.reason.minLength).toBeGreaterThan(0);
    expect(note?.["messages"][0].content.text).toContain("Reason: the yearly clean-up");
    expect(text).toBe(
      'Deleted 30 users. To undo it, call undo_delete with {"audit_id": 1}.\n\nAudit entry 1: Thirty users were deleted.',
    );
    expect(result["structuredContent"]).toEqual({
      outcome: "deleted",
      deleted: 30,
      audit_id: 1,
      backup: true,
      risk: "MEDIUM",
      note: "Thirty users were deleted.",
    });
    const steps = progress.map((it) => it["progress"]);
    if (era !== "2026-07-28") expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
    expect(progress.at(-1)).toMatchObject({ progress: 34, total: 34 });

    const after = look(folder.file);
    expect(after).toMatchObject({ users: 170, trash: 30, intact: true });
    expect(after.audit).toMatchObject([
      {
        deleted: 30,
        risk: "MEDIUM",
        risk_reason: "some have orders.",
        reason: "the yearly clean-up",
        backup: 1,
        note: "Thirty users were deleted.",
        note_by: "played",
        undone_at: null,
      },
    ]);
    const none = await talk.call("delete_inactive_users");
    expect(none.result["structuredContent"]).toEqual({ outcome: "nothing_to_delete", deleted: 0 });

    const undone = await talk.call("undo_delete", { audit_id: 1 });
    expect(undone.result["structuredContent"]).toEqual({ audit_id: 1, restored: 30 });
    expect(look(folder.file)).toMatchObject({ users: 200, trash: 0 });
    const again = await talk.call("undo_delete", { audit_id: 1 });
    expect(again).toMatchObject({ text: expect.stringMatching(/was undone already/) });
    expect(again.result["isError"]).toBe(true);
  });

  test.each([
    ["declines", { action: "decline" }, "declined", "You declined."],
    ["dismisses the form", { action: "cancel" }, "cancelled", "The question was dismissed."],
    [
      "does not tick the box",
      { action: "accept", content: { confirm: false, reason: "not today" } },
      "not_confirmed",
      "You did not tick the confirmation.",
    ],
    [
      "says yes in a word, which no checkbox does",
      { action: "accept", content: { confirm: "true", reason: "not today" } },
      "not_confirmed",
      "You did not tick the confirmation.",
    ],
    [
      "gives no reason",
      { action: "accept", content: { confirm: true, reason: "   .  " } },
      "not_confirmed",
      "You gave no reason of 5 to 500 characters.",
    ],
    [
      "accepts nothing",
      { action: "accept" },
      "not_confirmed",
      "You did not tick the confirmation.",
    ],
  ])("nothing is deleted when the person %s", async (_, answer, outcome, why) => {
    await open(era);
    const called = await talk.call(
      "delete_inactive_users",
      {},
      { model: model(), person: () => answer },
    );
    expect(called.text).toBe(`${why} Nothing was deleted.`);
    expect(called.result["structuredContent"]).toEqual({ outcome, deleted: 0, risk: "MEDIUM" });
    expect(called.asked).toHaveLength(2);
    expect(look(folder.file)).toEqual(untouched);
  });

  test("nothing is deleted when the client's answer is none", async () => {
    await open(era);
    const called = await talk.call(
      "delete_inactive_users",
      {},
      { model: model(), person: () => ({ action: "perhaps" }) },
    );
    expect(called.result["isError"]).toBe(true);
    expect(called.text).toBe("The client's answer could not be read. Nothing was deleted.");
    expect(look(folder.file)).toEqual(untouched);
  });

  test("a client that cannot ask a person gets nothing deleted", async () => {
    await open(era, { sampling: {} } as typeof everything);
    const error = await talk.client.error("tools/call", { name: "delete_inactive_users" });
    expect(error).toMatchObject(
      era === "2026-07-28"
        ? { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } }
        : { code: -32602, message: expect.stringContaining("nothing was done") },
    );
    expect(look(folder.file)).toEqual(untouched);
  });

  test("without a model the person is asked all the same", async () => {
    await open(era, { elicitation: {} } as typeof everything);
    const { asked, result } = await talk.call("delete_inactive_users", {}, { person: confirms() });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.params["message"]).toContain(
      "Risk: UNKNOWN (this client has no model to ask)",
    );
    expect(result["structuredContent"]).toMatchObject({ outcome: "deleted", risk: "UNKNOWN" });
    expect(look(folder.file).audit).toMatchObject([
      {
        note: "30 users without a login for 730 days were deleted. Reason: the yearly clean-up",
        note_by: "smart-database",
      },
    ]);
  });

  test("a model that talks nonsense decides nothing", async () => {
    await open(era);
    const { asked, result } = await talk.call(
      "delete_inactive_users",
      {},
      {
        model: ({ systemPrompt }) =>
          systemPrompt.includes("audit")
            ? { content: [null, 7, {}] }
            : says("As a model, I cannot say."),
        person: confirms({ keep_backup: false }),
      },
    );
    expect(asked[1]?.params["message"]).toContain(
      'Risk: UNKNOWN (the model said "As a model, I cannot say.")',
    );
    expect(result["structuredContent"]).toMatchObject({ deleted: 30, backup: false });
    expect(look(folder.file)).toMatchObject({ users: 170, trash: 0 });
    const undone = await talk.call("undo_delete", { audit_id: 1 });
    expect(undone.text).toBe("Deletion 1 kept no backup: its users cannot be brought back.");
  });

  test("others than those who were confirmed are not deleted", async () => {
    await open(era);
    const { text, result } = await talk.call(
      "delete_inactive_users",
      {},
      {
        model: model(),
        person(params) {
          // The same number, of others: the number alone would not show it.
          const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
          const other = new DatabaseSync(folder.file);
          other.exec(`UPDATE users SET last_login = '2001-01-01T00:00:00.000Z' WHERE id = 1;
            UPDATE users SET last_login = '2999-01-01T00:00:00.000Z' WHERE id = 4`);
          other.close();
          return confirms()(params);
        },
      },
    );
    expect(result["isError"]).toBe(true);
    expect(text).toBe(
      "You confirmed 30 users, and by now they are others (30). Nothing was deleted: call again.",
    );
    expect(look(folder.file)).toEqual(untouched);
  });

  test("reports problems of arguments", async () => {
    await open(era);
    for (const days of [0, 1.5, "730", 1e9, null]) {
      const { result } = await talk.call("delete_inactive_users", { inactive_for_days: days });
      expect(result["isError"]).toBe(true);
    }
    for (const id of [undefined, 0, "1", 99]) {
      const { result } = await talk.call("undo_delete", { audit_id: id });
      expect(result["isError"]).toBe(true);
    }
    expect(look(folder.file)).toEqual(untouched);
  });

  test("users are listed in a table, and as data", async () => {
    await open(era);
    const { text, result } = await talk.call("find_inactive_users", { limit: 2 });
    const [, , head, , ...rows] = text.split("\n");
    expect(head).toBe("| id | name | email | status | orders | created | last_login |");
    expect(rows).toHaveLength(2);
    expect(result["structuredContent"]).toMatchObject({ inactive: 30, total: 200 });
    const [first, second] = result["structuredContent"].users;
    expect(Date.parse(first.last_login)).toBeLessThan(Date.parse(second.last_login));
  });

  test("entries, the schema and the prompt can be read", async () => {
    await open(era);
    const { client } = talk;
    expect((await talk.call("list_audit")).text).toBe("Nothing was ever deleted.");
    await talk.call("delete_inactive_users", {}, { model: model(), person: confirms() });
    expect((await talk.call("list_audit")).text).toContain("the yearly clean-up");
    const { resources } = await client.request("resources/list");
    expect(resources.map((it: { uri: string }) => it.uri)).toEqual([
      "smartdb://schema",
      "smartdb://audit/1",
    ]);
    const read = async (uri: string) =>
      (await client.request("resources/read", { uri }))["contents"];
    expect((await read("smartdb://schema"))[0].text).toContain("CREATE TABLE users");
    expect(JSON.parse((await read("smartdb://audit/1"))[0].text)).toMatchObject({ deleted: 30 });
    for (const uri of ["smartdb://audit/2", "smartdb://audit/1;", "file:///etc/passwd"]) {
      expect(await client.error("resources/read", { uri })).toMatchObject({ code: -32602 });
    }
    const { messages } = await client.request("prompts/get", { name: "clean_up" });
    expect(messages[0].content.text).toBe("Clean up the users table: remove all inactive accounts");
  });

  test("what the tools say of themselves holds", async () => {
    await open(era);
    const { tools } = await talk.client.request("tools/list");
    const hints = tools.map((tool: { name: string; annotations: object }) => [
      tool.name,
      tool.annotations,
    ]);
    expect(Object.fromEntries(hints)).toMatchObject({
      count_inactive_users: { readOnlyHint: true },
      find_inactive_users: { readOnlyHint: true },
      delete_inactive_users: { readOnlyHint: false, destructiveHint: true },
      undo_delete: { readOnlyHint: false, destructiveHint: false },
      list_audit: { readOnlyHint: true },
    });
    for (const { execution } of tools) {
      // Only a large table is worth a task.
      expect(execution).toEqual(era === "2025-11-25" ? { taskSupport: "forbidden" } : undefined);
    }
  });
});

describe.each(["2025-06-18", "2025-11-25"] as const)("what sessions can say, in %s", (era) => {
  test("a completion that is refused leaves the risk unknown, and the note plain", async () => {
    await open(era);
    const refused = { error: { code: -1, message: "User rejected sampling request" } };
    const { asked, result } = await talk.call(
      "delete_inactive_users",
      {},
      { model: () => refused, person: confirms() },
    );
    expect(asked).toHaveLength(3);
    expect(asked[1]?.params["message"]).toContain(
      "Risk: UNKNOWN (the model was not asked: User rejected sampling request)",
    );
    expect(result["structuredContent"]).toMatchObject({ outcome: "deleted", risk: "UNKNOWN" });
    expect(look(folder.file).audit).toMatchObject([{ note_by: "smart-database" }]);
  });

  test("a person who cannot be asked has not confirmed", async () => {
    await open(era);
    const { text, result } = await talk.call(
      "delete_inactive_users",
      {},
      { model: model(), person: () => ({ error: { code: -32603, message: "no window" } }) },
    );
    expect(text).toBe("You could not be asked (no window). Nothing was deleted.");
    expect(result["isError"]).toBe(true);
    expect(look(folder.file)).toEqual(untouched);
  });

  test("a call that is cancelled while the person is asked deletes nothing", async () => {
    await open(era);
    const { client } = talk;
    if (!(client instanceof LegacyClient)) throw new Error("no session");
    const id = client.begin("tools/call", { name: "delete_inactive_users" });
    await client.answer(await client.next("sampling/createMessage"), says("LOW: few."));
    const form = await client.next("elicitation/create");
    talk.wire.cancel(id);
    await client.next("notifications/cancelled", ({ requestId }) => requestId === form["id"]);
    await client.answer(form, confirms()({}));
    await client.request("ping");
    expect(look(folder.file)).toEqual(untouched);
  });
});

describe("what 2026-07-28 keeps with the client", () => {
  const name = "delete_inactive_users";

  async function asked() {
    await open("2026-07-28");
    const result = await talk.client.request("tools/call", { name });
    const [[key]] = Object.entries(result["inputRequests"]) as [[string, unknown]];
    return {
      requestState: String(result["requestState"]),
      inputResponses: { [key]: says("LOW: x") },
    };
  }

  test("goes on in another process", async () => {
    const more = await asked();
    await talk.wire.kill();
    await open("2026-07-28");
    const { inputRequests } = await talk.client.request("tools/call", { name, ...more });
    expect(Object.keys(inputRequests)).toEqual(["confirm"]);
  });

  test("cannot be changed, nor used for another call", async () => {
    const { requestState, inputResponses } = await asked();
    const [body = "", signature] = requestState.split(".");
    const payload = JSON.parse(Buffer.from(body, "base64url").toString());
    payload.kept.done.plan.count = 1;
    const forged = Buffer.from(JSON.stringify(payload)).toString("base64url");
    for (const state of [`${forged}.${signature}`, body, "", `${body}.AAAA`]) {
      const params = { name, inputResponses, requestState: state };
      expect(await talk.client.error("tools/call", params)).toMatchObject({
        code: -32602,
        message: "requestState is none of this server's",
      });
    }
    const other = { name, arguments: { inactive_for_days: 5 }, inputResponses, requestState };
    expect(await talk.client.error("tools/call", other)).toMatchObject({
      code: -32602,
      message: "requestState belongs to another call",
    });
    expect(look(folder.file)).toEqual(untouched);
  });

  test("deletes once, however often the last round is made", async () => {
    let more: Record<string, unknown> = await asked();
    const round = () => talk.client.request("tools/call", { name, ...more });
    const { requestState } = await round();
    more = { requestState, inputResponses: { confirm: confirms()({}) } };
    const { requestState: last } = await round();
    more = { requestState: last, inputResponses: { note: says("Gone.") } };
    const first = await round();
    expect(first["structuredContent"]).toMatchObject({ outcome: "deleted", deleted: 30 });
    expect(await round()).toEqual(first);
    expect(look(folder.file)).toMatchObject({ users: 170, trash: 30, audit: [{ note: "Gone." }] });
  });
});

test.each(eras)("over HTTP, in %s", async (era) => {
  talk = await Talk.open(era, ["--database", folder.file], everything, "http");
  const { result } = await talk.call(
    "delete_inactive_users",
    {},
    { model: model(), person: confirms() },
  );
  expect(result["structuredContent"]).toMatchObject({ outcome: "deleted", deleted: 30 });
  expect(look(folder.file)).toMatchObject({ users: 170, trash: 30 });
});
