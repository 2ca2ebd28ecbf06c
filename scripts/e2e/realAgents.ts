// Claude Code as people install it, with the hooks of `assent setup`, against a model on loopback and without a login. What
// it asks is answered in Assent first, in its terminal first, in both at once, and in neither. Nothing runs without a
// person's yes, nothing is answered twice, its own prompt always counts, and no card is stale.
//
// The person who runs it with `--licensed` accepts its licence. It needs tmux, which draws the terminal.
import { install, licensedAgents } from "./realHosts/install.ts";
import {
  bothAtOnce,
  forms,
  neither,
  panelFirst,
  plans,
  questions,
  rules,
  terminalFirst,
  withClaude,
  withoutAssent,
} from "./realHosts/questions.ts";
import { step } from "./step.ts";

if (!process.argv.includes("--licensed")) {
  throw new Error("Claude Code has a licence: with --licensed, you accept it");
}
await step("Claude Code is installed", () => install(licensedAgents));
await withClaude(async (machine) => {
  await step("a permission is answered in the panel first", () => panelFirst(machine));
  await step("in the terminal first", () => terminalFirst(machine));
  await step("in both at once", () => bothAtOnce(machine));
  await step("in neither, until the terminal is closed", () => neither(machine));
  await step("without Assent, its own prompt counts", () => withoutAssent(machine));
  await step("a question with choices is a form", () => questions(machine));
  await step("a plan is approved, or not", () => plans(machine));
  await step("a server of its own asks", () => forms(machine));
  await step("in auto mode, a rule has it ask first", () => rules(machine));
});
