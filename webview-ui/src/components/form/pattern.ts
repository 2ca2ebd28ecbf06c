import type { PatternOp, PatternProgram, PatternStep } from "@assent/protocol";

/** A longer text is not matched: the server judges it. */
const maxTextLength = 10_000;

/**
 * Runs the program of a pattern over a text. It takes time in proportion to the text and to the
 * program, whatever the server wrote. The sidecar's match.go does the same.
 */
export function matches(program: PatternProgram, text: string): boolean {
  const chars = Array.from(text, (char) => char.codePointAt(0) ?? 0);
  if (chars.length > maxTextLength) return true;
  const steps = program.steps ?? [];
  const classes = program.classes ?? [];
  /** By step: 1 + the position for which it was followed last. */
  const seen = new Int32Array(steps.length);
  let matched = false;

  /** Adds to threads the steps that wait for a character and can be reached from a step without one. */
  const follow = (threads: PatternStep[], from: number, at: number) => {
    const pending = [from];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      const step = steps[index];
      if (step === undefined || seen[index] === at + 1) continue;
      seen[index] = at + 1;
      if (step.op === "char") threads.push(step);
      else if (step.op === "either") pending.push(step.arg, step.out);
      else if (step.op === "match") matched = true;
      else if (holds(step.op, chars, at)) pending.push(step.out);
    }
  };

  let now: PatternStep[] = [];
  for (let at = 0; ; at += 1) {
    // A thread of its own begins at each character: a pattern need not match all of the text.
    follow(now, program.start, at);
    const char = chars[at];
    if (matched || char === undefined) return matched;
    const next: PatternStep[] = [];
    for (const step of now) {
      if (within(classes[step.arg] ?? [], char)) follow(next, step.out, at + 1);
    }
    if (matched) return true;
    now = next;
  }
}

function holds(op: PatternOp, chars: readonly number[], at: number): boolean {
  switch (op) {
    case "begin":
      return at === 0;
    case "end":
      return at === chars.length;
    case "boundary":
      return isWord(chars[at - 1]) !== isWord(chars[at]);
    case "inside":
      return isWord(chars[at - 1]) === isWord(chars[at]);
    default:
      return false;
  }
}

/** A letter, a digit or an underscore of ASCII. */
function isWord(char: number | undefined): boolean {
  return char !== undefined && /\w/.test(String.fromCodePoint(char));
}

/** Says whether a class, which is ranges in order, has a character. */
function within(ranges: readonly number[], char: number): boolean {
  let low = 0;
  let high = ranges.length / 2;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (char < (ranges[2 * middle] ?? 0)) high = middle;
    else if (char > (ranges[2 * middle + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}
