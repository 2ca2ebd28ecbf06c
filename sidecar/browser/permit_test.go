package browser_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"assent/sidecar/browser"
)

// TestABrowserThatIsForbiddenGetsNoPage, also by an address from before.
func TestABrowserThatIsForbiddenGetsNoPage(t *testing.T) {
	var why error
	server := browser.New(browser.Options{Permit: func() error { return why }, Log: zerolog.Nop()})
	t.Cleanup(server.Close)
	before, err := server.Open(browser.Target{})
	if err != nil {
		t.Fatal(err)
	}
	why = errors.New("Blocked by your organisation: a file")
	if _, err := server.Open(browser.Target{}); err == nil || !strings.Contains(err.Error(), why.Error()) {
		t.Errorf("a page was opened: %v", err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, before, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusForbidden {
		t.Errorf("the address from before: %s, %v", response.Status, err)
	}
}
