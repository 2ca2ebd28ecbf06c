import type { Field } from "@assent/protocol";
import type { FieldInput } from "../view/viewState.ts";

/** What a server may send for a schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** Makes up schemas, patterns and what people type; the same ones for the same seed. */
export class RandomForms {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  schema(): Schema {
    const names = this.some(["a", "b", "1", "__proto__", "constructor", "ä", ""], 4);
    return {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, this.property()])),
      ...this.maybe("required", () => names.filter(() => this.flip())),
    };
  }

  /** An expression in the syntax that engines share, and in some that they do not. */
  pattern(depth = 3): string {
    const atom = () =>
      depth > 0 && this.flip(0.3)
        ? `${this.one(["(", "(?:", "(?<n>", "(?:", "(?="])}${this.pattern(depth - 1)})`
        : this.one(atoms);
    const terms = this.times(3, () => atom() + this.one(quantifiers));
    const term = terms.join("");
    return this.flip(0.2) ? `${term}|${this.one(atoms)}` : term;
  }

  /** A text: a likely one, one that nearly is, or one that is not. */
  text(): string {
    const text = this.flip() ? this.one(texts) : this.times(6, () => this.one(letters)).join("");
    if (!this.flip(0.3)) return text;
    const at = this.below(text.length + 1);
    return text.slice(0, at) + this.one(letters) + text.slice(at + this.below(2));
  }

  /** What a control holds; undefined where nobody touched it. */
  input(field: Field): FieldInput | undefined {
    if (this.flip(0.2)) return undefined;
    switch (field.type) {
      case "boolean":
        return this.flip();
      case "choice":
        return this.flip(0.9) ? this.one(field.options ?? []).value : this.text();
      case "choices":
        return (field.options ?? []).map(({ value }) => value).filter(() => this.flip());
      case "number":
        return this.number();
      default:
        return this.text();
    }
  }

  private property(): Schema {
    const kind = this.one(["text", "text", "number", "boolean", "choice", "choices", "odd"]);
    switch (kind) {
      case "text":
        return {
          type: "string",
          ...this.maybe("minLength", () => this.below(4)),
          ...this.maybe("maxLength", () => this.below(40)),
          ...this.maybe("format", () => this.one(["email", "uri", "date", "date-time", "uuid"])),
          ...this.maybe("pattern", () => this.pattern(), 0.3),
          ...this.maybe("default", () => this.text()),
        };
      case "number":
        return {
          type: this.one(["number", "integer"]),
          ...this.maybe("minimum", () => this.below(9) - 5),
          ...this.maybe("maximum", () => this.below(2000)),
          ...this.maybe("default", () => this.below(100) / 4),
        };
      case "boolean":
        return { type: "boolean", ...this.maybe("default", () => this.flip()) };
      case "choice":
        return { type: "string", ...this.options("oneOf"), ...this.maybe("default", () => "x") };
      case "choices":
        return {
          type: "array",
          items: { type: "string", ...this.options("anyOf") },
          ...this.maybe("minItems", () => this.below(3)),
          ...this.maybe("maxItems", () => this.below(4)),
          ...this.maybe("default", () => this.some(choices, 3)),
        };
      default:
        return this.one<Schema>([
          { type: "object" },
          { type: ["string", "null"] },
          { type: "string", enum: [1] },
          { type: "string", title: 1 },
          { type: "number", minimum: "1" },
          {},
        ]);
    }
  }

  private options(titled: string): Schema {
    const values = this.some(choices, 4);
    switch (this.below(3)) {
      case 0:
        return { enum: values };
      case 1:
        return { enum: values, enumNames: values.map((value) => `T${value}`) };
      default:
        return { [titled]: values.map((value) => ({ const: value, title: `T${value}` })) };
    }
  }

  private number(): string {
    const digits = () =>
      this.times(this.one([2, 3, 22]), () => this.one([..."0123456789"])).join("");
    if (this.flip(0.1)) return this.text();
    return [
      this.one(["", "", "-", "+", " "]),
      digits(),
      this.flip(0.3) ? `.${digits()}` : "",
      this.flip(0.2) ? `${this.one(["e", "E"])}${this.one(["", "-", "+"])}${this.below(400)}` : "",
      this.one(["", "", "", " ", ",5"]),
    ].join("");
  }

  private maybe(key: string, make: () => unknown, chance = 0.4): Schema {
    return this.flip(chance) ? { [key]: make() } : {};
  }

  private flip(chance = 0.5): boolean {
    return this.next() < chance;
  }

  private one<T>(from: readonly T[]): T {
    const chosen = from[this.below(from.length)];
    if (chosen === undefined) throw new Error("nothing to choose from");
    return chosen;
  }

  private some(from: readonly string[], most: number): readonly string[] {
    return [...new Set([this.one(from), ...this.times(most - 1, () => this.one(from))])];
  }

  private times<T>(most: number, make: () => T): readonly T[] {
    return Array.from({ length: 1 + this.below(most) }, make);
  }

  private below(n: number): number {
    return Math.floor(this.next() * n);
  }

  /** The generator mulberry32: from 0 to 1. */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}

const choices = ["x", "y", "z", "", "ä", "constructor"];

const letters = [
  ...'abcxyzAZ09_ .-@:/%+#?[]{}()"\\\n\r\t\u00a0\u2028\u200b\u202e\ufeffäé٣👍\u0000\u0301',
];

const texts = [
  ..."",
  "a@b.c",
  "ä.b+c@exämple.org",
  '"a b"@[127.0.0.1]',
  "https://example.com/%20?q=1#f",
  "http://[::1]/",
  "urn:x:1",
  "2024-02-29",
  "2026-11-21",
  "1900-02-29",
  "2026-11-21T14:30:00Z",
  "2026-11-21t23:59:60.5-00:00",
  "1998-12-31T15:59:60-08:00",
  "abc",
  "aaaaaaaaab",
  "",
];

const atoms = [
  ..."abx0_äé👍",
  ..."^$.",
  ...["\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "\\/", "\\.", "\\t", "\\n"],
  ...["[a-c]", "[^a-c]", "[\\d_-]", "[^\\s]", "[.$^]", "[\\]\\\\]", "[]", "[^]", "[\\b]", "[\\S]"],
  ...["\\u00e9", "\\u{1F44D}", "\\uD83D\\uDC4D", "\\p{L}", "\\P{Lu}", "\\p{Script=Greek}", "\\x41"],
];

const quantifiers = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,}", "*?", "+?"];
