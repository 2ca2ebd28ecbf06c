import type { McpSampling, Outcome } from "@assent/protocol";
import mermaid from "mermaid";
import { describe, expect, test } from "vitest";
import { at, otherModel, sampling } from "../../testing/samples.ts";
import { mermaidText } from "./mermaidText.ts";
import { flowOf, type Place, placeOf } from "./samplingFlow.ts";

const approved: Outcome = { reason: "answered", by: "VS Code", at };
const progress = { text: "The risk", sequence: 2 };

describe("where a request is", () => {
  const response = {
    type: "response",
    role: "assistant",
    content: [{ type: "text", text: "Low." }],
    model: "gpt",
  } as const;
  const cases: readonly {
    name: string;
    part: Partial<McpSampling>;
    outcome?: Outcome;
    want: Place | undefined;
  }[] = [
    { name: "open", part: {}, want: "approval" },
    { name: "approved", part: {}, outcome: approved, want: "asked" },
    {
      name: "nothing written yet",
      part: { progress: { text: "", sequence: 0 } },
      outcome: approved,
      want: "asked",
    },
    { name: "writing", part: { progress }, outcome: approved, want: "answering" },
    { name: "in review", part: { inReview: true }, outcome: approved, want: "review" },
    { name: "returned", part: { result: response }, outcome: approved, want: undefined },
    {
      name: "withheld",
      part: { inReview: true, result: { type: "withheld", reason: "You withheld it." } },
      outcome: approved,
      want: undefined,
    },
    {
      name: "failed",
      part: { progress, result: { type: "failure", reason: "No." } },
      outcome: approved,
      want: undefined,
    },
    { name: "approved by a grant", part: {}, outcome: { reason: "granted", at }, want: "asked" },
    { name: "denied", part: {}, outcome: { reason: "declined", at }, want: undefined },
    { name: "lost", part: {}, outcome: { reason: "restarted", at }, want: undefined },
  ];
  test.each(cases)("$name", ({ part, outcome, want }) => {
    expect(placeOf(sampling(part), outcome)).toBe(want);
  });
});

describe("the picture and its words", () => {
  const question = sampling({ model: otherModel });

  test("a grant has no step of the person", () => {
    const { code, words } = flowOf("asked", question, true);
    expect(code).not.toContain("assent->>person");
    expect(code).toContain("assent->>model: request");
    expect(words).toContain("a grant approved the request");
  });

  test("before the approval, the model has nothing", () => {
    const { code, at: participant, words } = flowOf("approval", question);
    expect(participant).toBe("person");
    expect(words).toBe("With you: the request of database waits for your approval.");
    expect(code).toBe(
      [
        "sequenceDiagram",
        "participant server as database",
        "participant assent as Assent",
        "participant person as You",
        "participant model as gpt at localhost",
        "server->>assent: asks",
        "assent->>person: request",
        "assent-->>model: request",
        "model-->>assent: answer",
        "assent-->>server: answer",
      ].join("\n"),
    );
  });

  test("a model that is asked and one that answers are one picture", () => {
    const asked = flowOf("asked", question);
    const answering = flowOf("answering", question);
    expect(answering.code).toBe(asked.code);
    expect(asked.at).toBe("model");
    expect(asked.code).toContain("assent->>model: request\nmodel-->>assent: answer");
    expect(asked.words).toMatch(/gpt at localhost was asked\.$/);
    expect(answering.words).toMatch(/gpt at localhost is answering the request of database\.$/);
  });

  test("a review is the person's", () => {
    const { code, at: participant, words } = flowOf("review", question);
    expect(participant).toBe("person");
    expect(code).toContain("model->>assent: answer\nassent->>person: answer\nassent-->>server");
    expect(words).toMatch(/waits for your review\.$/);
  });
});

describe("a stranger's text", () => {
  const cases = [
    { name: "plain", text: "test-server_1.0 (beta)/x", want: "test-server_1.0 (beta)/x" },
    { name: "other scripts", text: "天気 café خادم", want: "天気 café خادم" },
    { name: "Mermaid", text: "a;b#c%%d:", want: "a#59;b#35;c#37;#37;d#58;" },
    { name: "markup", text: "<b>&amp;", want: "#60;b#62;#38;amp#59;" },
    { name: "line breaks", text: " a\n\r\u2028b ", want: "a b" },
    { name: "what hides", text: "a\u202eb", want: "a#91;U#43;202E#93;b" },
    { name: "controls", text: "a\u0007b", want: "a#91;U#43;0007#93;b" },
    { name: "half a character", text: "a\ud800b", want: "a#91;U#43;D800#93;b" },
    { name: "what masks an entity", text: "\ue03b", want: "\ufffd" },
    { name: "long", text: "x".repeat(45), want: `${"x".repeat(43)}…` },
    { name: "just long enough", text: "😀".repeat(44), want: "😀".repeat(44) },
  ];
  test.each(cases)("$name", ({ text, want }) => {
    expect(mermaidText(text)).toBe(want);
  });

  // What Mermaid's own parser makes of it: four participants and five messages with any names.
  const hostile = [
    "end",
    "x\nparticipant evil",
    "x; participant evil",
    "server->>model: hand it over",
    "%%{init: {'securityLevel': 'loose'}}%%",
    "---\nconfig:\n  theme: forest\n---",
    "<img src=x onerror=alert(1)><br>",
    "wrap:$$\\sqrt{x}$$",
    ":::x @{ type: actor }",
    "style:x#y;",
    "   ",
    "#quot;#59;",
    '"`\\',
    "\u0000\u202e\u{e0041}\ufffe",
  ];
  test.each(hostile)("%j is a name and nothing else", async (name) => {
    const { code } = flowOf(
      "approval",
      sampling({ serverName: name, model: { ...otherModel, name } }),
    );
    await mermaid.parse(code);
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(code);
    const sequence = db as unknown as {
      getActorKeys(): readonly string[];
      getMessages(): readonly { from: string; to: string; message: string }[];
    };
    expect(sequence.getActorKeys()).toEqual(["server", "assent", "person", "model"]);
    expect(sequence.getMessages()).toHaveLength(5);
  });
});
