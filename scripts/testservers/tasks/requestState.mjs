// What a call of 2026-07-28 keeps with its client while it is asked (basic/patterns/mrtr): the job's
// record. The client can read it and cannot change it, nor use it for another call.
// @ts-check
import { createHmac, timingSafeEqual } from "node:crypto";
import { codes, isObject, RpcError } from "./rpc.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {Pick<import("./store.mjs").Task, "taskId" | "done" | "questions" | "progress">} Kept
 */

/** How long a person may take for all questions of a call. */
const lifetimeMs = 7 * 24 * 60 * 60 * 1000;

/**
 * @param {Uint8Array} key
 * @param {Json} params of the tools/call
 * @param {Kept} kept
 */
export function seal(key, params, { taskId, done, questions, progress }) {
  const payload = {
    call: callOf(params),
    until: Date.now() + lifetimeMs,
    kept: { taskId, done, questions, progress },
  };
  const body = Buffer.from(JSON.stringify(payload)).toString("base64url");
  return `${body}.${sign(key, body).toString("base64url")}`;
}

/**
 * The sealed state of this call, with the answers of this round; undefined in the first round.
 * @param {Uint8Array} key
 * @param {Json} params of the tools/call
 * @returns {Kept | undefined}
 */
export function unseal(key, params) {
  const { requestState, inputResponses = {} } = params;
  if (requestState === undefined) return undefined;
  if (!isObject(inputResponses)) {
    throw new RpcError(codes.invalidParams, "inputResponses is no object");
  }
  const [body = "", signature = ""] = String(requestState).split(".");
  const given = Buffer.from(signature, "base64url");
  const right = sign(key, body);
  if (given.length !== right.length || !timingSafeEqual(given, right)) {
    throw new RpcError(codes.invalidParams, "requestState is none of this server's");
  }
  const { call, until, kept } = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
  if (call !== callOf(params)) {
    throw new RpcError(codes.invalidParams, "requestState belongs to another call");
  }
  if (until < Date.now()) {
    throw new RpcError(codes.invalidParams, "requestState has expired: call again without it");
  }
  for (const [name, question] of Object.entries(kept.questions)) {
    if (!Object.hasOwn(inputResponses, name)) continue;
    question.answer ??= inputResponses[name];
    question.answered++;
  }
  return kept;
}

/**
 * @param {Uint8Array} key
 * @param {string} body
 */
function sign(key, body) {
  return createHmac("sha256", key).update(body).digest();
}

/**
 * What makes a call the same call; the order of arguments does not count.
 * @param {Json} params
 */
function callOf({ name, arguments: args = {} }) {
  const sorted = Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([name, sorted]);
}
