// The tool that brings deleted users back.
// @ts-check
import { ToolError } from "../../kit/tool.mjs";
import { users } from "../confirm.mjs";
import { undo } from "../users.mjs";
import { told } from "./tool.mjs";

/**
 * @param {import("../database.mjs").Database} database
 * @returns {import("../../tasks/tools/tool.mjs").Tool}
 */
export function undoDelete(database) {
  return {
    name: "undo_delete",
    title: "Undo a deletion",
    description:
      "Brings back all users that delete_inactive_users deleted, by the number of the audit entry. It works once, and not where no backup was kept.",
    taskSupport: "forbidden",
    properties: { audit_id: { type: "integer", title: "Audit entry", minimum: 1 } },
    required: ["audit_id"],
    outputSchema: {
      type: "object",
      properties: { audit_id: { type: "integer" }, restored: { type: "integer" } },
      required: ["audit_id", "restored"],
    },
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },
    async run(_job, { audit_id }) {
      if (!Number.isSafeInteger(audit_id) || audit_id < 1) {
        const got = JSON.stringify(audit_id) ?? "missing";
        throw new ToolError(`audit_id is the number of an audit entry, not ${got}`);
      }
      const restored = await undo(database, audit_id);
      return told(`Brought back ${users(restored)} of audit entry ${audit_id}.`, {
        audit_id,
        restored,
      });
    },
  };
}
