import { expect, test } from "vitest";
import { grant, grantEntry } from "../testing/samples.ts";
import { grantsOf, noPolicy, takeGrant, takePolicy } from "./policy.ts";

const spent = (requests: number) => ({ requests, tokens: 0, cost: 0 });

test("a grant that is new comes first, and one that is known keeps its place", () => {
  const two = takeGrant(takeGrant(noPolicy, grant({ id: "a" })), grant({ id: "b" }));
  expect(grantsOf(two.entries).map(({ id }) => id)).toEqual(["b", "a"]);
  expect(two.entries?.[0]).toEqual(grantEntry({ id: "b" }));
  const used = takeGrant(two, grant({ id: "a", spent: spent(9) }));
  expect(grantsOf(used.entries).map(({ id, spent }) => [id, spent.requests])).toEqual([
    ["b", 3],
    ["a", 9],
  ]);
});

test("what is said while the list is read is newer than the list", () => {
  const reading = { ...noPolicy, news: [] };
  const told = takeGrant(reading, grant({ id: "a", spent: spent(9) }));
  const listed = takePolicy(told, [
    grantEntry({ id: "b" }),
    grantEntry({ id: "a", spent: spent(1) }),
    { type: "readOnlyTools", effect: "approve", setting: "assent.tools.autoApprove" },
  ]);
  expect(grantsOf(listed.entries).map(({ id, spent }) => [id, spent.requests])).toEqual([
    ["b", 3],
    ["a", 9],
  ]);
  expect(listed.entries).toHaveLength(3);
  expect(listed.news).toBeUndefined();
});
