// The smart database on the real sidecar with the demo model: counted, judged, confirmed, deleted and
// undone in every revision, each way out, and a deletion that outlives its sidecar.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { AskResponseParams, CallResult } from "@assent/protocol";
import { root } from "../tools/lib/paths.ts";
import type { FrontEnd, Shown } from "./frontEnd.ts";
import { textOf } from "./sampling/told.ts";
import { look } from "./smartDatabaseFile.ts";
import { onStage } from "./stage.ts";
import { step } from "./step.ts";

const eras = ["2025-06-18", "2025-11-25", "2026-07-28"] as const;
const program = join(root, "scripts", "testservers", "smart-database.mjs");
const server = "smart-database";
const tool = "delete_inactive_users";
const users = 5000;
const inactive = users * 0.15;

interface Scene {
  readonly frontEnd: FrontEnd;
  readonly file: string;
  /** The arguments of the server. Each start of the sidecar reads them. */
  readonly args: string[];
}

/** What the person does with an ask; undefined is yes. */
type Person = (shown: Shown) => Omit<AskResponseParams, "taskId" | "askId"> | undefined;

/** Runs in a separate scene, which is removed afterwards. */
async function inScene(
  args: readonly string[],
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  await onStage("assent-smart-database-", async ({ folder, frontEnd: create }) => {
    const file = join(folder, "users.db");
    const store = join(folder, "tasks");
    const config = {
      command: process.execPath,
      args: [program, "--database", file, "--store", store, ...args],
    };
    const frontEnd = await create("the test of the smart database", "data", {
      servers: { [server]: config },
      model: { provider: "demo" },
    });
    return { frontEnd, play: () => play({ frontEnd, file, args: config.args }) };
  });
}

/** Answers the asks of a call as they come, until it ends or `enough` of it is seen. */
async function answerAll(
  { frontEnd }: Scene,
  call: number,
  person: Person,
  enough: () => boolean = () => false,
): Promise<CallResult | undefined> {
  for (let nth = 0; ; nth++) {
    const next = await frontEnd.until("an ask or the end", () => {
      if (enough()) return "enough";
      return frontEnd.asksSince(call)[nth] ?? frontEnd.call(call).result;
    });
    if (next === "enough") return undefined;
    if (!("ask" in next)) return next;
    const content = { confirm: true, reason: "the yearly clean-up", keep_backup: true };
    const yes = { askResponse: "yesButtonClicked" } as const;
    const confirmed =
      next.ask.question.type === "mcp_elicitation" ? { ...yes, elicitationContent: content } : yes;
    await frontEnd.respond(next, person(next) ?? confirmed);
  }
}

const agrees: Person = () => undefined;
const says =
  (type: Shown["ask"]["question"]["type"], askResponse: "noButtonClicked"): Person =>
  ({ ask }) =>
    ask.question.type === type ? { askResponse } : undefined;

async function carriedThrough(scene: Scene): Promise<void> {
  const { frontEnd, file } = scene;
  const call = await frontEnd.callTool(server, tool, {});
  const result = await answerAll(scene, call, agrees);
  assert.ok(result);
  assert.match(textOf(result), /^Deleted 30 users\..*"audit_id": 1/s);
  const asked = frontEnd.asksSince(call).map(({ ask }) => ask.question.type);
  assert.deepEqual(
    asked.filter((type) => type !== "mcp_sampling_review"),
    ["mcp_sampling", "mcp_elicitation", "mcp_sampling"],
  );
  const { users, trash, audit } = look(file);
  assert.deepEqual([users, trash], [170, 30]);
  assert.equal(audit[0]?.["risk"], "MEDIUM");
  assert.match(String(audit[0]?.["note"]), /^30 of 200 users were deleted .* the yearly clean-up$/);
  assert.match(String(audit[0]?.["note_by"]), /not a language model/);
  const undo = await frontEnd.callTool(server, "undo_delete", { audit_id: 1 });
  assert.equal(textOf(await frontEnd.result(undo)), "Brought back 30 users of audit entry 1.");
}

/** The person refuses: nothing is deleted, and the conversation says so. */
async function refused(scene: Scene, person: Person, said: RegExp): Promise<void> {
  const before = look(scene.file);
  const call = await scene.frontEnd.callTool(server, tool, {});
  const result = await answerAll(scene, call, person);
  assert.match(result?.type === "abandoned" ? result.reason : textOf(result as CallResult), said);
  assert.deepEqual(look(scene.file), before);
}

/** If the sidecar is killed during a batched deletion, the next sidecar completes it once. */
async function killed(scene: Scene): Promise<void> {
  const { frontEnd, file, args } = scene;
  const call = await frontEnd.callTool(server, tool, {});
  const deleting = () => frontEnd.statuses.get(call)?.some((it) => / done$/.test(it)) ?? false;
  assert.equal(await answerAll(scene, call, agrees, deleting), undefined);
  await frontEnd.kill();
  assert.deepEqual(look(file), { users, trash: 0, audit: [], intact: true });
  args.splice(args.indexOf("--pace"), 2);
  await frontEnd.start();
  assert.match(textOf(await frontEnd.result(call)), new RegExp(`^Deleted ${inactive} users`));
  const { users: left, trash, audit } = look(file);
  assert.deepEqual([left, trash, audit.length], [users - inactive, inactive, 1]);
}

for (const era of eras) {
  await inScene(["--era", era], async (scene) => {
    await step(`${era}: users are deleted and brought back`, () => carriedThrough(scene));
    await step(`${era}: the person declines`, () =>
      refused(scene, says("mcp_elicitation", "noButtonClicked"), /^You declined\. Nothing was/),
    );
    if (era === "2026-07-28") {
      // This revision has no words for a refusal: the call ends there.
      await step(`${era}: the model is not asked`, () =>
        refused(scene, says("mcp_sampling", "noButtonClicked"), /did not get an answer/),
      );
    }
  });
}
for (const era of ["2025-11-25", "2026-07-28"]) {
  // The first server pauses between two batches until it is killed.
  const large = ["--era", era, "--large", String(users), "--pace", "60000"];
  await inScene(large, async (scene) => {
    await step(`${era}: a deletion outlives its sidecar`, () => killed(scene));
  });
}
