package hub_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
)

// signalling is a memory that says when something is kept.
type signalling struct {
	mu   sync.Mutex
	kept memory
	news chan session.Learned
}

func (s *signalling) Recall(key string) session.Learned {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.Recall(key)
}

func (s *signalling) Keep(key string, l session.Learned) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Keep(key, l)
	s.news <- l
}

// habit returns the habit of the one server.
func (s *signalling) habit() session.RootsHabit {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.kept {
		return l.Roots
	}
	return session.RootsUnknown
}

func newSignalling() *signalling {
	return &signalling{kept: memory{}, news: make(chan session.Learned, 100)}
}

var (
	asksForRoots = serverSays(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
	getsRoots    = clientSays(`{"jsonrpc":"2.0","id":5,"result":{"roots":[{"uri":"file:///work","name":"work"}]}}`)
	// The server asks once it has read notifications/initialized, and answers the ping after that.
	asksBeforePing = clientSays(`{"jsonrpc":"2.0","id":"$INITIALIZED","method":"ping"}`) + asksForRoots +
		serverSays(`{"jsonrpc":"2.0","id":"$INITIALIZED","result":{}}`)
	pinged = clientSays(`{"jsonrpc":"2.0","id":"$PING","method":"ping"}`) + serverSays(`{"jsonrpc":"2.0","id":"$PING","result":{}}`)
	// The server has the time of a few pings to look at the folders.
	settled = strings.Repeat(pinged, 10)
	called  = clientSays(`{"jsonrpc":"2.0","id":"$ID","method":"tools/call","params":{"name":"tool","arguments":{}}}`) +
		serverSays(`{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"done"}]}}`)
)

// handshakeWithRoots is a handshake that declares roots.
func handshakeWithRoots(name string) string {
	return strings.Replace(handshake(name), `"sampling":{"context":{}},"tasks"`, `"roots":{"listChanged":true},"sampling":{"context":{}},"tasks"`, 1)
}

// newRootsFixture returns a hub with one folder.
func newRootsFixture(t *testing.T, memory session.Memory, timeout time.Duration, s config.Server) *fixture {
	t.Helper()
	f := newFixtureOf(t, func(o *hub.Options) { o.Memory, o.RootsTimeout = memory, timeout }, s)
	f.SetFolders([]protocol.WorkspaceFolder{{Name: "work", Path: "/work"}})
	return f
}

// The server plays its part in order: a call before the roots ends it.
func TestTheFirstCallWaitsForTheRoots(t *testing.T) {
	for _, way := range legacyWays {
		t.Run(string(way), func(t *testing.T) {
			remembered := newSignalling()
			f := newRootsFixture(t, remembered, time.Minute, over(t, way, handshakeWithRoots("s")+asksBeforePing+getsRoots+settled+called+called))
			for range 2 { // and the second call does not
				if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
					t.Fatalf("result (-want +got):\n%s", diff)
				}
			}
			if got := remembered.habit(); got != session.RootsAsked {
				t.Errorf("remembered %q, want %q", got, session.RootsAsked)
			}
		})
	}
}

func TestAServerThatDoesNotAskForRootsIsWaitedForOnce(t *testing.T) {
	remembered := newSignalling()
	for _, tt := range []struct {
		name       string
		timeout    time.Duration
		transcript string
	}{
		{"the first time", time.Millisecond, pinged + called},
		{"from then on", time.Hour, called},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newRootsFixture(t, remembered, tt.timeout, over(t, protocol.TransportStdio, handshakeWithRoots("s")+tt.transcript))
			if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if got := remembered.habit(); got != session.RootsIgnored {
				t.Errorf("remembered %q, want %q", got, session.RootsIgnored)
			}
		})
	}
}

// A newer version of a server can begin to ask.
func TestAServerThatBeginsToAskForRootsIsWaitedForAgain(t *testing.T) {
	transcript := handshakeWithRoots("s") +
		`{"jsonrpc":"2.0","id":"$LIST","method":"tools/list","params":{}}` + "\n" +
		serverSays(`{"jsonrpc":"2.0","id":"$LIST","result":{"tools":[]}}`) + asksForRoots + getsRoots + settled + called
	remembered := newSignalling()
	before := newRootsFixture(t, remembered, time.Millisecond, over(t, protocol.TransportStdio, handshakeWithRoots("s")+pinged+called))
	<-before.call(t.Context(), "t1", "s", "tool")
	if got := remembered.habit(); got != session.RootsIgnored {
		t.Fatalf("remembered %q, want %q", got, session.RootsIgnored)
	}
	f := newRootsFixture(t, remembered, time.Minute, over(t, protocol.TransportStdio, transcript))
	if _, err := f.Tools(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	for l := range remembered.news {
		if l.Roots == session.RootsAsked {
			break
		}
	}
	if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestWithoutRootsNoCallWaits(t *testing.T) {
	f := newFixtureOf(t, func(o *hub.Options) { o.RootsTimeout = time.Hour }, over(t, protocol.TransportStdio, handshake("s")+called))
	if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// A cancelled call does not wait, and says nothing about its server.
func TestACallThatWaitsForRootsCanBeCancelled(t *testing.T) {
	remembered := newSignalling()
	f := newRootsFixture(t, remembered, time.Hour, over(t, protocol.TransportStdio, handshakeWithRoots("s")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	end := f.call(ctx, "t1", "s", "tool")
	<-remembered.news // of the handshake
	cancel()
	if diff := cmp.Diff(protocol.CallResult(protocol.CallCancelled{}), <-end); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if got := remembered.habit(); got != session.RootsUnknown {
		t.Errorf("remembered %q", got)
	}
}
