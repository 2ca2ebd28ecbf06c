package secret

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"assent/sidecar/base/lazyregexp"
)

// Asks reports whether a text asks for a secret. The text is the name, the title or the description of a field, of an
// argument or of a JSON member. Asks knows the words of several languages, in any spelling of names: apiKey, api_key and
// API-KEY are the same words. It guesses. Forms, the journal and the tap all use it, so that they mask the same values.
func Asks(text string) bool {
	text = askedWords(text)
	text = askedCount().ReplaceAllString(text, "")
	return askedEnglish().MatchString(text) || asksElsewhere(text)
}

// lazily is [lazyregexp.New] for an expression that is put together at its first use.
func lazily(expr func() string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr()) })
}

// askedEnglish are English words for secrets. They are few, because people do not read a warning that is often wrong.
var askedEnglish = lazily(func() string {
	return `\b(` + strings.Join([]string{
		`passwords?`, `passwd`, `pwd`, `passphrases?`, `passcodes?`, `pin`, `pin code`,
		`secrets?`, `credentials?`, `otp`, `one time code`, `totp`, `mfa code`, `2fa code`, `seed phrase`, `recovery phrase`,
		`tokens?`, `api ?keys?`, `apikeys?`, `access ?keys?`, `private ?keys?`, `secret ?keys?`, `auth ?keys?`, `encryption keys?`, `signing keys?`,
		`bearer`, `authorization`,
		`cvv`, `cvc`, `ssn`, `social security number`, `iban`,
		`((credit|debit|bank|payment) )?card ?(number|no|num)`, `(credit|debit) ?card`, `account ?number`,
	}, "|") + `)[0-9]*\b`
})

// askedCount are phrases with a word of askedEnglish that ask for no secret.
var askedCount = lazily(func() string {
	return `\b(` + strings.Join([]string{
		`(max|min|maximum|minimum|number of|num|total|input|output|prompt|completion|context|cached?|how many|count of) tokens?`,
		`tokens? (count|limit|budget|usage|type|endpoint|ur[il]|per \w+)`,
		`(progress|page|continuation|sync) tokens?`,
		`authorization (server|endpoint|ur[il]|type|level|status|method|required)s?`,
	}, "|") + `)\b`
})

// askedOther are words for secrets in other languages. Asks looks for them anywhere in a text, also within words, because
// many languages join words or write no blanks. None of them is a part of a common word.
var askedOther = []string{
	// German
	"Passwort", "Passwörter", "Kennwort", "Kennwörter", "Zugangscode", "Zugangsdaten", "Geheimzahl", "Geheimnummer",
	"Zugangsschlüssel", "API Schlüssel", "privater Schlüssel", "geheimer Schlüssel", "Kreditkarte", "Kartennummer", "Kontonummer",
	// French
	"mot de passe", "mots de passe", "phrase secrète", "code d'accès",
	"jeton d'accès", "numéro de carte", "carte de crédit",
	// Spanish
	"contraseña", "clave de acceso", "clave secreta", "clave privada", "clave API", "clave de API", "código de acceso",
	"número de tarjeta", "tarjeta de crédito",
	// Portuguese
	"palavra passe", "palavra chave secreta", "chave secreta", "chave privada", "chave API", "chave de API", "chave de acesso",
	"código de acesso", "número do cartão", "cartão de crédito",
	// Italian
	"parola d'ordine", "chiave segreta", "chiave privata", "chiave API", "codice segreto", "numero della carta", "carta di credito",
	// Dutch, Danish, Norwegian, Swedish, Finnish, Hungarian, Polish, Czech
	"wachtwoord", "toegangscode", "adgangskode", "passord", "lösenord", "salasana", "jelszó", "klucz API", "klucz prywatny", "numer karty",
	"číslo karty",
	// Turkish, Vietnamese, Indonesian
	"şifre", "mật khẩu", "kata sandi",
	// Russian, Ukrainian, Bulgarian, Greek
	"парол", "пин код", "секретный ключ", "закрытый ключ", "ключ API", "номер карты", "κωδικός πρόσβασης", "συνθηματικό",
	// Hebrew, Arabic, Persian, Hindi, Thai
	"סיסמה", "סיסמא", "كلمة المرور", "كلمة مرور", "كلمة السر", "رمز عبور", "گذرواژه", "पासवर्ड", "รหัสผ่าน",
	// Chinese, Japanese, Korean
	"密码", "密碼", "口令", "密钥", "金鑰", "私钥", "卡号", "信用卡", "パスワード", "パスコード", "パスフレーズ", "暗証番号", "秘密鍵", "クレジットカード", "カード番号",
	"비밀번호", "패스워드", "카드 번호", "카드번호",
}

// askedOtherWords are words for secrets in other languages that are a part of common words, as "clé" of "article".
// Asks looks for them as whole words.
var askedOtherWords = []string{
	"clé API", "clé d'API", "clé secrète", "clé privée", "clé d'accès",
	"senha", "senhas", "hasło", "hasła", "heslo", "hesla", "lozinka", "zaporka", "geslo", "parolă", "parolası", "암호", "пин",
}

// asksElsewhere looks for the words of other languages. One expression of all of them takes twenty times as long, and a form
// may have 500 fields.
func asksElsewhere(text string) bool {
	parts, words := askedElsewhere()
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) }) ||
		slices.ContainsFunc(words, func(word string) bool { return containsWord(text, word) })
}

// askedElsewhere returns askedOther and askedOtherWords, as askedWords spells them.
var askedElsewhere = sync.OnceValues(func() (parts, words []string) {
	spelled := func(list []string) (all []string) {
		for _, each := range list {
			all = append(all, askedWords(each))
		}
		return all
	}
	return spelled(askedOther), spelled(askedOtherWords)
})

// containsWord reports whether a text has a word with no letter beside it.
func containsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
		from = end
	}
}

// askedCamel matches where a new word begins within a name, as in apiKey and HTTPBearer.
var askedCamel = lazyregexp.New(`(\p{Ll}|[0-9])(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})`)

// askedWords returns a text in one spelling: words in lower case with one blank between them, and letters without accents.
func askedWords(text string) string {
	text = askedCamel().ReplaceAllString(text, "$1$3 $2$4")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1 // an accent that is a character of its own
		case strings.ContainsRune("_-./'’", r), unicode.IsSpace(r):
			return ' '
		}
		r = unicode.ToLower(r)
		if plain, ok := withoutAccent[r]; ok {
			return plain
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// withoutAccent maps the accented letters of the words above to plain ones.
var withoutAccent = func() map[rune]rune {
	letters := map[rune]rune{}
	for plain, accented := range map[rune]string{
		'a': "áàâäãåạậẩăą", 'c': "çćč", 'e': "éèêëęěẹ", 'i': "íìîïı", 'n': "ñńň", 'o': "óòôöõøő", 'r': "ř", 's': "şšśș",
		'u': "úùûüůűưứ", 'y': "ýÿ", 'z': "źżž", 'l': "ł", 'g': "ğ", 'ο': "ό", 'ι': "ί", 'α': "ά",
	} {
		for _, r := range accented {
			letters[r] = plain
		}
	}
	return letters
}()
