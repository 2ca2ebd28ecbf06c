// Hosts that are not ours, as people install them. `assent setup` has each use its server through Assent. A model on
// loopback has the host call a tool, the server asks, a person answers in Assent, and the host goes on with the result.
// `assent restore` puts the host's file back. What a host makes of variables in its file is compared text by text: a
// server starts with the same ones by the host itself and through Assent. Servers of many shapes are listed without an
// error, and get the same. The first host also runs twice at once. What a host's organisation denies in a file at its
// real place is never started. opencode's own questions come by its plugin.
//
// `--licensed` runs Claude Code and Copilot CLI instead. The person who runs it accepts their licences.
import {
  licensed,
  licensedGoverned,
  licensedListers,
  open,
  openGoverned,
  openListers,
} from "./realHosts/hosts.ts";
import { install, licensedHosts, openHosts } from "./realHosts/install.ts";
import { carriedThrough, inScene, twoAtOnce } from "./realHosts/journey.ts";
import { opencodeAsks } from "./realHosts/opencodeAsks.ts";
import { keepsPolicy, placesCanBeSet } from "./realHosts/organisation.ts";
import { licensedShapes, openShapes, shapesAreListed } from "./realHosts/shapes.ts";
import { textsArrive } from "./realHosts/texts.ts";
import { step } from "./step.ts";

const byRequest = process.argv.includes("--licensed");
await step("the hosts are installed", () => install(byRequest ? licensedHosts : openHosts));
for (const host of byRequest ? licensed : open) {
  for (const era of ["legacy", "modern"] as const) {
    await inScene({ host, era }, (scene) =>
      step(`${host.title}, with a server that is ${era}: what it asks is answered in Assent`, () =>
        carriedThrough(scene),
      ),
    );
  }
}
const [first] = byRequest ? licensed : open;
if (first !== undefined) {
  await inScene({ host: first, era: "legacy" }, (scene) =>
    step(`${first.title}, twice at once: each has a question of its own`, () => twoAtOnce(scene)),
  );
}
if (!byRequest) {
  await step(
    "opencode's own questions are answered in Assent, in its prompt, in both",
    opencodeAsks,
  );
}
for (const host of byRequest ? licensedListers : openListers) {
  await step(`${host.title}: each text arrives as without Assent`, () => textsArrive(host));
}
for (const host of byRequest ? licensedShapes : openShapes) {
  await step(`${host.title}: servers of many shapes are listed as without Assent`, () =>
    shapesAreListed(host),
  );
}
await step("an organisation's files can be put at their real places", placesCanBeSet);
for (const host of byRequest ? licensedGoverned : openGoverned) {
  await step(`${host.title}: what its organisation denies is never started`, () =>
    keepsPolicy(host),
  );
}
