import { ErrorCode } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { ResponseError } from "vscode-jsonrpc/node";

/**
 * Returns the URL of a web page in the form in which it is shown and opened: its host in ASCII and the rest escaped, so
 * that no part looks like another. Throws for anything but http and https, which could start a program.
 */
export function webUrl(text: string): string {
  if (!URL.canParse(text)) throw refusal(l10n.t("Assent cannot open this: it is not a URL."));
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw refusal(
      l10n.t("Assent opens only http and https URLs. This one begins with {0}.", url.protocol),
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw refusal(
      l10n.t(
        "Assent does not open a URL that contains a user name: it can imitate another site's URL.",
      ),
    );
  }
  return url.href;
}

function refusal(message: string): ResponseError<void> {
  return new ResponseError(ErrorCode.InvalidParams, message);
}
