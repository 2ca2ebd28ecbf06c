package form

import (
	"strings"

	"assent/protocol"
)

// secretWords are those with which a field asks for a secret. They are few: a warning that is often
// wrong is not read.
var secretWords = lazily(`(?i)\b(` + strings.Join([]string{
	`passwords?`, `passwd`, `pwd`, `passphrases?`, `passcodes?`, `pin`, `pin code`,
	`secrets?`, `credentials?`, `otp`, `one time code`, `totp`, `mfa code`, `2fa code`, `seed phrase`, `recovery phrase`,
	`tokens?`, `api ?keys?`, `apikeys?`, `access ?keys?`, `private ?keys?`, `secret ?keys?`, `auth ?keys?`, `encryption keys?`, `signing keys?`, `bearer`,
	`cvv`, `cvc`, `ssn`, `social security number`, `iban`,
	`((credit|debit|bank|payment) )?card ?(number|no|num)`, `(credit|debit) ?card`, `account ?number`,
}, "|") + `)[0-9]*\b`)

// notSecret are words with a secret's word in them that ask for none.
var notSecret = lazily(`(?i)\b((max|min|maximum|minimum|number of|num|total|input|output|prompt|completion|how many|count of) tokens?|tokens? (count|limit|budget|usage|type|per \w+))\b`)

// warning is a sentence that asks for no secret, but not to give one.
var warning = lazily(`(?i)\b(do not|don['’]t|never) (give|send|enter|share|include|put|use|type|provide|reuse)\b[^.;]*`)

// camel is where a word begins within a name.
var camel = lazily(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// asksForSecret reports whether a field seems to ask for a secret, by its name, its title, what it is
// said to be for, or the format (OpenAPI's "password" is one that no form has).
func asksForSecret(head protocol.FieldHead, format string) bool {
	if strings.EqualFold(format, "password") {
		return true
	}
	for _, text := range []string{head.Name, head.Title, warning().ReplaceAllString(head.Description, "")} {
		if secretWords().MatchString(notSecret().ReplaceAllString(words(text), "")) {
			return true
		}
	}
	return false
}

// words makes one spelling of many: apiKey, api_key and API-KEY are the same words.
func words(text string) string {
	text = camel().ReplaceAllString(text, "$1$3 $2$4")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || r == '/' || r == ' ' || r == '\n' || r == '\t'
	}), " ")
}
