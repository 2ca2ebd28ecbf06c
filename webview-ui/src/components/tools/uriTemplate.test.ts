import { describe, expect, test } from "vitest";
import { expandTemplate, templateFields } from "./uriTemplate.ts";

const template = (uriTemplate: string) => ({ uriTemplate, name: "t" });

describe("the fields of a template", () => {
  test.for([
    ["notes://{day}", ["day*"]],
    ["db://{+path}/{table}{?limit,offset}", ["path*", "table*", "limit", "offset"]],
    ["x://{a,b}{#part}{&more*}", ["a*", "b*", "part", "more"]],
    ["x://{id:3}/{id}", ["id*"]],
    ["x://none/{}", []],
    ["x://{constructor}", ["constructor*"]],
  ] as const)("%s", ([uri, want]) => {
    const got = templateFields(template(uri)).map(
      ({ name, required }) => `${name}${required ? "*" : ""}`,
    );
    expect(got).toEqual(want);
  });
});

test.for([
  ["notes://{day}", { day: "a day/of rest" }, "notes://a%20day%2Fof%20rest"],
  ["file://{+path}", { path: "/home/ä" }, "file:///home/%C3%A4"],
  ["db://rows{?limit,offset}", { limit: "3" }, "db://rows?limit=3"],
  ["db://rows{?limit}", {}, "db://rows"],
  ["x://{constructor}", {}, "x://"],
] as const)("%s is filled in with %j", ([uri, values, want]) => {
  expect(expandTemplate(template(uri), values)).toBe(want);
});
