package test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTheFlagsOfAServerByItsURL looks at the first request to a server, which answers none.
func TestTheFlagsOfAServerByItsURL(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	tests := []struct {
		name   string
		flags  []string
		method string
	}{
		{"Streamable HTTP", nil, http.MethodPost},
		{"SSE", []string{"--transport", "sse"}, http.MethodGet},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := make(chan *http.Request, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case first <- r:
				default:
				}
				http.Error(w, "no", http.StatusNotImplemented)
			}))
			defer server.Close()
			args := append([]string{"tools", server.URL + "/mcp", "--header", "X-Key: ${env:FLAG_KEY}", "--header", "X-Plain:a: b"}, tt.flags...)
			tools := h.command(args...)
			tools.Dir = t.TempDir()
			tools.Env = append(tools.Env, "FLAG_KEY=from the environment")
			out, err := tools.CombinedOutput()
			if err == nil {
				t.Errorf("the command succeeded: %s", out)
			}
			if !strings.Contains(string(out), "--header 'X-Key: …'") {
				t.Errorf("the command line of the doctor has no header: %s", out)
			}
			r := <-first
			if r.Method != tt.method || r.Header.Get("X-Key") != "from the environment" || r.Header.Get("X-Plain") != "a: b" {
				t.Errorf("the first request is %s with %v", r.Method, r.Header)
			}
		})
	}
}
