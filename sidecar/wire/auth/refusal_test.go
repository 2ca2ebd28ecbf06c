package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"assent/sidecar/wire/auth"
)

// A person reads what an authorization server says in a refusal, and no secret of the request or of the answer.
func TestTheWordsOfARefusal(t *testing.T) {
	const text, asJSON = "text/plain", "application/json"
	tests := []struct {
		name, path string
		status     int
		kind       string
		// body is the answer's. CODE, VERIFIER, SECRET, ESCAPED and BASIC are what the request had.
		body string
		want string
	}{
		{"a registration, in words", "/register", 403, text, "Dynamic registration\nis closed", "Dynamic registration is closed (status 403)"},
		{"a registration, in a message", "/register", 401, asJSON, `{"message":"Ask your administrator"}`, "Ask your administrator (status 401)"},
		{"a registration, in a list", "/register", 422, asJSON, `{"detail":[{"loc":["body"],"msg":"not permitted","input":{"client_name":"Assent"}}]}`, "not permitted (status 422)"},
		{"a registration, in OAuth's words", "/register", 403, asJSON, `{"error":"access_denied","error_description":"not you"}`, "not you (access_denied)"},
		{"a registration, in a code and a message", "/register", 400, asJSON, `{"error":"Bad Request","message":["not you"]}`, "not you (Bad Request)"},
		{"a registration, on a page", "/register", 502, "text/html", `<html><head><title>x</title></head><body>Bad Gateway</body></html>`, "Bad Gateway (status 502)"},
		{"a registration, in nothing", "/register", 403, text, "", ": status 403)"},
		{"a registration, in hidden characters", "/register", 403, text, "not \u202eyou", "not  you (status 403)"},
		{"a registration, in a secret", "/register", 500, asJSON, `{"client_secret":"s3cret of yours"}`, ": status 500)"},

		{"a token, in words", "/token", 400, text, "redirect_uri mismatch", "redirect_uri mismatch (status 400)"},
		{"a token, in a list", "/token", 401, asJSON, `[{"message":"Bad credentials"}]`, "Bad credentials (status 401)"},
		{"a token, in details", "/token", 422, asJSON, `{"detail":[{"loc":["body","resource"],"msg":"not permitted","input":"CODE"}]}`, "not permitted (status 422)"},
		{"a token, in an error within", "/token", 400, asJSON, `{"error":{"code":7,"message":"not you"}}`, "not you (status 400)"},
		{"a token, in a code and a message", "/token", 401, asJSON, `{"statusCode":401,"message":"not you","error":"Unauthorized"}`, "not you (Unauthorized)"},
		{"a token, in OAuth's code", "/token", 400, asJSON, `{"error":"invalid_grant"}`, "was not accepted: invalid_grant"},
		{"a token, in an odd member", "/token", 400, asJSON, `{"error":"invalid_grant","error_description":"not you","access_token":5}`, "not you (invalid_grant)"},
		{"a token, in what was sent", "/token", 400, text, "CODE with VERIFIER by SECRET or ESCAPED or BASIC is bad", "*** with *** by *** or *** or Basic *** is bad (status 400)"},
		{"a token, in a message of what was sent", "/token", 400, asJSON, `{"message":"CODE of \"SECRET\" is bad"}`, `*** of "***" is bad (status 400)`},
		{"a token, in a description of what was sent", "/token", 400, asJSON, `{"error":"invalid_grant","error_description":"CODE is bad"}`, "*** is bad (invalid_grant)"},
		{"a token, in a short secret", "/token", 400, text, "shh is bad", "was not accepted: status 400"},
		{"a token, in an object of what was sent", "/token", 400, asJSON, `{"code":"CODE"}`, "was not accepted: status 400"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			i := w.issuers[0]
			mine := "s3cret/of=mine"
			if strings.Contains(test.name, "short") {
				mine = "shh"
			}
			i.Clients["mine"] = mine
			own := i.server.Config.Handler
			var sent []string
			i.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path != test.path {
					own.ServeHTTP(rw, r)
					return
				}
				code, verifier := r.PostFormValue("code"), r.PostFormValue("code_verifier")
				basic := strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")
				sent = []string{"s3cret", mine, url.QueryEscape(mine), base64.StdEncoding.EncodeToString([]byte(mine))}
				if code != "" {
					sent = append(sent, code, verifier, basic)
				}
				body := strings.NewReplacer("CODE", code, "VERIFIER", verifier, "SECRET", mine, "ESCAPED", url.QueryEscape(mine), "BASIC", "Basic "+basic).Replace(test.body)
				if test.kind == asJSON && !json.Valid([]byte(body)) {
					t.Errorf("%s is not JSON", body)
				}
				rw.Header().Set("Content-Type", test.kind)
				rw.WriteHeader(test.status)
				fmt.Fprint(rw, body)
			})
			c := w.connect(w.authorizer(), func(s *auth.Server) {
				if test.path == "/token" {
					s.ClientID, s.ClientSecret = "mine", secret(mine)
				}
			})
			got, err := w.post(c, "/mcp")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%q, %v; want %q", got, err, test.want)
			}
			for _, secret := range sent {
				if strings.Contains(err.Error()+w.log.String(), secret) {
					t.Errorf("%q is in: %v\n%s", secret, err, w.log)
				}
			}
		})
	}
}
