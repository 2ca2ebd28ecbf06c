package form

import (
	"strings"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/secret"
)

// warning matches sentences that warn against giving a secret.
var warning = lazyregexp.New(`(?i)\b(do not|don['’]t|never) (give|send|enter|share|include|put|use|type|provide|reuse)\b[^.;]*`)

// asksForSecret reports whether a field seems to ask for a secret: by its name, title or description ([secret.Asks]), or
// by OpenAPI's format "password".
func asksForSecret(head protocol.FieldHead, format string) bool {
	return strings.EqualFold(format, "password") || secret.Asks(head.Name) || secret.Asks(head.Title) ||
		secret.Asks(warning().ReplaceAllString(head.Description, ""))
}
