package workspace_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"assent/sidecar/workspace/rpc/rpctest"
)

// Sidecars with one data folder share one lock for each login; package auth tests its effect.
func TestALoginIsLockedInTheDataFolder(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer refuses.Close()
	dir := t.TempDir()
	f := newFrontEndOn(t, dir)
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"a test","version":"1"},"capabilities":{"secrets":true,"openUrl":true},"configuration":{"servers":{"demo":{"url":%q}},"model":{}}}}`, refuses.URL))
	f.next()
	f.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"serverName":"demo"}}`)
	f.await(1, func(_ string, m rpctest.Message) {
		if m.Method == "secret/get" {
			f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"value":null}}`, *m.ID))
		}
	})
	f.close()
	if locks, err := filepath.Glob(filepath.Join(dir, "logins", "*.lock")); err != nil || len(locks) != 1 {
		t.Errorf("locks %v, %v; want one", locks, err)
	}
}
