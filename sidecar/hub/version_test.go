package hub_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
	"assent/sidecar/wire/wiretest"
)

// Who says in mcp.json that a server is to be spoken to in an older version has it initialized at
// once: it would accept the newer one, in which its own tools cannot ask.
func TestAServerOfAConfiguredVersionIsNotProbed(t *testing.T) {
	const refused = `"error":{"code":-32601,"message":"Method not found"}`
	transcript := strings.Replace(handshake("s"), refused, `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`, 1) +
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"one","inputSchema":{"type":"object"}}]}}
`
	for _, way := range legacyWays {
		t.Run(string(way), func(t *testing.T) {
			s := server("s")
			if way == protocol.TransportStdio {
				wiretest.Write(t, transcript)
			} else {
				s = config.Server{Name: "s", Source: "test", Transport: way, URL: wiretest.Serve(t, string(way), transcript, "s")}
			}
			s.ProtocolVersion = config.LegacyProtocol
			f := newFixtureWith(t, s)
			if tools, err := f.Tools(t.Context(), "s"); err != nil || len(tools) != 1 {
				t.Fatalf("tools = %v, %v", tools, err)
			}
			if got := f.state(t, "s").ProtocolVersion; got != config.LegacyProtocol {
				t.Errorf("the version spoken is %q", got)
			}
		})
	}
}

// countProbes returns a tap that counts the server/discover requests.
func countProbes(n *atomic.Int32) func(string, bool, []byte) {
	return func(_ string, fromServer bool, frame []byte) {
		if !fromServer && bytes.Contains(frame, []byte(`"method":"server/discover"`)) {
			n.Add(1)
		}
	}
}

// memory remembers facts about servers.
type memory map[string]session.Learned

func (m memory) Recall(key string) session.Learned  { return m[key] }
func (m memory) Keep(key string, l session.Learned) { m[key] = l }

func TestTheEraIsRememberedOverRestarts(t *testing.T) {
	const tools = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
`
	probed := handshake("s") + tools
	_, afterProbe, _ := strings.Cut(probed, "Method not found\"}}\n")
	modern := discovery("s", `{"tools":{}}`) + `{"jsonrpc":"2.0","id":"$ID","method":"tools/list","params":{"_meta":{` + modernMeta + `}}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"resultType":"complete","tools":[]}}
`
	const refusal = `
-- client? s --
{"jsonrpc":"2.0","id":"$ID","method":"initialize","params":"$PARAMS"}
-- server? s --
{"jsonrpc":"2.0","id":"$ID","error":{"code":-32601,"message":"Method not found"}}
`
	remembered := memory{}
	for _, tt := range []struct {
		name, transcript, version string
		probes                    int32
	}{
		{"probed", probed, "2025-11-25", 1},
		{"not probed again", afterProbe, "2025-11-25", 0},
		{"changed", refusal + modern, "2026-07-28", 1}, // each start is a process of its own
		{"remembered anew", modern, "2026-07-28", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wiretest.Write(t, tt.transcript)
			var probes atomic.Int32
			f := newFixtureOf(t, func(o *hub.Options) { o.Memory, o.Tap = remembered, countProbes(&probes) }, server("s"))
			if _, err := f.Tools(t.Context(), "s"); err != nil {
				t.Errorf("%v\n%s", err, strings.Join(f.state(t, "s").Stderr, "\n"))
			}
			if got := f.state(t, "s").ProtocolVersion; got != tt.version {
				t.Errorf("the version spoken is %q, want %q", got, tt.version)
			}
			if got := probes.Load(); got != tt.probes {
				t.Errorf("server/discover was sent %d times, want %d", got, tt.probes)
			}
		})
	}
}
