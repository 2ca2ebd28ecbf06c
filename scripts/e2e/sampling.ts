// Sampling on the real sidecar and the real example server, in every revision of MCP over everything
// that it has, with models on loopback: what each of the three gets of the others, exactly.
import { features } from "../testservers/sampling/versions.mjs";
import { anew, capabilities, parts, text } from "./sampling/asking.ts";
import { cancelled, ended } from "./sampling/ending.ts";
import { granted, grantedSecret } from "./sampling/granting.ts";
import {
  bigPicture,
  breakingRules,
  deep,
  flood,
  hugePicture,
  secret,
  tooOften,
} from "./sampling/misbehaving.ts";
import { failing, refused, stopped } from "./sampling/refusing.ts";
import { noCallLeft, toolLoop, withoutTools } from "./sampling/research.ts";
import { inScene, type Way, ways } from "./sampling/scene.ts";
import { step } from "./step.ts";

/** The stories of one transport. Each has its own sidecar. */
async function play(way: Way): Promise<void> {
  const name = `sampling in ${way.version} over ${way.transport}`;
  await inScene(way, async (scene) => {
    await step(`${name}: a text is edited, answered and returned`, () => text(scene));
    await step(`${name}: every part of a request arrives`, () => parts(scene));
    await step(`${name}: another model answers anew`, () => anew(scene));
    await step(`${name}: tools are declared where a model calls them`, () => capabilities(scene));
    await step(`${name}: a model calls tools in a loop`, () => toolLoop(scene));
    if (features(way.version).tools) {
      await step(`${name}: the person leaves out every call`, () => noCallLeft(scene));
    }
    await step(`${name}: no model calls tools`, () => withoutTools(scene));
    await step(`${name}: the server breaks the rules`, () => breakingRules(scene));
    await step(`${name}: a picture is too big`, () => bigPicture(scene));
    await step(`${name}: a picture is huge`, () => hugePicture(scene));
    await step(`${name}: too many at once`, () => flood(scene));
    await step(`${name}: the person allows the next requests`, () => granted(scene));
    await step(`${name}: what is allowed has a secret`, () => grantedSecret(scene));
    await step(`${name}: too many in a minute`, () => tooOften(scene));
    await step(`${name}: a loop that does not end`, () => deep(scene));
    await step(`${name}: a secret stays`, () => secret(scene));
    await step(`${name}: a person refuses`, () => refused(scene));
    await step(`${name}: a person stops the model`, () => stopped(scene));
    await step(`${name}: a model fails`, () => failing(scene));
    await step(`${name}: the server cancels`, () => cancelled(scene));
    await step(`${name}: the sidecar ends in the middle`, () => ended(scene));
  });
}

const ends = await Promise.allSettled(ways.map(play));
for (const end of ends) {
  if (end.status === "rejected") {
    console.error(end.reason);
    process.exitCode = 1;
  }
}
