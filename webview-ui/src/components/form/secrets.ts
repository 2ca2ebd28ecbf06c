import type { Field } from "@assent/protocol";

const secret =
  /\b(password|passwd|passphrase|passcode|pin|secret|token|credentials?|cvv|cvc|ssn|(api|access|private|secret|auth) ?key|(card|credit card|account) ?number|iban)\b/i;

/**
 * Says whether a field seems to ask for a secret. MCP forbids that in a form, so such a field is
 * masked and what is typed into it is kept nowhere. A tick or a choice reveals nothing.
 */
export function looksSecret(field: Field): boolean {
  if (field.type === "boolean" || field.type === "choice" || field.type === "choices") return false;
  return [field.name, field.title, field.description].some(
    (text) => text !== undefined && secret.test(words(text)),
  );
}

/** Names are written in many ways: apiKey, api_key and API-KEY are the same words. */
function words(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_\-.]+/g, " ");
}
