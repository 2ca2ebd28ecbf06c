import type { ResourceTemplate, StringField } from "@assent/protocol";
import { parseTemplate } from "url-template";

/**
 * A field for each variable of a URI template (RFC 6570), in the order in which they come. Those that
 * stand in the path have to be filled in; those of a query, a fragment or a parameter may be left out,
 * and the template is made for that.
 */
export function templateFields({ uriTemplate }: ResourceTemplate): readonly StringField[] {
  const fields = new Map<string, StringField>();
  for (const [, operator = "", variables = ""] of uriTemplate.matchAll(
    /\{([+#./;?&]?)([^{}]*)\}/g,
  )) {
    const required = operator === "" || operator === "+";
    for (const variable of variables.split(",")) {
      // What follows a name says how it is put in: exploded, or its first characters.
      const name = variable.replace(/(\*|:\d+)$/, "").trim();
      if (name === "" || fields.has(name)) continue;
      fields.set(name, { type: "string", name, ...(required && { required }) });
    }
  }
  return [...fields.values()];
}

/** The URI that a template becomes; a variable without a value is left out. */
export function expandTemplate(
  { uriTemplate }: ResourceTemplate,
  values: Readonly<Record<string, string>>,
): string {
  return parseTemplate(uriTemplate).expand({ ...values });
}
