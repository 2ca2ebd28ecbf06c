package test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// neighbour is an MCP server of 2025-11-25 without an SDK that stands beside a healthy one. KIND is its fault. It
// writes each start of a process to the file LOG.starts, and each end in order to LOG.ended.
func neighbour() {
	note := func(what string) {
		f, err := os.OpenFile(os.Getenv("LOG")+"."+what, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, os.Getpid())
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	note("starts")
	defer note("ended")
	kind := os.Getenv("KIND")
	if kind == "slow" {
		if conn, err := net.Dial("tcp", os.Getenv("GATE")); err == nil {
			_, _ = conn.Read(make([]byte, 1)) // until it ends
		}
	}
	more := ""
	if kind == "odd" {
		fmt.Println("Listening on stdin")
		say(`"id":"nobody","result":{}`)
		say(`"method":"notifications/tools/list_changed"`)
		more = `,{"name":5},{"inputSchema":[]},{"name":"now","inputSchema":{"type":"object"}},7`
	}
	for m := range hears() {
		switch {
		case kind == "hanging":
		case kind == "dying":
			os.Exit(1)
		case m.Method == "initialize":
			say(`"id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"neighbour","version":"1"}}`, m.ID)
		case m.Method == "tools/list" && kind == "odd": // its pages have no end
			say(`"id":%s,"result":{"tools":[{"name":"now","inputSchema":{"type":"object"}}%s],"nextCursor":"more"}`, m.ID, more)
		case m.Method == "tools/list":
			say(`"id":%s,"result":{"tools":[{"name":"now","inputSchema":{"type":"object"}}]}`, m.ID)
		default:
			m.unknown()
		}
	}
}

// neighbourhood is a folder with the servers good, a [logsAnswers], and beside, a [neighbour].
type neighbourhood struct {
	daemonHome
	folder string
	// good and beside are the files of the two.
	good, beside string
	window       *talk
	// open has a slow neighbour start.
	open func()
}

func newNeighbourhood(t *testing.T, kind, era string) *neighbourhood {
	t.Helper()
	h := newDaemonHome(t)
	n := &neighbourhood{daemonHome: h, good: filepath.Join(h.folder, "good"), beside: filepath.Join(h.folder, "beside"), window: h.serve()}
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.open = func() { _ = gate.Close() } // those that wait in it are reset
	t.Cleanup(n.open)
	if err := n.window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	n.folder = folderWith(t, fmt.Sprintf(`{"servers":{"good":{"command":"logs-answers","env":{"ERA":%q,"LOG":%q}},"beside":{"command":"neighbour","env":{"KIND":%q,"LOG":%q,"GATE":%q}}}}`,
		era, n.good, kind, n.beside, gate.Addr()))
	return n
}

// hosts returns a function that connects a host with all servers of the neighbourhood.
func (n *neighbourhood) hosts(transport string) func(number int) *rawHost {
	n.t.Helper()
	flags := []string{"--trust", "--data-dir", filepath.Join(n.daemonHome.folder, "host")}
	if transport == "stdio" {
		return func(number int) *rawHost {
			gateway := n.command(append([]string{"gateway"}, flags...)...)
			gateway.Dir = n.folder
			return startHost(n.t, []string{"2025-11-25", "2026-07-28", "2025-06-18"}[number%3], gateway)
		}
	}
	add := n.command(append([]string{"hosts", "add", "a host"}, flags...)...)
	add.Dir = n.folder
	address, token := n.added(add)
	return func(number int) *rawHost {
		if transport == "modern http" {
			return connectHost(n.t, "2026-07-28", address, token)
		}
		return connectHost(n.t, []string{"2025-11-25", "2025-06-18"}[number%2], address, token)
	}
}

// One server takes nothing from another, and one host nothing from another: beside each kind of neighbour, each host has the
// healthy server's tools, results and questions, and each call runs once.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http", "modern http"} {
		for k, kind := range []string{"healthy", "hanging", "dying", "slow", "odd"} {
			for s, sessions := range []int{1, 2, 10} {
				era := []string{"2025-11-25", "2026-07-28"}[(k+s)%2]
				t.Run(fmt.Sprintf("%s %s %d %s", transport, kind, sessions, era), func(t *testing.T) {
					t.Parallel()
					n := newNeighbourhood(t, kind, era)
					connect := n.hosts(transport)
					begin := func() (hosts []*rawHost) {
						for i := range sessions {
							hosts = append(hosts, connect(i+k))
							hosts[i].listen()
						}
						return hosts
					}
					starts := func(most int) {
						t.Helper()
						if era == "2026-07-28" {
							most = 1 // a process for all
						}
						// One more has read the lists: it has no roots, and the conversations have those of their hosts.
						if got := len(answersIn(t, n.good+".starts")); got > most+1 {
							t.Errorf("the server was started %d times, want at most %d", got, most+1)
						}
					}
					runs := func(when string, want int) {
						t.Helper()
						if got := len(answersIn(t, n.good+".runs")); got != want {
							t.Errorf("%s: the tool has run %d times, want %d", when, got, want)
						}
					}

					hosts := begin()
					for _, host := range hosts {
						if !host.isModern() { // the newest revision has no ping
							list := host.send("tools/list", "{}")
							if got := host.call("ping", "{}"); !strings.Contains(got, `"result":{}`) {
								t.Errorf("the host's ping got %s", got)
							}
							host.await(list)
						}
						host.listed("good__form")
					}
					if kind == "slow" {
						n.open()
						for _, host := range hosts {
							host.listed("beside__now")
						}
					}
					const users = `{"name":"good__find_users","arguments":{}}`
					for _, host := range hosts {
						if got := host.call("tools/call", users); !strings.Contains(got, `"content":[]`) {
							t.Errorf("the host got %s", got)
						}
					}
					starts(sessions)

					n.answered(hosts, n.asked(hosts))
					runs("each host has made the same call", sessions)

					if transport == "modern http" {
						return // a host that gives up closes its connection, and may come back before Assent hears of that
					}
					for i, id := range n.asked(hosts) {
						hosts[i].cancel(id)
					}
					n.answered(hosts, n.asked(hosts))
					runs("each host has cancelled a call, and made it again", 2*sessions)

					n.asked(hosts)
					for _, host := range hosts {
						host.leave()
					}
					n.awaitLeaving()
					hosts = begin()
					n.answered(hosts, n.asked(hosts))
					runs("each host has left a call, and come back to it", 3*sessions)
					for _, host := range hosts {
						if got := host.call("tools/call", users); !strings.Contains(got, `"content":[]`) {
							t.Errorf("the host that came back got %s", got)
						}
					}
					starts(2 * sessions)
					if got := len(answersIn(t, n.beside+".starts")); got > 3 {
						t.Errorf("the neighbour was started %d times", got)
					}
					if _, err := os.Stat(n.beside + ".ended"); err == nil && kind == "hanging" {
						t.Error("something waited until the neighbour was given up, which is after two minutes")
					}
				})
			}
		}
	}
}

// asked has each host make the same call, in which the server asks, and waits for the questions: one for each host.
func (n *neighbourhood) asked(hosts []*rawHost) (calls []int) {
	n.t.Helper()
	for _, host := range hosts {
		calls = append(calls, host.send("tools/call", `{"name":"good__form","arguments":{"n":1}}`))
	}
	asks := awaitAsks(n.t, n.window, len(hosts))
	if len(asks) != len(hosts) {
		n.t.Errorf("%d questions are open, want %d", len(asks), len(hosts))
	}
	in := map[string]bool{}
	for _, ask := range asks {
		in[ask.TaskID] = true
	}
	if len(in) != len(hosts) && !hosts[0].isSessionless() {
		n.t.Errorf("%d hosts ask in %d conversations", len(hosts), len(in))
	}
	return calls
}

// answered answers each question with a text of its own. Each host has to get another one.
func (n *neighbourhood) answered(hosts []*rawHost, calls []int) {
	n.t.Helper()
	var want, got []string
	for i, ask := range awaitAsks(n.t, n.window, len(hosts)) {
		text := fmt.Sprintf("answer %d", i)
		want = append(want, fmt.Sprintf(`"a":%q`, text))
		acceptWith(n.t, n.window, ask, text)
	}
	for i, host := range hosts {
		result := host.await(calls[i])
		at := slices.IndexFunc(want, func(answer string) bool { return strings.Contains(result, answer) })
		if at < 0 || slices.Contains(got, want[at]) {
			n.t.Errorf("host %d got %s", i, result)
			continue
		}
		got = append(got, want[at])
	}
	awaitNoAsk(n.t, n.window)
}

// listed waits until the host's list has a tool. The host asks again only once it hears that the list has changed.
func (h *rawHost) listed(name string) {
	h.t.Helper()
	const changed = "notifications/tools/list_changed"
	for !strings.Contains(h.call("tools/list", "{}"), `"name":"`+name+`"`) {
		isChange := func(heard string) bool { return strings.HasPrefix(heard, changed) }
		if !slices.ContainsFunc(h.heard, isChange) {
			h.awaitNotification(changed)
		}
		h.heard = slices.DeleteFunc(h.heard, isChange)
	}
}
