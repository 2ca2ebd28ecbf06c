// The tool that deletes: it counts, asks the model how risky that is, asks the person, has the model
// write the audit note, and deletes.
//
// Deleting comes last, and its transaction writes the entry with the note. A client can give up a call at every
// question (in 2026-07-28 by not calling again, in each revision by a cancellation or by its end). It would not hear of
// earlier changes, so a call that was given up has deleted nothing.
// @ts-check
import { ToolError } from "../../kit/tool.mjs";
import { askPerson, readPerson, users } from "../confirm.mjs";
import { askNote, askRisk, readNote, readRisk } from "../risk.mjs";
import { Changed, made, plan, remove } from "../users.mjs";
import { days, daysOf, told } from "./tool.mjs";

/**
 * @typedef {import("../../kit/rpc.mjs").Json} Json
 * @typedef {import("../users.mjs").Deletion} Deletion
 */

/** Steps before the rows: counted, risk, confirmed, note. */
const questions = 4;

/**
 * @param {import("../database.mjs").Database} database
 * @param {{large: boolean, paceMs: number}} options
 * @returns {import("../../tasks/tools/tool.mjs").Tool}
 */
export function deleteInactiveUsers(database, { large, paceMs }) {
  return {
    name: "delete_inactive_users",
    title: "Delete inactive users",
    description:
      "Deletes the users who have not logged in for a number of days. It asks a person to confirm that, with the number, the risk and examples, and deletes nothing unless they do; so do not ask them yourself. The result says what was decided, and how to undo it.",
    taskSupport: large ? "optional" : "forbidden",
    properties: { inactive_for_days: days },
    outputSchema: {
      type: "object",
      properties: {
        outcome: {
          type: "string",
          enum: ["deleted", "nothing_to_delete", "declined", "cancelled", "not_confirmed"],
        },
        deleted: { type: "integer" },
        audit_id: { type: "integer" },
        backup: { type: "boolean" },
        risk: { type: "string", enum: ["LOW", "MEDIUM", "HIGH", "UNKNOWN"] },
        note: { type: "string" },
      },
      required: ["outcome", "deleted"],
    },
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    needs: () => ["form"],
    async run(job, args) {
      const inactive = job.recorded("plan", () => plan(database, daysOf(args)));
      const { count } = inactive;
      if (count === 0) {
        return told(`Nobody has been away for ${inactive.days} days. Nothing was deleted.`, {
          outcome: "nothing_to_delete",
          deleted: 0,
        });
      }
      const total = questions + count;
      job.tell(`Found ${users(count)}; asking the model how risky it is to delete them`, 1, total);
      const asksModel = job.serves("sampling");
      const risk = readRisk(
        asksModel ? (await job.ask({ risk: askRisk(inactive) }))["risk"] : undefined,
      );
      job.tell(`Risk: ${risk.level}; waiting for you to confirm`, 2, total);

      const { confirm } = await job.ask({ confirm: askPerson(inactive, risk) });
      const decision = readPerson(confirm);
      if (!decision.yes) {
        const text = `${decision.why} Nothing was deleted.`;
        if (decision.outcome === "not_asked") throw new ToolError(text);
        return told(text, { outcome: decision.outcome, deleted: 0, risk: risk.level });
      }
      const { reason, backup } = decision;
      job.tell("Confirmed; having the audit note written", 3, total);

      const asked = asksModel
        ? (await job.ask({ note: askNote(inactive, risk, reason, backup) }))["note"]
        : undefined;
      const note = readNote(asked, inactive, reason);
      job.tell(`Deleting ${users(count)}`, questions, total);

      const operation = job.task.taskId;
      try {
        const deletion =
          made(database, operation) ??
          (await remove(
            database,
            { operation, plan: inactive, risk, reason, backup, note },
            {
              paceMs,
              signal: job.signal,
              progressed(done) {
                job.tell(`Deleting ${users(count)}: ${done} done`, questions + done, total);
              },
            },
          ));
        return result(deletion, risk.level);
      } catch (error) {
        if (!(error instanceof Changed)) throw error;
        throw new ToolError(
          `You confirmed ${users(count)}, and by now they are others (${error.now}). Nothing was deleted: call again.`,
        );
      }
    },
  };
}

/**
 * @param {Deletion} deletion
 * @param {string} risk
 */
function result({ auditId, deleted, backup, note }, risk) {
  const undo = backup
    ? `To undo it, call undo_delete with {"audit_id": ${auditId}}.`
    : "There is no backup: it cannot be undone.";
  return told(`Deleted ${users(deleted)}. ${undo}\n\nAudit entry ${auditId}: ${note}`, {
    outcome: "deleted",
    deleted,
    audit_id: auditId,
    backup,
    risk,
    note,
  });
}
