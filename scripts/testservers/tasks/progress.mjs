// Progress of a job (basic/utilities/progress, the same in both revisions).
// @ts-check
import { notification } from "./rpc.mjs";

/**
 * @param {string | number} progressToken
 * @param {import("./store.mjs").Task} task
 * @param {import("./rpc.mjs").Json} [_meta]
 */
export function progressOf(progressToken, { progress, total, statusMessage: message }, _meta) {
  return notification("notifications/progress", {
    progressToken,
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
    ...(_meta && { _meta }),
  });
}
