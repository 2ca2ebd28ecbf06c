import type { Field, FieldProblem } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { plural } from "../../lib/l10n.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";

/** Translates a form's problem. A rule without a text here keeps the sidecar's message. */
export function inWords(
  problem: FieldProblem,
  fields: readonly Field[],
  inputs: Draft,
): FieldProblem {
  // On the wire, an empty field name and a missing one are the same.
  const field = fields.find(({ name }) => name === (problem.name ?? ""));
  if (field === undefined) return problem;
  return { ...problem, message: problemText(field, problem, own(inputs, field.name)) };
}

function problemText(
  field: Field,
  { keyword, message }: FieldProblem,
  input: FieldInput | undefined,
): string {
  switch (keyword) {
    case "required":
      return field.type === "choice" ? l10n.t("Choose one") : l10n.t("Required");
    case "enum":
      return field.type === "choice" ? l10n.t("Choose one of the options") : message;
  }
  switch (field.type) {
    case "string":
      return textProblem(field, keyword, typeof input === "string" ? input : "") ?? message;
    case "number":
      if (keyword === "minimum") return l10n.t("At least {0}", field.minimum ?? "");
      if (keyword === "maximum") return l10n.t("At most {0}", field.maximum ?? "");
      if (keyword !== "type") return message;
      return field.integer
        ? l10n.t("Not a whole number, such as 12")
        : l10n.t("Not a number; write it like 12.5");
    case "choices":
      if (keyword === "minItems") return l10n.t("Choose at least {0}", field.minItems ?? 0);
      if (keyword === "maxItems") return l10n.t("Choose at most {0}", field.maxItems ?? 0);
      return message;
    case "list":
      if (keyword === "minItems") return l10n.t("Enter at least {0}", field.minItems ?? 0);
      if (keyword === "maxItems") return l10n.t("Enter at most {0}", field.maxItems ?? 0);
      return message;
    default:
      return message;
  }
}

function textProblem(
  field: Field & { readonly type: "string" },
  keyword: FieldProblem["keyword"],
  input: string,
): string | undefined {
  const { minLength = 0, maxLength = 0, pattern = "", description = "" } = field;
  const length = [...input].length;
  switch (keyword) {
    case "minLength":
      return plural(
        minLength,
        l10n.t("At least 1 character; this has {1}"),
        l10n.t("At least {0} characters; this has {1}"),
        length,
      );
    case "maxLength":
      return plural(
        maxLength,
        l10n.t("At most 1 character; this has {1}"),
        l10n.t("At most {0} characters; this has {1}"),
        length,
      );
    case "pattern": // The server's own words explain more than its regular expression.
      return description === ""
        ? l10n.t("Does not match the pattern {0}", brief(pattern))
        : l10n.t("Does not match: {0}", brief(description));
    case "format":
      return formatProblem(field.format);
    default:
      return undefined;
  }
}

function formatProblem(format: string | undefined): string | undefined {
  switch (format) {
    case "email":
      return l10n.t("Not an email address, such as name@example.com");
    case "uri":
      return l10n.t("Not a full URL, such as https://example.com/page; write a space as %20");
    case "date":
      return l10n.t("Not a date, such as 2026-11-21");
    case "date-time":
      return l10n.t("Not a date and time, such as 2026-11-21T14:30:00Z");
    default:
      return undefined;
  }
}
