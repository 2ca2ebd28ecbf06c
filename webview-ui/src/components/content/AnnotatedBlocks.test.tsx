import type { Annotations, ContentBlock } from "@assent/protocol";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { AnnotatedBlocks } from "./AnnotatedBlocks.tsx";

let lastId = 0;

const text = (words: string, annotations?: Annotations): ContentBlock => ({
  type: "text",
  text: words,
  ...(annotations === undefined ? {} : { annotations }),
});

const show = (...blocks: readonly ContentBlock[]) =>
  render(<AnnotatedBlocks blocks={blocks} keep={`annotated${++lastId}`} />);

test("what is for the model alone is folded, and says so", async () => {
  show(
    text("for all"),
    text("for both", { audience: ["assistant", "user"] }),
    text("for the model", { audience: ["assistant"], priority: 1 }),
  );
  screen.getByText("for all");
  screen.getByText("for both");
  expect(screen.queryByText("for the model")).toBeNull();
  await userEvent
    .setup()
    .click(screen.getByText("1 part that the server marks for the model alone"));
  await screen.findByText("for the model");
});

test("what is optional is folded, and the order stays", async () => {
  const { container } = show(
    text("optional", { priority: 0.1 }),
    text("also optional", { priority: 0 }),
    text("second", { priority: 0.5 }),
    text("first", { priority: 1 }),
  );
  const shown = [...container.querySelectorAll("pre")].map(({ textContent }) => textContent);
  expect(shown).toEqual(["second", "first"]);
  await userEvent.setup().click(screen.getByText("2 parts that the server marks as optional"));
  await screen.findByText("also optional");
});

test("what is optional is not folded beside nothing", () => {
  show(text("optional", { priority: 0 }));
  screen.getByText("optional");
});
