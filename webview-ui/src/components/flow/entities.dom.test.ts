import { expect, test } from "vitest";
import { maskEntities, unmaskEntities } from "./entities.ts";
import { mermaidText } from "./mermaidText.ts";

test("a text is drawn unchanged, with other characters during drawing", () => {
  const text = `<b>"a;b#35;" & 'c'</b> %%{x}%% $$ \\ @`;
  const masked = maskEntities(mermaidText(text));
  expect(masked).not.toMatch(/[<>&;#%"'{}$\\@]/);
  expect([...masked]).toHaveLength([...text].length);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.append(document.createElementNS(svg.namespaceURI, "text"));
  svg.firstElementChild?.append(masked);
  unmaskEntities(svg as SVGElement);
  expect(svg.textContent).toBe(text);
  expect(svg.querySelectorAll("*")).toHaveLength(1);
});

test("an entity beyond ASCII stays as it is", () => {
  expect(maskEntities("#233; #9829; #35")).toBe("#233; #9829; #35");
});
