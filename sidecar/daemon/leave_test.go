package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestALeavingDaemonEndsWithinItsGrace has something that never ends in each state of a daemon.
func TestALeavingDaemonEndsWithinItsGrace(t *testing.T) {
	const grace = 10 * time.Second
	for _, c := range []struct {
		name   string
		hangs  func(o *ServeOptions, never <-chan struct{})
		attach bool
		want   string
	}{
		{"a client's work", func(o *ServeOptions, never <-chan struct{}) {
			o.Attach = func(context.Context, Hello, net.Conn) error { <-never; return nil }
		}, true, "what process 0 began"},
		{"a server", func(o *ServeOptions, never <-chan struct{}) {
			o.Close = func() { <-never }
			o.WaitsFor = func() string { return `the MCP server "a"` }
		}, false, `the MCP server "a"`},
		{"something unknown", func(o *ServeOptions, never <-chan struct{}) { o.Close = func() { <-never } }, false, "its last work"},
		{"its beginning", func(o *ServeOptions, never <-chan struct{}) { o.Begin = func() { <-never } }, false, "its last work"},
		{"the search for open work", func(o *ServeOptions, never <-chan struct{}) {
			o.IdleTime = time.Millisecond
			o.Busy = func() string { <-never; return "" }
		}, false, "its last work"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				never := make(chan struct{})
				o := ServeOptions{Options: Options{Build: "1.0.0"}, Attach: untilEnd, Grace: grace}
				c.hangs(&o, never)
				s := newServer(o)
				s.admit = func(net.Conn) error { return nil }
				p := newPipes()
				ctx, terminate := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.serve(ctx, p, nil) }()
				if c.attach {
					defer p.attachTo(t).Close()
				}
				time.Sleep(time.Second)
				terminate()
				began := time.Now()
				err := <-ended
				if took := time.Since(began); took != grace {
					t.Errorf("it took %v", took)
				}
				if !errors.Is(err, errStays) {
					t.Errorf("serve = %v", err)
				}
				wantError(t, err, c.want)
				close(never)
			})
		})
	}
}

// TestAClientThatStopsTheDaemonIsToldWhatItWaitsFor changes what the daemon waits for.
func TestAClientThatStopsTheDaemonIsToldWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waitsFor := make(chan string, 10)
		for _, what := range []string{"slow", "slow", "slower"} { // one for each second
			waitsFor <- `the MCP server "` + what + `"`
		}
		p, ended := inMemory(t, ServeOptions{
			WaitsFor: func() string { return <-waitsFor },
			Close:    func() { <-time.After(3500 * time.Millisecond) },
		})
		params, err := json.Marshal(command{Command: commandStop})
		if err != nil {
			t.Fatal(err)
		}
		client := p.dial()
		var w Welcome
		var o outcome
		if err := errors.Join(client.writeLine(Hello{Build: "1.0.0", Client: Control, Params: params}), client.readLine(&w), client.readLine(&o)); err != nil || o.Error != nil {
			t.Fatalf("%+v, %v", o, err)
		}
		for _, want := range []string{`the MCP server "slow"`, `the MCP server "slower"`} {
			var line leaving
			if err := client.readLine(&line); err != nil || line.WaitsFor != want {
				t.Errorf("the line is %+v, %v, want %q", line, err, want)
			}
		}
		<-ended
		_ = client.Close()
	})
}
