import assert from "node:assert/strict";
import type { CallResult, McpSampling, McpSamplingReview } from "@assent/protocol";
import { modernVersion } from "../../testservers/kit/rpc.mjs";
import type { Shown } from "../frontEnd.ts";
import type { Scene } from "./scene.ts";

/** The server's report of how a request ended, word for word. */
export interface Told {
  readonly result?: unknown;
  readonly error?: ToldError;
}

export interface ToldError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The request that a person is asked about, and its question. */
export interface Requested extends Shown {
  readonly question: McpSampling;
}

/** The answer that a person reviews, and its question. */
export interface Reviewed extends Shown {
  readonly question: McpSamplingReview;
}

/** Waits for the nth ask of a call, which is a request to a model. */
export async function request({ frontEnd }: Scene, call: number, nth = 0): Promise<Requested> {
  const shown = await frontEnd.ask(call, nth);
  return { ...shown, question: samplingOf(shown) };
}

/** Waits for the nth ask of a call, which is a review. */
export async function review({ frontEnd }: Scene, call: number, nth = 1): Promise<Reviewed> {
  const shown = await frontEnd.ask(call, nth);
  const { question } = shown.ask;
  assert.ok(question.type === "mcp_sampling_review", JSON.stringify(question));
  return { ...shown, question };
}

/** Returns the current state of a request. */
export function now({ frontEnd }: Scene, { messageId }: Shown): McpSampling {
  return samplingOf(frontEnd.shown(messageId));
}

function samplingOf({ ask: { question } }: Shown): McpSampling {
  assert.ok(question.type === "mcp_sampling", JSON.stringify(question));
  return question;
}

/** Sends a request unchanged, or with the given changes. */
export async function approve(
  { frontEnd }: Scene,
  shown: Shown,
  rest: Omit<Parameters<typeof frontEnd.respond>[1], "askResponse"> = {},
): Promise<void> {
  await frontEnd.respond(shown, { askResponse: "yesButtonClicked", ...rest });
}

/** What a call returned, which is JSON. */
export async function returned<T = Told>({ frontEnd }: Scene, call: number): Promise<T> {
  const result = await frontEnd.result(call);
  return JSON.parse(textOf(result)) as T;
}

export function textOf(result: CallResult): string {
  const [block] = result.type === "result" ? (result.content ?? []) : [];
  assert.ok(block?.type === "text", JSON.stringify(result));
  return block.text;
}

/**
 * Checks that a call's one request was refused with an error. A server of 2026-07-28 hears of none
 * (basic/patterns/mrtr): its call is abandoned, and the person reads why.
 */
export async function assertRefused(scene: Scene, call: number, error: ToldError): Promise<void> {
  const result = await scene.frontEnd.result(call);
  if (scene.way.version === modernVersion) {
    const reason = `The server did not get an answer: ${error.message}`;
    assert.deepEqual(result, { type: "abandoned", reason });
    return;
  }
  const told = JSON.parse(textOf(result)) as Told & { outcomes?: readonly Told[] };
  assert.deepEqual(told.outcomes ?? [told], [{ error }]);
}

/** The error that a server gets when a person declines (2025-11-25, Sampling, Error Handling). */
export const userRejected: ToldError = { code: -1, message: "User rejected sampling request" };
