package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
)

// upstream has two servers. What a tool does is its name.
type upstream struct {
	servers []string
	// subscribed counts the subscriptions.
	subscribed map[string]int
	// saved is what the views had saved of calls, and calls counts these. Lost: no call goes on.
	mu    sync.Mutex
	saved map[gateway.Place]string
	calls int
	lost  bool
}

func (u *upstream) Servers() []string { return u.servers }

func (u *upstream) Describe(_ context.Context, server string) (gateway.Description, error) {
	return gateway.Description{
		Info:         json.RawMessage(`{"name":"` + server + `","version":"<7>","icons":[{"src":"data:,"}]}`),
		Capabilities: json.RawMessage(`{"tools":{},"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}},"x":{"big":12345678901234567890}}`),
	}, nil
}

func (u *upstream) Advertised(server, list string) []json.RawMessage {
	pages, _ := u.List(context.Background(), server, list, 0)
	return pages
}

func (u *upstream) List(_ context.Context, server, list string, _ time.Duration) ([]json.RawMessage, error) {
	switch {
	case server == "broken":
		return nil, &mcpserver.Error{Code: -1, Message: "it does not start"}
	case list == "tools" && server == "apps":
		return []json.RawMessage{json.RawMessage(`{"tools":[{"name":"view","_meta":{"ui":{"resourceUri":"ui://apps/view","x":1.0}}},` +
			`{"name":"refresh","_meta":{"ui":{"visibility":["app"]}}},{"name":"both","_meta":{"ui":{"visibility":["model","app"]}}}]}`)}, nil
	case list == "tools" && server == "typed":
		return []json.RawMessage{json.RawMessage(`{"tools":[{"name":"list","outputSchema":{"type":"array"}},{"name":"any","outputSchema":{}},{"name":"fine","outputSchema":{ "type":"object"}}]}`)}, nil
	case list == "resources" && server == "apps":
		return []json.RawMessage{json.RawMessage(`{"resources":[{"uri":"ui://apps/view","name":"view","mimeType":"text/html;profile=mcp-app","_meta":{"ui":{"csp":{}}}}]}`)}, nil
	case list == "tools":
		return []json.RawMessage{
			json.RawMessage(`{"nextCursor":"p2","tools":[{"title":"A","name":"ask","inputSchema":{"b":1.0,"a":{}},"icons":[ {"src":"data:,a","theme":"light","x":1.0} ],"x-mine":[1]}],"_meta":{"k":1}}`),
			json.RawMessage(`{"tools":[{"name":"echo","execution":{"taskSupport":"required"}}]}`),
		}, nil
	case list == "resources" && server == "shop":
		return []json.RawMessage{json.RawMessage(`{"resources":[{"uri":"shop://1","name":"one"}]}`)}, nil
	case list == "resourceTemplates" && server == "other":
		return []json.RawMessage{json.RawMessage(`{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"file"}]}`)}, nil
	}
	return nil, nil
}

func (u *upstream) Ended(string) {}

func (u *upstream) Joined(gateway.Place, gateway.Joined) {}

func (u *upstream) RootsChanged(string, func(context.Context) (json.RawMessage, error)) {}

func (u *upstream) Save(place gateway.Place, saved *gateway.SavedCall) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if delete(u.saved, place); saved != nil {
		text, _ := json.Marshal(saved)
		u.saved[place] = string(text)
	}
}

// began begins a call, or goes on with one.
func (u *upstream) began(r gateway.Request) error {
	u.mu.Lock()
	place := r.Place
	if place == "" {
		u.calls++
		place = gateway.Place(fmt.Sprint(u.calls))
	}
	u.mu.Unlock()
	if r.Place != "" && u.lost {
		return &mcpserver.Error{Code: -32603, Message: "Assent was restarted"}
	}
	if r.Began != nil {
		r.Began(place)
	}
	return nil
}

func (u *upstream) Subscribe(_ context.Context, server, uri string) (func(), error) {
	if uri == "shop://none" {
		return nil, &mcpserver.Error{Code: -32002, Message: "there is no such resource"}
	}
	u.subscribed[server+" "+uri]++
	return func() { u.subscribed[server+" "+uri]-- }, nil
}

func (u *upstream) Send(ctx context.Context, r gateway.Request) (json.RawMessage, error) {
	if err := u.began(r); err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(string(r.Params), `"log"`):
		for _, level := range []string{"debug", "notice", "loud", "WARN", "error"} { // all, also those that the host does not want
			r.Notify("notifications/message", json.RawMessage(`{"level":"`+level+`"}`))
		}
		return json.RawMessage(`{"content":[],"level":"` + r.LogLevel + `"}`), nil
	case strings.Contains(string(r.Params), `"wrong"`):
		return json.RawMessage(`{"content":[],"isError":true}`), nil
	case strings.Contains(string(r.Params), `"job"`):
		r.Following("It works hard.")
		time.Sleep(time.Minute)
	case strings.Contains(string(r.Params), `"restless"`):
		for _, params := range []string{`{"progress":1}`, `{"progress":1,"message":"m"}`, `{}`, `{"progress":0.5}`, `{"progress":1e15}`, `{"progress":1e15}`} {
			r.Notify("notifications/progress", json.RawMessage(params))
		}
		return json.RawMessage(`{"content":[{"type":"text","text":"a"}],"structuredContent":[1.0]}`), nil
	case strings.Contains(string(r.Params), `"slow"`):
		select {
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	case strings.Contains(string(r.Params), `"ask"`):
		if strings.Contains(string(r.Params), `"pause"`) {
			time.Sleep(time.Second)
		}
		r.Asking("Which size?")
		select {
		case <-time.After(2 * time.Minute): // a person
			return json.RawMessage(`{"content":[],"size":1.50}`), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	case strings.Contains(string(r.Params), `"host"`):
		return askHost(ctx, r)
	case strings.Contains(string(r.Params), `"fail"`):
		return nil, &mcpserver.Error{Code: -32042, Message: "open it", Data: json.RawMessage(`{"big":12345678901234567890,"a":"<b>"}`)}
	}
	r.Notify("notifications/progress", json.RawMessage(`{"progress":1,"note":"x"}`))
	return json.RawMessage(`{"content":[],"got":` + string(r.Params) + `,"by":"` + r.Server + " " + r.Method + `"}`), nil
}

// askHost asks the host for a size and for its folders at once, then for a word of a model, and returns the answers.
func askHost(ctx context.Context, r gateway.Request) (json.RawMessage, error) {
	ask := func(name, method, params string, queued func()) json.RawMessage {
		result, err := r.Ask(ctx, gateway.Question{Name: name, Method: method, Params: json.RawMessage(params)}, queued)
		if err != nil {
			queued()
			result, _ = json.Marshal(err.Error())
		}
		return result
	}
	release := r.Hold()
	first, second := make(chan struct{}), make(chan struct{})
	folders := make(chan json.RawMessage)
	go func() {
		<-first
		folders <- ask("", "roots/list", "", sync.OnceFunc(func() { close(second) }))
	}()
	go func() {
		<-second
		release()
	}()
	size := ask("size", "elicitation/create", `{"message":"Which size?","task":{},"_meta":{"ui":{"resourceUri":"ui://shop/size"}}}`, sync.OnceFunc(func() { close(first) }))
	word := ask("word", "sampling/createMessage", `{"messages":[]}`, func() {})
	if strings.Contains(string(r.Params), `"pause"`) {
		time.Sleep(time.Second)
	}
	return json.Marshal(map[string]any{"content": []any{}, "size": size, "folders": <-folders, "word": word})
}

// TestViews replays testdata/*.txt. The first line names the view and the host.
func TestViews(t *testing.T) {
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
	server := strings.TrimPrefix(first, "view")
	up := &upstream{servers: []string{"shop", "broken", "other"}, subscribed: map[string]int{}, saved: map[gateway.Place]string{}}
	var view *gateway.View
	var host net.Conn
	var lines chan string
	served := make(chan error, 1)
	begin := func() {
		view = gateway.New(up, gateway.Options{
			Server: strings.TrimSpace(server), Version: "2.0.0", Log: zerolog.Nop(),
		})
		for place, text := range maps.Clone(up.saved) {
			saved := &gateway.SavedCall{}
			if err := json.Unmarshal([]byte(text), saved); err != nil {
				t.Fatal(err)
			}
			view.Restore(place, saved)
		}
		var pipe net.Conn
		host, pipe = net.Pipe()
		lines = make(chan string, 1000)
		go func() { served <- mcpserver.ServeLines(t.Context(), pipe, view, mcpserver.Options{Log: zerolog.Nop()}) }()
		go func() {
			defer close(lines)
			scanner := bufio.NewScanner(host)
			for scanner.Scan() {
				lines <- scanner.Text()
			}
		}()
	}
	end := func() {
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
	}
	begin()
	var handle, state, task string
	read := func(got string) string {
		if _, after, isWaiting := strings.Cut(got, `with the handle \"`); isWaiting {
			handle, _, _ = strings.Cut(after, `\"`)
			got = strings.ReplaceAll(got, handle, "HANDLE")
		}
		if _, after, asks := strings.Cut(got, `"requestState":"`); asks {
			state, _, _ = strings.Cut(after, `"`)
			got = strings.ReplaceAll(got, state, "STATE")
		}
		if _, after, isTask := strings.Cut(got, `"taskId":"`); isTask {
			task, _, _ = strings.Cut(after, `"`)
		}
		if task != "" {
			got = strings.ReplaceAll(got, task, "TASK")
		}
		return got
	}
	// Of frames that come together, the order does not count.
	var came, missing []string
	compare := func() {
		for i := range max(len(came), len(missing)) {
			got, want := "", ""
			if i < len(came) {
				got = came[i]
			}
			if i < len(missing) {
				want = missing[i]
			}
			t.Errorf("got  %s\nwant %s", got, want)
		}
		came, missing = nil, nil
	}
	for line := range strings.SplitSeq(rest, "\n") {
		side, frame, _ := strings.Cut(line, " ")
		if side != "<" {
			compare()
		}
		switch side {
		case "", "#":
		case ">":
			frame = strings.NewReplacer("HANDLE", handle, "STATE", state, "TASK", task).Replace(frame)
			if _, err := host.Write([]byte(frame + "\n")); err != nil {
				t.Fatal(err)
			}
		case "changed":
			server, list, _ := strings.Cut(frame, " ")
			view.ListChanged(server, list)
		case "updated":
			server, params, _ := strings.Cut(frame, " ")
			view.ResourceUpdated(server, json.RawMessage(params))
		case "subscribed":
			if got := fmt.Sprint(up.subscribed); got != frame {
				t.Errorf("subscribed: %s, want %s", got, frame)
			}
		case "saved":
			if got := fmt.Sprint(len(up.saved)); got != frame {
				t.Errorf("%s calls are saved, want %s", got, frame)
			}
		case "restart", "restart-lost": // as if the daemon had been killed: its later changes reach no disk
			saved, killed := maps.Clone(up.saved), view
			end()
			killed.Close()
			up.saved, up.lost = saved, side == "restart-lost"
			begin()
		case "sleep":
			d, err := time.ParseDuration(frame)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		case "<":
			for more := true; more; { // nothing more comes by itself
				select {
				case got := <-lines:
					came = append(came, read(got))
				default:
					more = false
				}
			}
			if at := slices.Index(came, frame); at >= 0 {
				came = slices.Delete(came, at, at+1)
			} else {
				missing = append(missing, frame)
			}
		default:
			t.Fatalf("what is %q?", line)
		}
		synctest.Wait()
	}
	compare()
	end()
	view.Close()
}
