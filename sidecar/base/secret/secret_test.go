package secret_test

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/base/secret"
)

const (
	digit    = "0123456789"
	hex      = "0123456789abcdef"
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphanum = upper + "abcdefghijklmnopqrstuvwxyz" + digit
)

// random returns a text over an alphabet, the same in every run. The source has no secrets, because
// code hosts would reject it.
func random(alphabet string, n int) string {
	r := rand.New(rand.NewPCG(uint64(n), uint64(len(alphabet))))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func chars(n int) string { return random(alphanum, n) }

func pem(kind, lineEnd string) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + kind + "-----" + lineEnd)
	for range 4 {
		b.WriteString(chars(64) + lineEnd)
	}
	return b.String() + "-----END " + kind + "-----"
}

func jwt(header string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"somebody"}`)) + "." + chars(43)
}

// examples has for each rule texts that match, and texts that do not: too short, or of another
// alphabet.
var examples = []struct {
	rule string
	// around has a % at the place of the secret; empty means the secret alone.
	around          string
	secrets, misses []string
}{
	{"aws-access-token", "", []string{"AKIA" + random(upper, 16), "ASIA" + random(upper, 16)}, []string{"AKIA" + random(upper, 15), "AKIA" + random(upper, 17), "AKIA" + "IOSFODNN7EXAMPLE", "akia" + random(upper, 16)}},
	{"aws-secret-key", `aws_secret_access_key = %`, []string{chars(40)}, []string{chars(39), chars(41), "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"}},
	{"aws-secret-key", `{\"SecretAccessKey\": \"%\"}`, []string{chars(40)}, nil},
	{"aws-bedrock-api-key", "", []string{"ABSK" + chars(128)}, []string{"ABSK" + chars(100)}},
	{"azure-ad-client-secret", "", []string{chars(3) + "8Q~" + chars(34)}, []string{chars(3) + "8Q~" + chars(29), chars(4) + "8Q~" + chars(34)}},
	{"azure-storage-key", "AccountName=x;AccountKey=%;", []string{chars(86) + "=="}, []string{chars(86), chars(20) + "=="}},
	{"gcp-api-key", "", []string{"AIza" + chars(35)}, []string{"AIza" + chars(34), "AIza" + chars(36)}},
	{"gcp-client-secret", "", []string{"GOCSPX-" + chars(28)}, []string{"GOCSPX-" + chars(20)}},
	{"gcp-access-token", "", []string{"ya29." + chars(120)}, []string{"ya29." + chars(20)}},
	{"gcp-refresh-token", "", []string{"1//0" + chars(60)}, []string{"1//0" + chars(20)}},
	{"cloudflare-origin-ca-key", "", []string{"v1.0-" + random(hex, 24) + "-" + random(hex, 146)}, []string{"v1.0-" + random(hex, 24) + "-" + random(hex, 100)}},
	{"digitalocean-token", "", []string{"dop_v1_" + random(hex, 64), "dor_v1_" + random(hex, 64)}, []string{"dop_v1_" + random(hex, 63)}},
	{"alibaba-access-key-id", "", []string{"LTAI" + chars(20)}, []string{"LTAI" + chars(19)}},
	{"flyio-access-token", "", []string{"fo1_" + chars(43), "fm2_" + chars(150)}, []string{"fo1_" + chars(30), "fm2_" + chars(40)}},
	{"heroku-api-key", "", []string{"HRKU-AA" + chars(58)}, []string{"HRKU-AA" + chars(57)}},
	{"netlify-access-token", "", []string{"nfp_" + chars(36)}, []string{"nfp_" + chars(35)}},
	{"supabase-key", "", []string{"sbp_" + random(hex, 40), "sb_secret_" + chars(31)}, []string{"sbp_" + random(hex, 39), "sb_secret_" + chars(10)}},

	{"github-pat", "", []string{"ghp_" + chars(36)}, []string{"ghp_" + chars(35), "ghp_" + strings.Repeat("x", 36), "xghp_" + chars(36)}},
	{"github-fine-grained-pat", "", []string{"github_pat_" + chars(82)}, []string{"github_pat_" + chars(22)}},
	{"github-app-token", "", []string{"gho_" + chars(36), "ghs_" + chars(36)}, []string{"ghs_" + chars(35), "ghx_" + chars(36)}},
	{"gitlab-pat", "", []string{"glpat-" + chars(20), "glpat-" + chars(60) + ".01." + chars(9)}, []string{"glpat-" + chars(19)}},
	{"gitlab-token", "", []string{"glrt-" + chars(20), "gldt-" + chars(20)}, []string{"glrt-" + chars(19), "glxx-" + chars(20)}},
	{"atlassian-api-token", "", []string{"ATATT3" + chars(186)}, []string{"ATATT3" + chars(100)}},
	{"linear-api-key", "", []string{"lin_api_" + chars(40)}, []string{"lin_api_" + chars(39)}},
	{"npm-access-token", "", []string{"npm_" + chars(36)}, []string{"npm_" + chars(35), "npm_config_" + "registry"}},
	{"pypi-upload-token", "", []string{"pypi-AgEI" + "cHlwaS5vcmc" + chars(150), "pypi-AgEI" + "cHlwaS5vcmc" + chars(400)}, []string{"pypi-AgEI" + "cHlwaS5vcmc"}},
	{"rubygems-api-token", "", []string{"rubygems_" + random(hex, 48)}, []string{"rubygems_" + random(hex, 47)}},
	{"clojars-api-token", "", []string{"CLOJARS_" + chars(60)}, []string{"CLOJARS_" + chars(59)}},
	{"docker-pat", "", []string{"dckr_pat_" + chars(27)}, []string{"dckr_pat_" + chars(26)}},
	{"postman-api-token", "", []string{"PMAK-" + random(hex, 24) + "-" + random(hex, 34)}, []string{"PMAK-" + random(hex, 24)}},
	{"pulumi-api-token", "", []string{"pul-" + random(hex, 40)}, []string{"pul-" + random(hex, 39)}},
	{"hashicorp-tf-api-token", "", []string{chars(14) + ".atlasv1." + chars(67)}, []string{chars(10) + ".atlasv1." + chars(67), chars(14) + ".atlasv1." + chars(30)}},
	{"vault-token", "", []string{"hvs." + chars(95), "hvb." + chars(150)}, []string{"hvs." + chars(24)}},
	{"doppler-api-token", "", []string{"dp.pt." + chars(43)}, []string{"dp.pt." + chars(42)}},
	{"1password-secret-key", "", []string{"A3-" + random(upper, 6) + "-" + random(upper+digit, 11) + "-" + random(upper, 5) + "-" + random(digit, 5) + "-" + random(digit+upper, 5)}, []string{"A3-" + random(upper, 6)}},
	{"1password-service-account-token", "", []string{"ops_eyJ" + chars(600)}, []string{"ops_eyJ" + chars(100)}},
	{"age-secret-key", "", []string{"AGE-SECRET-KEY-1" + random("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}, []string{"AGE-SECRET-KEY-1" + random("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 50)}},

	{"anthropic-api-key", "", []string{"sk-ant-api03-" + chars(93) + "AA", "sk-ant-oat01-" + chars(95)}, []string{"sk-ant-api03-" + chars(40), "sk-ant-" + "something-else"}},
	{"openai-api-key", "", []string{"sk-proj-" + chars(74) + "T3Blbk" + "FJ" + chars(74), "sk-svcacct-" + chars(120)}, []string{"sk-proj-" + chars(20), "sk-proj-my-" + "project"}},
	{"openrouter-api-key", "", []string{"sk-or-v1-" + random(hex, 64)}, []string{"sk-or-v1-" + random(hex, 63)}},
	{"huggingface-access-token", "", []string{"hf_" + random(upper+"abcdefg", 34)}, []string{"hf_" + random(upper, 33), "hf_hub_" + "download"}},
	{"groq-api-key", "", []string{"gsk_" + chars(52)}, []string{"gsk_" + chars(51)}},
	{"xai-api-key", "", []string{"xai-" + chars(80)}, []string{"xai-" + chars(79)}},
	{"perplexity-api-key", "", []string{"pplx-" + chars(48)}, []string{"pplx-" + chars(47)}},
	{"replicate-api-token", "", []string{"r8_" + chars(37)}, []string{"r8_" + chars(36)}},
	{"langsmith-api-key", "", []string{"lsv2_pt_" + random(hex, 32) + "_" + random(hex, 10)}, []string{"lsv2_pt_" + random(hex, 32)}},
	{"tavily-api-key", "", []string{"tvly-" + chars(32), "tvly-dev-" + chars(32)}, []string{"tvly-" + chars(31)}},
	{"databricks-api-token", "", []string{"dapi" + random(hex, 32), "dapi" + random(hex, 32) + "-2"}, []string{"dapi" + random(hex, 31)}},

	{"slack-bot-token", "", []string{"xoxb-" + random(digit, 12) + "-" + random(digit, 13) + "-" + chars(24)}, []string{"xoxb-" + random(digit, 12)}},
	{"slack-user-token", "", []string{"xoxp-" + random(digit, 12) + "-" + random(digit, 12) + "-" + random(hex, 32)}, []string{"xoxp-" + random(digit, 12)}},
	{"slack-app-token", "", []string{"xapp-1-A" + random(upper, 10) + "-" + random(digit, 13) + "-" + random(hex, 64)}, []string{"xapp-1-A" + random(upper, 10)}},
	{"slack-webhook-url", "https://%", []string{"hooks.slack.com/services/T" + random(upper, 10) + "/B" + random(upper, 10) + "/" + chars(24)}, []string{"hooks.slack.com/services/T00000000/B00000000/XXXXXXXX" + "XXXXXXXXXXXXXXXX"}},
	{"discord-bot-token", "", []string{base64.RawStdEncoding.EncodeToString([]byte(random(digit, 19))) + "." + chars(6) + "." + chars(38)}, []string{"M" + chars(25) + "." + chars(6) + ".", "MTAx" + chars(22) + "." + chars(7) + "." + chars(38)}},
	{"discord-webhook-url", "https://%", []string{"discord.com/api/webhooks/" + random(digit, 19) + "/" + chars(68)}, []string{"discord.com/api/webhooks/" + random(digit, 19)}},
	{"telegram-bot-api-token", "", []string{random(digit, 10) + ":AA" + chars(33)}, []string{random(digit, 7) + ":AA" + chars(33), random(digit, 11) + ":AA" + chars(33), random(digit, 10) + ":AA" + chars(32)}},
	{"telegram-bot-api-token", "https://api.telegram.org/bot%/getMe", []string{random(digit, 9) + ":AA" + chars(33)}, nil},
	{"sendgrid-api-token", "", []string{"SG." + chars(22) + "." + chars(43)}, []string{"SG." + chars(22), "SG." + chars(22) + "." + chars(42)}},
	{"sendinblue-api-token", "", []string{"xkeysib-" + random(hex, 64) + "-" + chars(16)}, []string{"xkeysib-" + random(hex, 64)}},
	{"twilio-api-key", "", []string{"SK" + random(hex, 32)}, []string{"SK" + random(hex, 31), "SK" + random(hex, 33), "DISK" + random(hex, 32)}},

	{"stripe-access-token", "", []string{"sk_live_" + chars(24), "rk_test_" + chars(99)}, []string{"sk_live_" + chars(15), "pk_live_" + chars(24)}},
	{"stripe-webhook-secret", "", []string{"whsec_" + chars(32)}, []string{"whsec_" + chars(31)}},
	{"square-access-token", "", []string{"sq0atp-" + chars(22)}, []string{"sq0atp-" + chars(21)}},
	{"shopify-access-token", "", []string{"shpat_" + random(hex, 32), "shpss_" + random(hex, 32)}, []string{"shpat_" + random(hex, 31)}},
	{"shippo-api-token", "", []string{"shippo_live_" + random(hex, 40)}, []string{"shippo_live_" + random(hex, 39)}},
	{"easypost-api-token", "", []string{"EZAK" + chars(54)}, []string{"EZAK" + chars(53)}},
	{"notion-api-token", "", []string{"ntn_" + random(digit, 11) + chars(35)}, []string{"ntn_" + random(digit, 11) + chars(34)}},
	{"figma-token", "", []string{"figd_" + chars(40)}, []string{"figd_" + chars(39)}},
	{"airtable-token", "", []string{"pat" + chars(14) + "." + random(hex, 64)}, []string{"pat" + chars(14) + "." + random(hex, 63)}},
	{"planetscale-token", "", []string{"pscale_tkn_" + chars(43), "pscale_pw_" + chars(43)}, []string{"pscale_tkn_" + chars(31)}},
	{"grafana-token", "", []string{"glsa_" + chars(32) + "_" + random(hex, 8), "glc_" + chars(120)}, []string{"glsa_" + chars(32), "glc_" + chars(31)}},
	{"sentry-token", "", []string{"sntryu_" + random(hex, 64), "sntrys_eyJ" + chars(150)}, []string{"sntryu_" + random(hex, 63)}},
	{"dynatrace-api-token", "", []string{"dt0c01." + random(upper, 24) + "." + chars(64)}, []string{"dt0c01." + random(upper, 24) + "." + chars(63)}},
	{"new-relic-user-api-key", "", []string{"NRAK-" + random(upper+digit, 27)}, []string{"NRAK-" + random(upper+digit, 26)}},
	{"sourcegraph-access-token", "", []string{"sgp_" + random(hex, 40), "sgp_local_" + random(hex, 40)}, []string{"sgp_" + random(hex, 39)}},

	{
		"private-key", "",
		[]string{pem("RSA PRIVATE KEY", "\n"), pem("PRIVATE KEY", `\n`), pem("OPENSSH PRIVATE KEY", "\r\n"), pem("PGP PRIVATE KEY BLOCK", "\n")},
		[]string{pem("PUBLIC KEY", "\n"), pem("CERTIFICATE", "\n"), "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY----- is how a file with a private key begins, and -----END PRIVATE KEY----- is how it ends"},
	},
	{"jwt", "", []string{jwt(`{"alg":"HS256","typ":"JWT"}`), jwt(`{"alg":"RS256","kid":"` + chars(900) + `"}`)}, []string{jwt(`{"typ":"JWT"}`), jwt(`{"alg":"none"`), "eyJhbGciOiJIUzI1NiJ9"}},
	{"sk-api-key", "", []string{"sk-" + chars(48), "sk-" + random(hex, 32)}, []string{"sk-" + chars(31), "sk-" + random(upper, 40)}},
	{"bearer-token", "Authorization: Bearer %", []string{chars(40)}, []string{chars(20), "authenticationSchemeOfTheServer", "resource_metadata=\"https://a.example/1\""}},
	{"url-password", "postgres://app:%@db.internal:5432/app", []string{chars(12), "correct-horse!"}, []string{"password", "${DB_PASSWORD}", "$PASSWORD", "xxxxxxxx", "a/b"}},
	{"url-password", "http://localhost:%", nil, []string{"8080/@vite/client", "8080/a:b@c"}},
}

func TestRules(t *testing.T) {
	s := secret.New()
	tested := map[string]bool{}
	for _, tt := range examples {
		tested[tt.rule] = true
		frames := []string{"%", "the key is %.", `{"key":"%"}`, `a line\n%\nand one more`, "key=%&more=1", "q=%3D%%26", "`%`, (%) [%]"}
		if tt.around != "" {
			frames = []string{tt.around, "first " + tt.around + "\nlast"}
		}
		for _, frame := range frames {
			frame = strings.ReplaceAll(strings.ReplaceAll(frame, "%3D", "\x01"), "%26", "\x02")
			in := func(secret string) string {
				return strings.NewReplacer("%", secret, "\x01", "%3D", "\x02", "%26").Replace(frame)
			}
			for _, example := range tt.secrets {
				text := in(example)
				findings := s.Scan(text, nil)
				if len(findings) != strings.Count(frame, "%") {
					t.Errorf("%s: %q has %+v", tt.rule, text, findings)
					continue
				}
				for _, f := range findings {
					if f.Rule != tt.rule || text[f.Start:f.End] != example || f.Description == "" {
						t.Errorf("%s: %q in %q, found %+v", tt.rule, example, text, f)
					}
				}
			}
			for _, miss := range tt.misses {
				for _, f := range s.Scan(in(miss), nil) {
					if f.Rule == tt.rule {
						t.Errorf("%s: %q is found by %+v", tt.rule, in(miss), f)
					}
				}
			}
		}
	}
	for _, id := range secret.RuleIDs() {
		if !tested[id] {
			t.Errorf("the rule %s has no example", id)
		}
	}
}

func TestKnown(t *testing.T) {
	const value = `pa55 "w&rd/+é`
	known := []secret.Known{{"short12", "too short"}, {" " + value + "\n", "the password of Files"}, {"another-value", "another"}}
	tests := []struct {
		name, text, want string
	}{
		{"as it is", "the password " + value + " is", "the password [redacted: the password of Files] is"},
		{"percent-encoded", "?p=" + url.QueryEscape(value) + "&", "?p=[redacted: the password of Files]&"},
		{"in a path", "/" + url.PathEscape(value) + "/", "/[redacted: the password of Files]/"},
		{"in lower case", "?p=" + strings.ToLower(url.QueryEscape(value)), "?p=[redacted: the password of Files]"},
		{"as JSON", `{"p":"pa55 \"w\u0026rd/+é"}`, `{"p":"[redacted: the password of Files]"}`},
		{"twice", value + value, "[redacted: the password of Files][redacted: the password of Files]"},
		{"two", value + " another-value", "[redacted: the password of Files] [redacted: another]"},
		{"too short", "short12", "short12"},
		{"a part", value[:len(value)-1], value[:len(value)-1]},
	}
	s := secret.New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := secret.Redact(tt.text, s.Scan(tt.text, known)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		for _, before := range []string{"", "a", "me:", "user:", "somebody:"} {
			for _, after := range []string{"", "x", "xy", "xyz"} {
				text := "Basic " + encoding.EncodeToString([]byte(before+value+after))
				if findings := s.Scan(text, known); len(findings) != 1 || findings[0].Rule != secret.RuleKnown {
					t.Errorf("%q of %q and %q has %+v", text, before, after, findings)
				}
			}
		}
	}
}

func TestOneFindingInOnePlace(t *testing.T) {
	s := secret.New()
	token := "ghp_" + chars(36)
	got := s.Scan("https://me:"+token+"@example.org", nil)
	if diff := cmp.Diff([]secret.Finding{{"github-pat", "a GitHub token", 11, 51}}, got); diff != "" {
		t.Errorf("the specific one names it (-want +got):\n%s", diff)
	}
	got = s.Scan(token, []secret.Known{{token[10:30], "mine"}})
	if diff := cmp.Diff([]secret.Finding{{secret.RuleKnown, "mine", 0, 40}}, got); diff != "" {
		t.Errorf("the held one names it, and nothing of the token is left (-want +got):\n%s", diff)
	}
}

func TestNothingIsLeftOfTwoThatOverlap(t *testing.T) {
	token := "ghp_" + chars(36)
	text := "a " + token + "-and-more b"
	known := []secret.Known{{token[30:] + "-and-more", "mine"}, {"more b", "too short"}, {token[35:] + "-and", "another"}}
	if got, want := secret.Redact(text, secret.New().Scan(text, known)), "a [redacted: mine] b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheRestOfATextWithManySecrets(t *testing.T) {
	s := secret.New()
	token := "ghp_" + chars(36)
	text := strings.Repeat(token+" ", 3*secret.MostFindings)
	findings := s.Scan(text, nil)
	last := findings[len(findings)-1]
	if len(findings) != secret.MostFindings || last.Rule != secret.RuleRest || last.End != len(text) {
		t.Errorf("%d findings, and the last is %+v", len(findings), last)
	}
	if strings.Contains(secret.Redact(text, findings), token) {
		t.Error("a token is left in the redacted text")
	}
}

func TestAKeyWithoutItsEnd(t *testing.T) {
	key := pem("RSA PRIVATE KEY", "\n")
	text := key[:len(key)-60] + "\n"
	findings := secret.New().Scan(text, nil)
	if len(findings) != 1 || findings[0].Rule != "private-key" || findings[0].End < len(text)-1 {
		t.Errorf("of %d bytes, found %+v", len(text), findings)
	}
}

func TestOtherValuesAreLookedForNext(t *testing.T) {
	s := secret.New()
	const first, second = "the first value that is known", "the second value that is known"
	text := first + ", " + second
	known := []secret.Known{{Value: first, Description: "one"}}
	for _, want := range []string{"one", "one", "two", "", "two"} {
		switch want {
		case "two":
			known[0] = secret.Known{Value: second, Description: "two"} // in the caller's own memory
		case "":
			known = nil
		}
		var got strings.Builder
		for _, f := range s.Scan(text, known) {
			got.WriteString(f.Description)
		}
		if got.String() != want {
			t.Errorf("found %q, want %q", got.String(), want)
		}
		if known == nil {
			known = make([]secret.Known, 1)
		}
	}
}

// A masker removes all of many secrets, and nothing else.
func TestAMaskerMasksEverySecret(t *testing.T) {
	masker := secret.NewMasker()
	masker.SetKnown(func() []secret.Known { return []secret.Known{{Value: "hunter2-hunter2"}} })
	const many = 3*secret.MostFindings + 7
	text := strings.Repeat("a hunter2-hunter2 b\n", many)
	if got, want := masker.Mask(text), strings.Repeat("a *** b\n", many); got != want {
		t.Errorf("Mask leaves %d of %d", strings.Count(got, "hunter2"), many)
	}
	var none *secret.Masker
	if none.SetKnown(nil); none.Mask(text) != text {
		t.Error("no masker masks")
	}
}
