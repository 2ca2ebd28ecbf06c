package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/gateway"
	"assent/sidecar/mcpserver"
)

// upstream has two servers. What a tool does is its name.
type upstream struct{ servers []string }

func (u *upstream) Servers() []string { return u.servers }

func (u *upstream) Describe(_ context.Context, server string) (gateway.Description, error) {
	return gateway.Description{
		Info:         json.RawMessage(`{"name":"` + server + `","version":"7","icons":[{"src":"data:,"}]}`),
		Capabilities: json.RawMessage(`{"tools":{},"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}},"x":{"big":12345678901234567890}}`),
	}, nil
}

func (u *upstream) List(_ context.Context, server, list string) ([]json.RawMessage, error) {
	switch {
	case server == "broken":
		return nil, &mcpserver.Error{Code: -1, Message: "it does not start"}
	case list == "tools":
		return []json.RawMessage{
			json.RawMessage(`{"nextCursor":"p2","tools":[{"title":"A","name":"ask","inputSchema":{"b":1.0,"a":{}},"x-mine":[1]}],"_meta":{"k":1}}`),
			json.RawMessage(`{"tools":[{"name":"echo"}]}`),
		}, nil
	case list == "resources" && server == "shop":
		return []json.RawMessage{json.RawMessage(`{"resources":[{"uri":"shop://1","name":"one"}]}`)}, nil
	case list == "resourceTemplates" && server == "other":
		return []json.RawMessage{json.RawMessage(`{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"file"}]}`)}, nil
	}
	return nil, nil
}

func (u *upstream) Ended(string) {}

func (u *upstream) Send(ctx context.Context, r gateway.Request) (json.RawMessage, error) {
	switch {
	case strings.Contains(string(r.Params), `"ask"`):
		r.Asking("Which size?")
		select {
		case <-time.After(2 * time.Minute): // a person
			r.Asking("")
			return json.RawMessage(`{"content":[],"size":1.50}`), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	case strings.Contains(string(r.Params), `"fail"`):
		return nil, &mcpserver.Error{Code: -32042, Message: "open it", Data: json.RawMessage(`{"big":12345678901234567890}`)}
	}
	r.Notify("notifications/progress", json.RawMessage(`{"progress":1,"note":"x"}`))
	return json.RawMessage(`{"content":[],"got":` + string(r.Params) + `,"by":"` + r.Server + " " + r.Method + `"}`), nil
}

// TestFaces replays testdata/*.txt. The first line names the face and the host.
func TestFaces(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { replay(t, string(text)) })
		})
	}
}

func replay(t *testing.T, conversation string) {
	first, rest, _ := strings.Cut(conversation, "\n")
	server := strings.TrimPrefix(first, "face")
	face := gateway.New(&upstream{[]string{"shop", "broken", "other"}}, gateway.Options{
		Server: strings.TrimSpace(server), Version: "2.0.0", Log: zerolog.Nop(),
	})
	host, pipe := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- mcpserver.ServeLines(t.Context(), pipe, face, mcpserver.Options{Log: zerolog.Nop()}) }()
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(host)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	var handle string
	for line := range strings.SplitSeq(rest, "\n") {
		side, frame, _ := strings.Cut(line, " ")
		switch side {
		case "", "#":
		case ">":
			frame = strings.ReplaceAll(frame, "HANDLE", handle)
			if _, err := host.Write([]byte(frame + "\n")); err != nil {
				t.Fatal(err)
			}
		case "changed":
			server, list, _ := strings.Cut(frame, " ")
			face.ListChanged(server, list)
		case "sleep":
			d, err := time.ParseDuration(frame)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		case "<":
			got := <-lines
			if _, after, isWaiting := strings.Cut(got, `with the handle \"`); isWaiting {
				handle, _, _ = strings.Cut(after, `\"`)
				got = strings.ReplaceAll(got, handle, "HANDLE")
			}
			if got != frame {
				t.Errorf("got  %s\nwant %s", got, frame)
			}
		default:
			t.Fatalf("what is %q?", line)
		}
		synctest.Wait()
	}
	select {
	case extra := <-lines:
		t.Errorf("not awaited: %s", extra)
	default:
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Errorf("ServeLines: %v", err)
	}
	face.Close()
}
