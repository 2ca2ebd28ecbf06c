import type { ResourceTemplate, StringField } from "@assent/protocol";
import { parseTemplate } from "url-template";

/**
 * Returns a field for each variable of a URI template (RFC 6570), in order. Variables of the path are required. Those
 * of a query, a fragment or a parameter are optional, because templates allow leaving them out.
 */
export function templateFields({ uriTemplate }: ResourceTemplate): readonly StringField[] {
  const fields = new Map<string, StringField>();
  for (const [, operator = "", variables = ""] of uriTemplate.matchAll(
    /\{([+#./;?&]?)([^{}]*)\}/g,
  )) {
    const required = operator === "" || operator === "+";
    for (const variable of variables.split(",")) {
      // Modifiers after a name: explode, or a prefix length.
      const name = variable.replace(/(\*|:\d+)$/, "").trim();
      if (name === "" || fields.has(name)) continue;
      fields.set(name, { type: "string", name, ...(required && { required }) });
    }
  }
  return [...fields.values()];
}

/** Expands a template. Variables without a value are left out. */
export function expandTemplate(
  { uriTemplate }: ResourceTemplate,
  values: Readonly<Record<string, string>>,
): string {
  return parseTemplate(uriTemplate).expand({ ...values });
}
