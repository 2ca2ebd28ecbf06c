package browser_test

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rs/zerolog"

	"assent/sidecar/browser"
)

func TestThePageFetchesImportsTogetherWithTheirScript(t *testing.T) {
	server := browser.New(browser.Options{
		Panel: fstest.MapFS{
			"main.js.gz":  {},
			"imports.txt": {Data: []byte("chunk-A.js\nchunk-B.js\n")},
		},
		Log: zerolog.Nop(),
	})
	t.Cleanup(server.Close)
	_, response := getPage(t, server, browser.Target{})
	page, err := io.ReadAll(response.Body)
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := `<link rel="modulepreload" href="chunk-A.js">
<link rel="modulepreload" href="chunk-B.js">
</head>`
	if !strings.Contains(string(page), want) {
		t.Errorf("the page is\n%s", page)
	}
	nonce := regexp.MustCompile(`<script type="application/json" nonce="(\w+)">`).FindSubmatch(page)
	policy := response.Header.Get("Content-Security-Policy")
	if nonce == nil || !strings.Contains(policy, fmt.Sprintf("script-src 'self' 'nonce-%s';", nonce[1])) {
		t.Errorf("the policy is %s of the page\n%s", policy, page)
	}
}
