// The rules for workflows of GitHub: least permissions, actions pinned by digest, and only scripts that exist.
import { parse } from "yaml";

/** What the rules look at in a workflow. */
export interface Workflow {
  readonly on?: unknown;
  readonly permissions?: string | Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly "timeout-minutes"?: number;
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
}

/** What a workflow may call. */
export interface Callable {
  readonly scripts: readonly string[];
  /** The steps of `npm test -- --only`. */
  readonly steps: readonly string[];
  readonly exists: (path: string) => boolean;
}

/** The breaches of the rules in a workflow, each as a sentence. */
export function faultsOf(text: string, callable: Callable): readonly string[] {
  let workflow: Workflow;
  try {
    workflow = parse(text) as Workflow;
  } catch (error) {
    return [String(error)];
  }
  const { on, permissions, jobs } = workflow;
  const faults: string[] = [];
  if (JSON.stringify(on ?? null).includes("pull_request_target")) {
    faults.push("pull_request_target runs a stranger's code with our secrets");
  }
  if (permissions === undefined) faults.push("there are no permissions at the top");
  else if (typeof permissions === "string") {
    if (permissions !== "read-all") faults.push(`the permissions at the top are ${permissions}`);
  } else {
    for (const [of, right] of Object.entries(permissions)) {
      if (right === "write") faults.push(`${of}: write is for all jobs; give it to the one job`);
    }
  }
  for (const [name, job] of Object.entries(jobs)) {
    if (job["timeout-minutes"] === undefined) faults.push(`the job ${name} has no timeout-minutes`);
    for (const { uses, run } of job.steps ?? []) {
      if (uses !== undefined) faults.push(...faultsOfAction(uses, text));
      if (run !== undefined) faults.push(...faultsOfCommand(run, callable));
    }
  }
  return faults;
}

function faultsOfAction(uses: string, text: string): readonly string[] {
  if (!/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(uses)) return [`${uses} is not pinned by a digest`];
  const line = text.split("\n").find((each) => each.includes(uses)) ?? "";
  return /# v\d+\.\d+\.\d+$/.test(line) ? [] : [`${uses} has no version behind it, as # v1.2.3`];
}

function faultsOfCommand(run: string, { scripts, steps, exists }: Callable): readonly string[] {
  const faults: string[] = [];
  for (const [call, script = ""] of run.matchAll(/\bnpm run ([\w:-]+)/g)) {
    if (!scripts.includes(script)) faults.push(`package.json has no script for ${call}`);
  }
  for (const [, list = ""] of run.matchAll(/\bnpm test -- --only ([\w,]+)/g)) {
    const unknown = list.split(",").filter((step) => !steps.includes(step));
    faults.push(...unknown.map((step) => `npm test has no step ${step}`));
  }
  for (const [path] of run.matchAll(/\b(?:scripts|\.ci|sidecar|extension)\/[\w./-]+\w/g)) {
    if (!exists(path)) faults.push(`there is no ${path}`);
  }
  // A title with quotes in it would be a command.
  for (const [expression] of run.matchAll(
    /\$\{\{[^}]*\b(?:github\.(?:event|head_ref)|inputs)\b[^}]*\}\}/g,
  )) {
    faults.push(`${expression} is in a command: pass it by env`);
  }
  return faults;
}
