package secret_test

import (
	"strings"
	"testing"

	"assent/sidecar/base/secret"
)

// A value of a configuration, and the secret in it: "" for a plain value. The name is that of a variable or a header.
var values = []struct{ name, value, want string }{
	{"GITHUB_TOKEN", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789abcdefghijABCDEFGHIJ012345"},
	{"TOK", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789abcdefghijABCDEFGHIJ012345"},
	{"ANTHROPIC", "sk-ant-api03-Zx81kQ", "sk-ant-api03-Zx81kQ"},
	{"PGPASSWORD", "pw19XYZ-4711", "pw19XYZ-4711"},
	{"MYSQL_PWD", "a", "a"},
	{"DBPASS", "hunter-two", "hunter-two"},
	{"SLACKAPITOKEN", "whatever", "whatever"},
	{"apiKey", "k-12", "k-12"},
	{"Authorization", "Bearer abcdefghijkl", "abcdefghijkl"},
	{"X-Custom", "Bearer abcdefghijkl", "abcdefghijkl"},
	{"X-Custom", "Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="},
	{"Cookie", "sid=0123", "sid=0123"},
	{"DATABASE_URL", "postgres://u:pw@h/db", "pw"},
	{"REDIS", "redis://:p%40ss@h:6379/0", "p%40ss"},
	{"REPO", "https://4f9a8b7c6d5e4f3a@example.org/x.git", "4f9a8b7c6d5e4f3a"},
	{"CONNECTION_STRING", "Server=h;User Id=sa;Password=p,w!;Encrypt=true", "p,w!"},
	{"AZURE", "AccountName=a;AccountKey=Ab0c==;EndpointSuffix=x", "Ab0c=="},
	{"JDBC", "jdbc:mysql://h/db?password=pw03&x=1", "pw03"},
	{"JDBC", "jdbc:postgresql://h/db?user=u&password=pw03", "pw03"},
	{"PG", "host=h user=u password='p w'", "p w"},
	{"HEADERS", `{"Authorization":"Bearer tok_4f9a8b7c"}`, "tok_4f9a8b7c"},
	{"CONFIG", `{\"api_key\": \"abcd1234\", \"n\": 1}`, "abcd1234"},
	{"CONFIG", `{"pin": 1, "token": 4711000}`, "4711000"},
	{"", "--api-key=abcd1234", "abcd1234"},
	{"", "--db=postgres://u:pw01XYZabc@h/db", "pw01XYZabc"},
	{"", "Authorization:Bearer pw03XYZabcdefgh", "pw03XYZabcdefgh"},
	{"", "X-API-Key:pw03XYZabcdefgh", "pw03XYZabcdefgh"},
	{"", "API_TOKEN=x9y8z7", "x9y8z7"},
	{"", "/token:x9y8z7", "x9y8z7"},
	{"", "https://example.org/mcp?api_key=abcdef0123456789abcd", "abcdef0123456789abcd"},
	{"", "https://example.org/mcp?a=b&token=t0ken-1&c=d", "t0ken-1"},
	{"KEY", "-----BEGIN PRIVATE KEY-----\nMIIB", "-----BEGIN PRIVATE KEY-----\nMIIB"},
	{"DB_CREDS", "me-and-it", "me-and-it"},
	{"API_KEYS", "k-12,k-13", "k-12,k-13"},
	{"PASSWORD", "1.2.3", "1.2.3"},
	{"PASSWORD", "/4f9a/8b7c", "/4f9a/8b7c"},
	{"KENNWORT", "geheim", "geheim"},
	{"x-session", "pw05XYZabc", "pw05XYZabc"},
	{"Cookies", "a=b; session=pw05XYZabc", "a=b; session=pw05XYZabc"},
	{"MY", "4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c", "4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"},
	{"MY", "qT7zK2mX9rB4vN8cL1pW6sD3", "qT7zK2mX9rB4vN8cL1pW6sD3"},
	{"MY", "dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="},
	{"MYSQL", "me:pw05XYZabc@tcp(127.0.0.1:3306)/db", "pw05XYZabc"},
	{"PG", "me:pw05@h:5432/db", "pw05"},
	{"ORACLE", "jdbc:oracle:thin:me/pw05@//h:1521/x", "pw05"},
	{"REPO", "https://4f9a8b7c6d5e4f3a:x-oauth-basic@example.org/x.git", "4f9a8b7c6d5e4f3a | x-oauth-basic"},
	{"CONFIG", `{"password": "correct horse", "n": 1}`, "correct horse"},
	{"CONFIG", `[{"name":"X-Api-Key","value":"pw05XYZabc"}]`, "pw05XYZabc"},
	{"ARGS", "run --token abcd --verbose", "abcd"},
	{"", "curl -u me:pw12 https://example.org", "me:pw12"},
	{"", "Authorization: ApiKey pw05XYZabc", "pw05XYZabc"},
	{"", "https://example.org/s/4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c/mcp", "4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"},
	{"", "https://example.org/token/pw05XYZabc", "pw05XYZabc"},
	{"", "https://example.org/mcp?sig=pw05XYZabc&x=y", "pw05XYZabc"},
	{"", "https://example.org/mcp?c=%7B%22apiKey%22%3A%22abcd%22%7D", "c=%7B%22apiKey%22%3A%22abcd%22%7D"},
	{"KEY", "-----BEGIN RSA PRIVATE KEY-----\nMII", "-----BEGIN RSA PRIVATE KEY-----\nMII"},
	{"BOT", "1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX", "1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX"},
	{"", "https://api.telegram.org/bot1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX/x", "1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX"},
	{"MNEMONIC", "legal winner thank year wave sausage worth useful legal winner thank yellow", "legal winner thank year wave sausage worth useful legal winner thank yellow"},
	{"RECOVERY_PHRASE", "legal winner thank year wave sausage worth useful legal winner thank yellow", "legal winner thank year wave sausage worth useful legal winner thank yellow"},
	{"MOT_DE_PASSE", "bonjour", "bonjour"},
	{"CLAVE", "geheim", "geheim"},
	{"TOK", "${MY_TOKEN:-ghp_0123456789abcdefghijABCDEFGHIJ012345}", "${MY_TOKEN:-ghp_0123456789abcdefghijABCDEFGHIJ012345}"},
	{"A", "x ${env:MY_TOKEN:-pw05XYZabc} y", "${env:MY_TOKEN:-pw05XYZabc}"},
	{"API_KEY", "${A:-pw05XYZabc}", "${A:-pw05XYZabc}"},
	{"Authorization", "Bearer ${env:A:-pw05XYZabc}", "${env:A:-pw05XYZabc}"},
	{"CONFIG", `${A:-{"token":"x9y8z7"}}`, `${A:-{"token":"x9y8z7"}}`},
	{"DB", "${A:-${B:-ghp_0123456789abcdefghijABCDEFGHIJ012345}}", "${A:-${B:-ghp_0123456789abcdefghijABCDEFGHIJ012345}}"},
	{"", "--token=${A:-x9y8z7} --host=${H:-h}", "${A:-x9y8z7}"},
	{"", "postgres://u:${env:P:-pw01XYZabc}@${H:-h}/db", "${env:P:-pw01XYZabc}"},

	{"GITHUB_TOKEN", "${env:GITHUB_TOKEN}", ""},
	{"SORT_KEY", "created", ""},
	{"cache-key", "build", ""},
	{"PARTITION_KEY", "userId", ""},
	{"CREDENTIAL_HELPER", "osxkeychain", ""},
	{"SEARCH_PHRASE", "legal winner thank year", ""},
	{"TIMES", "2026-11-28 10:30", ""},
	{"Authorization", "Bearer ${input:token}", ""},
	{"Authorization", "Bearer ${env:T:-${T}}", ""},
	{"TOKEN", "${env:TOKEN:-$TOKEN}", ""},
	{"REGION", "${REGION:-eu}", ""},
	{"API_KEY", "${API_KEY:-}", ""},
	{"DATABASE_URL", "postgres://u:${env:PW}@h/db", ""},
	{"DATABASE_URL", "postgres://localhost:5432/db", ""},
	{"", "--token=${env:T} --host=h", ""},
	{"API_KEY", "<your key>", ""},
	{"API_KEY", "YOUR_API_KEY", ""},
	{"TOKEN_FILE", "/run/secrets/token1", ""},
	{"SSH_KEY", "/home/me/.ssh/id_ed25519", ""},
	{"SSH_KEY", `C:\Users\me\key.pem`, ""},
	{"AUTH_URL", "https://login.example.org/oauth", ""},
	{"AUTH", "oauth2", ""},
	{"API_KEY_REQUIRED", "strict", ""},
	{"MAX_TOKENS", "4096", ""},
	{"TOKEN_LIMIT", "4096", ""},
	{"FASTMCP_LOG_LEVEL", "ERROR", ""},
	{"MODEL", "claude-3-5-sonnet-20241022", ""},
	{"SESSION", "123e4567-e89b-12d3-a456-426614174000", ""},
	{"PROJECT_ID", "4f9a8b7c6d5e4f3a2b1c", ""},
	{"npm_config_cache", "npm_config_cache_folder", ""},
	{"", "-y", ""},
	{"", "@modelcontextprotocol/server-github", ""},
	{"", "@scope/sk-learn-server-tools", ""},
	{"", "mcp-remote@0.1.29", ""},
	{"", "https://registry.example.org:443/@scope/pkg", ""},
	{"", "https://example.org/mcp?region=eu&version=2", ""},
	{"", "ghcr.io/acme/auth:1.2.3", ""},
	{"", "acme/token:main", ""},
	{"", "--auth=none", ""},
	{"", "--log-level=debug", ""},
	{"", "/home/me/Documents", ""},
	{"", "Use the token bucket: it is basic arithmetic", ""},
	{"", "1.2.3", ""},
	{"", "https://github.com/acme/servers2024/tree/main", ""},
	{"", "https://example.org/v1/organizations/mcp", ""},
	{"", "https://example.org/mcp?path=a%20b&session=main", ""},
	{"", "git+https://github.com/acme/mcp@4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a", ""},
	{"", "img@sha256:4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a", ""},
	{"", "npm:left-pad@1.3.0", ""},
	{"", "node --max-old-space-size=4096 x.js", ""},
	{"COMMIT_SHA", "4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a", ""},
	{"MODEL", "MyDatabaseName2024Production", ""},
	{"OUTPUT_TOKENS", "65536", ""},
	{"HASH", "sha512", ""},
	{"LICENSE", "Apache-2.0", ""},
	{"CODE", "dXNlcmlkbmFtZQ==", ""},
}

// unrecognised are secrets, each with the plain setting that their finding would mask too.
var unrecognised = []struct{ name, value, plainName, plain string }{
	{"MY_VALUE", "hunter2", "MY_VALUE", "python3"},
	{"OPENAI", "abcd1234", "MODEL", "gpt4o2024"},
	{"PERPLEXITY", "hunter2hunter2", "REGION", "eastus2"},
	{"GITHUB", "abcdef0123456789", "COMMIT", "abcdef0123456789"},
	{"ACCOUNT", "me:hunter2", "IMAGE", "alpine:latest1"},
	{"X-User", "me:hunter2", "X-User", "tenant:team2"},
	{"LOGIN", "me/hunter2", "REPO", "acme/widgets2"},
	{"DB", "u:p@h", "PACKAGE", "npm:react@next"},
	{"URL", "https://abcd1234@example.org/mcp", "REPO", "https://acme2024@dev.example.org/x"},
	{"URL", "https://example.org/mcp/abcd1234", "URL", "https://example.org/mcp/tenant42"},
	{"URL", "https://example.org/mcp/9f8a7b6c", "URL", "https://example.org/tree/9f8a7b6c"},
	{"WEBHOOK", "https://hooks.example.org/T000/B000/abcdefgh", "WEBHOOK", "https://hooks.example.org/v1/events/incoming"},
	{"SENTRY", "https://abc@o1.ingest.example.org/2", "GIT", "https://git@example.org/2"},
	{"PROJECT_ID", "4f9a8b7c6d5e4f3a2b1c", "PROJECT_ID", "4f9a8b7c6d5e4f3a2b1d"},
	{"CLIENT_ID", "qT7zK2mX9rB4vN8cL1pW6sD3", "CLIENT_ID", "qT7zK2mX9rB4vN8cL1pW6sD4"},
	{"SESSION", "hunter", "SESSION", "main"},
	{"OTP", "123456", "PORT_CODE", "123456"},
	{"PIN", "4711", "PIN", "4712"},
	{"TOKEN", "abc", "TOKEN", "abd"},
	{"SECRET", "/hunter/2", "SECRET", "/run/secrets"},
	{"TOKEN", "https://example.org/hunter2", "TOKEN", "https://login.example.org/token"},
	{"TOKEN", "1.2.3", "TOKEN", "2.0.0"},
	{"DATA", "aHVudGVyMg==", "DATA", "aGVsbG8gYWxs"},
	{"DATA", "68756e74657232", "DATA", "20261128103000"},
	{"JSON", `{"k": "hunter2"}`, "JSON", `{"k": "python3"}`},
	{"", "mysql -uroot -phunter2", "", "cp -rv -project2"},
	{"", "login me hunter2", "", "search me python3"},
}

// TestSecretsThatAreNotRecognised: who makes one of these a secret has to see what becomes one as well.
func TestSecretsThatAreNotRecognised(t *testing.T) {
	s := secret.New()
	for _, tt := range unrecognised {
		if found, plain := s.InValue(tt.name, tt.value), s.InValue(tt.plainName, tt.plain); len(found) > 0 || len(plain) > 0 {
			t.Errorf("%s=%s is found as %v, and the plain %s=%s as %v", tt.name, tt.value, found, tt.plainName, tt.plain, plain)
		}
	}
}

func TestNamesThatAreSecrets(t *testing.T) {
	for name, want := range map[string]string{
		"API_KEY": "API_KEY", "GOOGLE_OAUTH2_CLIENT_SECRET": "GOOGLE_OAUTH2_CLIENT_SECRET", "oauth2ClientId": "oauth2ClientId", "X-Api-Key": "X-Api-Key",
		"sk-ant-api03-Zx81kQ": "…", "ghp_0123456789abcdefghijABCDEFGHIJ012345": "…", "qT7zK2mX9rB4vN8cL1pW6sD3": "…", "TOKEN=pw7XYZq-4711": "…",
	} {
		if got := secret.Shown(name); got != want {
			t.Errorf("%s is shown as %s, want %s", name, got, want)
		}
	}
}

func TestSecretsInValues(t *testing.T) {
	s := secret.New()
	for _, tt := range values {
		t.Run(tt.name+" "+tt.value, func(t *testing.T) {
			var got []string
			for _, f := range s.InValue(tt.name, tt.value) {
				got = append(got, tt.value[f.Start:f.End])
			}
			if strings.Join(got, " | ") != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSecretsInArguments(t *testing.T) {
	s := secret.New()
	for _, tt := range []struct {
		args string
		want string
	}{
		{"--token abcd", "abcd"},
		{"--api-key abcd --verbose", "abcd"},
		{"-t tok_4f9a8b7c6d5e", "tok_4f9a8b7c6d5e"},
		{"-k 4f9a8b7c6d5e4f3a", "4f9a8b7c6d5e4f3a"},
		{"-u me:pw12", "me:pw12"},
		{"--user me:pw12", "me:pw12"},
		{"-H X-API-Key:abcd1234", "abcd1234"},
		{"-e TOKEN=abcd1234 image:1.0", "abcd1234"},
		{"--password p", "p"},
		{"-t pw05XYZabc", "pw05XYZabc"},
		{"-ppw05XYZabc", "pw05XYZabc"},
		{"--token -pw05XYZabc", "-pw05XYZabc"},
		{"--signature pw05XYZabc", "pw05XYZabc"},
		{"--login me:pw12", "me:pw12"},

		{"--token ${A:-abcd}", "${A:-abcd}"},

		{"--token ${env:T}", ""},
		{"--token ${env:T:-$T}", ""},
		{"--token --verbose", ""},
		{"--token-file /x/y", ""},
		{"-e TOKEN image:1.0", ""},
		{"-t stdio", ""},
		{"-t streamable-http", ""},
		{"-p 8080:8080", ""},
		{"-p some-package-2", ""},
		{"-p typescript@5.4.2", ""},
		{"-u https://example.org", ""},
		{"--user me", ""},
		{"-p project2024", ""},
		{"-pipeline", ""},
		{"--session main", ""},
		{"--password --verbose", ""},
		{"-y @upstash/context7-mcp --transport stdio", ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields(tt.args)
			var got []string
			for i, findings := range s.InArgs(args) {
				for _, f := range findings {
					got = append(got, args[i][f.Start:f.End])
				}
			}
			if strings.Join(got, " | ") != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}
