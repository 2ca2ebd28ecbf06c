import { ErrorCode, type FieldProblem } from "@assent/protocol";
import { RpcError } from "../../link/client.ts";

/** Returns the field problems of a refused answer; undefined if it was refused for another reason. */
export function refusedProblems(error: unknown): readonly FieldProblem[] | undefined {
  if (!(error instanceof RpcError) || error.code !== ErrorCode.InvalidAnswer) return undefined;
  const { data } = error;
  if (typeof data !== "object" || data === null || !("problems" in data)) return undefined;
  const problems = Array.isArray(data.problems) ? data.problems.filter(isProblem) : [];
  return problems.length === 0 ? undefined : problems;
}

/** Returns the problem of one field; undefined if there is none. */
export function messagesOf(
  problems: readonly FieldProblem[] | undefined,
  field: string,
): readonly string[] | undefined {
  const messages =
    problems?.flatMap(({ name, message }) => (name === field ? [message] : [])) ?? [];
  return messages.length === 0 ? undefined : messages;
}

/** The sidecar's problems by field. */
export function byField(
  problems: readonly FieldProblem[] | undefined,
): Readonly<Record<string, string>> {
  return Object.fromEntries((problems ?? []).map(({ name = "", message }) => [name, message]));
}

function isProblem(value: unknown): value is FieldProblem {
  return (
    typeof value === "object" &&
    value !== null &&
    "message" in value &&
    typeof value.message === "string" &&
    (!("name" in value) || typeof value.name === "string")
  );
}
