package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/wire"
)

const (
	probe      = `{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"modern":{}}}}}`
	initialize = `{"jsonrpc":"2.0","id":1000000002,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"legacy":{}},"clientInfo":{"name":"c","version":"1"}}}`
	discovered = `{"jsonrpc":"2.0","id":1000000001,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`
)

func initializedAt(version string) string {
	return `{"jsonrpc":"2.0","id":1000000002,"result":{"protocolVersion":"` + version + `","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
}

var who = wire.Introduction{Name: "c", Version: "1", Modern: json.RawMessage(`{"modern":{}}`), Legacy: json.RawMessage(`{"legacy":{}}`)}

func TestTheEraIsFoundOut(t *testing.T) {
	tests := []struct {
		name   string
		known  wire.Era
		server func(p *peer)
		era    wire.Era
		// version is the negotiated version, err a part of the error.
		version, err string
		took         time.Duration
		alsoModern   bool
	}{
		{
			name: "a modern server",
			server: func(p *peer) {
				p.want(probe)
				p.send(discovered)
			},
			era: wire.EraModern, version: "2026-07-28",
		},
		{
			name: "a legacy server that knows no such method",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32601,"message":"?"}}`)
				p.want(initialize)
				p.send(initializedAt("2024-11-05"))
			},
			era: wire.EraLegacy, version: "2024-11-05",
		},
		{
			name: "a legacy server that is silent until it is initialized",
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(initializedAt("2025-06-18"))
			},
			era: wire.EraLegacy, version: "2025-06-18", took: wire.ProbeTimeout + wire.ProbeGrace,
		},
		{
			name: "a modern server that is slow and refuses initialize",
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(`{"jsonrpc":"2.0","id":1000000002,"error":{"code":-32601,"message":"?"}}`)
				time.Sleep(10 * time.Second) // of the bubble's clock: a download
				p.send(discovered)
			},
			era: wire.EraModern, version: "2026-07-28", took: wire.ProbeTimeout + 10*time.Second,
		},
		{
			name: "a server of both eras that starts slowly and answers both, the last first",
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(initializedAt("2025-11-25"))
				time.Sleep(wire.ProbeGrace / 2) // of the bubble's clock
				p.send(discovered)
				p.want(strings.Replace(probe, "1000000001", "1000000003", 1))
				p.send(strings.Replace(discovered, "1000000001", "1000000003", 1))
			},
			era: wire.EraModern, version: "2026-07-28", took: wire.ProbeTimeout + wire.ProbeGrace/2,
		},
		{
			name: "a slow server of both eras that initialize makes a legacy one", alsoModern: true,
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(discovered)
				p.want(strings.Replace(probe, "1000000001", "1000000003", 1))
				p.send(initializedAt("2025-11-25"))
				p.send(`{"jsonrpc":"2.0","id":1000000003,"error":{"code":-32601,"message":"?"}}`)
			},
			era: wire.EraLegacy, version: "2025-11-25", took: wire.ProbeTimeout,
		},
		{
			name: "a slow server of both eras that initialize makes a legacy one, which it answers last", alsoModern: true,
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(discovered)
				p.want(strings.Replace(probe, "1000000001", "1000000003", 1))
				p.send(`{"jsonrpc":"2.0","id":1000000003,"error":{"code":-32601,"message":"?"}}`)
				p.send(initializedAt("2025-11-25"))
			},
			era: wire.EraLegacy, version: "2025-11-25", took: wire.ProbeTimeout,
		},
		{
			name: "a slow modern server that refuses initialize after all",
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(discovered)
				p.want(strings.Replace(probe, "1000000001", "1000000003", 1))
				p.send(`{"jsonrpc":"2.0","id":1000000002,"error":{"code":-32601,"message":"?"}}`)
			},
			era: wire.EraModern, version: "2026-07-28", took: wire.ProbeTimeout,
		},
		{
			name: "a slow server of both eras that answers no more",
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(discovered)
				p.want(strings.Replace(probe, "1000000001", "1000000003", 1))
			},
			era: wire.EraModern, version: "2026-07-28", took: 2 * wire.ProbeTimeout,
		},
		{
			name: "a server that was modern and is silent until it is initialized", known: wire.EraModern,
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(initializedAt("2025-11-25"))
			},
			era: wire.EraLegacy, version: "2025-11-25", took: wire.PatientProbeTimeout + wire.ProbeGrace,
		},
		{
			name: "a modern server that also speaks what we do not",
			server: func(p *peer) {
				p.want(probe)
				p.send(strings.Replace(discovered, `["2026-07-28"]`, `["2030-01-01","2026-07-28"]`, 1))
			},
			era: wire.EraModern, version: "2026-07-28",
		},
		{
			name: "a server of both eras that has retired our modern version",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32022,"message":"?","data":{"supported":["2030-01-01","2025-11-25"]}}}`)
				p.want(initialize)
				p.send(initializedAt("2025-11-25"))
			},
			era: wire.EraLegacy, version: "2025-11-25",
		},
		{
			name: "a server of both eras that says so in its discovery",
			server: func(p *peer) {
				p.want(probe)
				p.send(strings.Replace(discovered, `["2026-07-28"]`, `["2030-01-01","2025-11-25"]`, 1))
				p.want(initialize)
				p.send(initializedAt("2025-11-25"))
			},
			era: wire.EraLegacy, version: "2025-11-25",
		},
		{
			name: "a legacy server that gives a result to everything",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":1000000001,"result":{}}`)
				p.want(initialize)
				p.send(initializedAt("2025-11-25"))
			},
			era: wire.EraLegacy, version: "2025-11-25",
		},
		{
			name: "a modern server that refuses the version once",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32022,"message":"?","data":{"supported":["2026-07-28"]}}}`)
				p.want(strings.Replace(probe, "1000000001", "1000000002", 1))
				p.send(strings.Replace(discovered, "1000000001", "1000000002", 1))
			},
			era: wire.EraModern, version: "2026-07-28",
		},
		{
			name: "a server of the future",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32022,"message":"?","data":{"supported":["2030-01-01"]}}}`)
			},
			err: "it speaks MCP 2030-01-01 only",
		},
		{
			name: "a modern server that wants a capability",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32021,"message":"I need sampling"}}`)
			},
			err: "I need sampling",
		},
		{
			name: "a server of another protocol",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32601,"message":"?"}}`)
				p.want(initialize)
				p.send(initializedAt("1999-01-01"))
			},
			err: "it speaks MCP 1999-01-01 only",
		},
		{
			name: "a server that refuses everything",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32601,"message":"?"}}`)
				p.want(initialize)
				p.send(`{"jsonrpc":"2.0","id":1000000002,"error":{"code":-32000,"message":"go away"}}`)
			},
			err: "it refused the handshake: go away (-32000)",
		},
		{
			name: "a server that returns the ids as strings",
			server: func(p *peer) {
				p.want(probe)
				p.send(strings.Replace(discovered, "1000000001", `"1000000001"`, 1))
			},
			era: wire.EraModern, version: "2026-07-28",
		},
		{
			name: "a server that answers without an id, and then rightly",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not yet"}}`)
				p.want(initialize)
				time.Sleep(10 * time.Second) // of the bubble's clock
				p.send(initializedAt("2025-11-25"))
			},
			era: wire.EraLegacy, version: "2025-11-25", took: wire.ProbeTimeout + 10*time.Second + wire.ProbeGrace,
		},
		{
			name: "a server that answers without an id",
			server: func(p *peer) {
				p.want(probe)
				p.want(initialize)
				p.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"` + "no \u202e" + `"}}`)
			},
			err:  `its answer to the handshake cannot be used: it has no id: {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no <U+202E>"}}`,
			took: wire.ProbeTimeout + wire.UnmatchedTimeout,
		},
		{
			name: "a server whose answers are not JSON-RPC 2.0",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"id":1000000001,"result":{},"level":"info"}`)
				p.want(initialize)
				p.send(`{"id":1000000002,"result":{},"level":"info"}`)
			},
			err: `its answer to the handshake cannot be used: it does not say "jsonrpc": "2.0": {"id":1000000002,"result":{},"level":"info"}`,
		},
		{
			name: "a server that does not say which JSON-RPC it speaks",
			server: func(p *peer) {
				p.want(probe)
				p.send(`{"id":1000000001,"error":{"code":-32601,"message":"?"}}`)
				p.want(initialize)
				p.send(strings.Replace(initializedAt("2025-06-18"), `"jsonrpc":"2.0",`, "", 1))
			},
			era: wire.EraLegacy, version: "2025-06-18",
		},
		{
			name:   "a server that is silent for ever",
			server: func(p *peer) { p.want(probe); p.want(initialize) },
			err:    "no timeout", took: time.Minute,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("no timeout"))
				defer cancel()
				c, p := connect(t, wire.Options{})
				began := time.Now()
				go tt.server(p)
				h, err := c.Shake(ctx, who, tt.known)
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				switch {
				case tt.err != "":
					if err == nil || !strings.Contains(err.Error(), tt.err) {
						t.Errorf("Shake = %+v, %v, want %q", h, err, tt.err)
					}
				case err != nil:
					t.Error(err)
				case h.Era != tt.era || h.Version != tt.version:
					t.Errorf("Shake = %s %s, want %s %s", h.Era, h.Version, tt.era, tt.version)
				case h.AlsoModern != tt.alsoModern:
					t.Errorf("it speaks both eras: %t", h.AlsoModern)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestAServerThatDiesOfTheProbeIsToldApart(t *testing.T) {
	c, p := connect(t, wire.Options{})
	go func() {
		p.want(probe)
		if err := p.out.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := c.Shake(t.Context(), who, wire.EraUnknown); !errors.Is(err, wire.ErrProbe) {
		t.Errorf("Shake = %v, want ErrProbe", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}

	c, p = connect(t, wire.Options{})
	go func() {
		p.want(strings.Replace(initialize, "1000000002", "1000000001", 1))
		p.send(strings.Replace(initializedAt("2025-11-25"), "1000000002", "1000000001", 1))
	}()
	if h, err := c.Shake(t.Context(), who, wire.EraLegacy); err != nil || h.Era != wire.EraLegacy {
		t.Errorf("Shake of a server that is known to be legacy = %+v, %v", h, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestGoSDKIsAnsweredFromTheHandshake(t *testing.T) {
	c, p := connect(t, wire.Options{})
	go func() {
		p.want(probe)
		p.send(discovered)
	}()
	h, err := c.Shake(t.Context(), who, wire.EraUnknown)
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(t.Context(), c, &mcp.ClientSessionOptions{ProtocolVersion: h.Version})
	if err != nil {
		t.Fatal(err)
	}
	if session.InitializeResult().Capabilities.Tools == nil {
		t.Error("go-sdk does not know what the server has")
	}
	// The server's next message is a request, with the members of this era, and with members that
	// go-sdk's types do not have.
	go func() {
		p.want(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{},"requestState":"s","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
		p.send(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}`)
	}()
	ctx := wire.WithParams(t.Context(), map[string]json.RawMessage{"requestState": json.RawMessage(`"s"`)})
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "t"}); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_ = session.Wait() // it ends because the pipe was closed
}
