import { expect, test } from "vitest";
import { grant } from "../testing/samples.ts";
import { noGrants, takeGrant, takeGrants } from "./grants.ts";

const spent = (requests: number) => ({ requests, tokens: 0, cost: 0 });

test("a grant that is new comes first, and one that is known keeps its place", () => {
  const two = takeGrant(takeGrant(noGrants, grant({ id: "a" })), grant({ id: "b" }));
  expect(two.entries?.map(({ id }) => id)).toEqual(["b", "a"]);
  const used = takeGrant(two, grant({ id: "a", spent: spent(9) }));
  expect(used.entries?.map(({ id, spent }) => [id, spent.requests])).toEqual([
    ["b", 3],
    ["a", 9],
  ]);
});

test("what is said while the list is read is newer than the list", () => {
  const reading = { ...noGrants, news: [] };
  const told = takeGrant(reading, grant({ id: "a", spent: spent(9) }));
  const listed = takeGrants(told, [grant({ id: "b" }), grant({ id: "a", spent: spent(1) })]);
  expect(listed.entries?.map(({ id, spent }) => [id, spent.requests])).toEqual([
    ["b", 3],
    ["a", 9],
  ]);
  expect(listed.news).toBeUndefined();
});
