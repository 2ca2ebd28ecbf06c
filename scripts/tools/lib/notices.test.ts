import { expect, test } from "vitest";
import { check, licenceOf, licencesOf, noticesText } from "./notices.ts";

const mit = "Permission is hereby granted, free of charge, to any person obtaining a copy";

test("a work of which the licence is not known, or not allowed, stops the build", () => {
  const work = { name: "left-pad 1.0.0", licences: ["MIT"], texts: [mit] };
  expect(() => check(work)).not.toThrow();
  expect(() => check({ ...work, texts: [] })).toThrow(/left-pad 1.0.0 .* 0 texts/);
  expect(() => check({ ...work, licences: [] })).toThrow(/none that is known/);
  expect(() => check({ ...work, licences: ["GPL-3.0"] })).toThrow(/GPL-3.0/);
  expect(() => check({ ...work, licences: ["MIT", "SSPL-1.0"] })).toThrow(/SSPL-1.0/);
});

test.for([
  ["MIT", ["MIT"]],
  ["(MPL-2.0 OR Apache-2.0)", ["Apache-2.0"]],
  ["MIT AND Zlib", ["MIT", "Zlib"]],
  ["GPL-2.0 OR AGPL-3.0", ["GPL-2.0"]],
  ["", []],
] as const)("%s is read as %j", ([expression, want]) => {
  expect(licencesOf(expression)).toEqual(want);
});

test("a text says which licence it is, or nothing", () => {
  expect(licenceOf(mit)).toBe("MIT");
  expect(licenceOf(`GNU GENERAL PUBLIC\nLICENSE, or ${mit}`)).toBe("GPL, LGPL or AGPL");
  expect(licenceOf("All rights reserved.")).toBeUndefined();
});

test("what several works say is said once, with all their names", () => {
  const text = noticesText([
    { name: "a 1", licences: ["MIT"], texts: [mit] },
    { name: "b 2", licences: ["MIT"], texts: [mit, "Patents"] },
  ]);
  expect(text.split(mit)).toHaveLength(2);
  expect(text).toContain(`a 1\nb 2\n\n${mit}`);
  expect(text).toContain("b 2\n\nPatents");
  expect(text).toContain("a 1: MIT\nb 2: MIT\n");
});
