package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/procinfo"
	"assent/sidecar/reason"
	"assent/sidecar/wire"
)

const (
	// maxStray is how many lines that are not MCP are kept of a connection.
	maxStray = 5
	// maxInstructions is the most bytes of a server's instructions that are shown, and maxCapabilities the most names.
	maxInstructions = 4000
	maxCapabilities = 100
	// maxPorts is how many ports are looked at.
	maxPorts = 4
	// maxName is the most bytes of a server's own name.
	maxName = 200
)

// noted holds facts about a server that are only shown, not used.
type noted struct {
	tail tail

	// The fields below are guarded by the server's lock.

	trouble   *trouble // the last one
	handshake *wire.Handshake
	// calls holds the exchanges under way, and since when.
	calls map[*exchange]time.Time
	// counts holds how long the lists were when they were last read, until they change.
	counts map[protocol.ListKind]int64
}

// trouble is how a connection failed.
type trouble struct {
	at  time.Time
	err error
	// established: it had been ready.
	established bool
	// exitCode is nil if no process ended by itself.
	exitCode *int64
	// stderr holds the last lines on stderr, and stray the first messages that were not MCP.
	stderr, stray []string
}

// noteTrouble keeps how a connection ended by itself, and returns it.
func (s *server) noteTrouble(c *conn, err error, stderr []string) *trouble {
	t := &trouble{at: time.Now(), err: err, stderr: plainLines(stderr)}
	// A process that was given up leaves too, when its stdin is closed.
	givenUp := errors.As(err, new(slowError)) || errors.Is(err, wire.ErrRefused) || errors.Is(err, wire.ErrVersion) ||
		errors.As(err, new(*wire.UnreadableError))
	if !givenUp && c.link != nil && c.link.exitCode != nil {
		if code, ok := c.link.exitCode(); ok {
			code := int64(code)
			t.exitCode = &code
		}
	}
	c.mu.Lock()
	t.established, t.stray = !c.since.IsZero(), plainLines(c.strayed)
	c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noted.trouble = t
	return t
}

// sentenceOn returns the text of the verdict: a sentence on why the server does not run. The list of servers, the page of
// one, a conversation and a terminal all show it.
func (s *server) sentenceOn(ctx context.Context, t *trouble) string {
	now := situation{config: s.config, server: protocol.Server{State: protocol.ServerFailed}, trouble: t}
	var missing *config.NotFoundError
	switch {
	case isLaunch(t.err):
		now.launch.Err = t.err
		if errors.As(t.err, &missing) {
			now.launch.Shown.NearMisses = missing.NearMisses
		}
	case s.config.Transport == protocol.TransportStdio:
		now.launch = s.config.Launch(ctx, s.hub.opts.Environment)
	}
	now.ports = s.hub.portUses(s.config, t, nil, new(protocol.ServerInspection))
	sentence := verdictOf(now).Text // never nil for a server that failed
	if redact := s.hub.opts.Redact; redact != nil {
		sentence = redact(sentence)
	}
	return sentence
}

// noteCall keeps an exchange while it lasts.
func (s *server) noteCall(x *exchange) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noted.calls == nil {
		s.noted.calls = map[*exchange]time.Time{}
	}
	s.noted.calls[x] = time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.noted.calls, x)
	}
}

// noteCountLocked keeps how long a list is. A page that cannot be read has been complained of already.
func (s *server) noteCountLocked(kind protocol.ListKind, list []json.RawMessage) {
	n := int64(0)
	for _, raw := range list {
		var page map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal(raw, &page) == nil && json.Unmarshal(page[string(kind)], &items) == nil {
			n += int64(len(items))
		}
	}
	if s.noted.counts == nil {
		s.noted.counts = map[protocol.ListKind]int64{}
	}
	s.noted.counts[kind] = n
}

// noteStray keeps the beginning of a frame that is not MCP.
func (c *conn) noteStray(data []byte) {
	text := strings.TrimRight(string(data[:min(len(data), tailLine)]), "\r\n")
	c.server.noted.tail.add(protocol.LogStdout, "", text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.strayed) < maxStray {
		c.strayed = append(c.strayed, text)
	}
}

// Start connects to a server if there is no connection. A person who refused to run the server is asked again.
func (h *Hub) Start(ctx context.Context, name string) (protocol.Server, error) {
	s, err := h.server(name)
	if err != nil {
		return protocol.Server{}, err
	}
	return s.startedByPerson(ctx)
}

// Inspect returns what is known of a server, and why it does not start; it starts nothing and asks nobody
// but the login shell, as by [config.Server.Launch]. What it does not know is left empty: the titles of
// conversations and the asks in them. Nothing is left out that may be a secret, which is the caller's to
// do.
func (h *Hub) Inspect(ctx context.Context, name string) (*protocol.ServerInspection, error) {
	s, err := h.server(name)
	if err != nil {
		return nil, err
	}
	result := &protocol.ServerInspection{
		Line: config.Line(s.config.Source, s.config.Name), Warnings: s.config.Warnings(h.opts.Environment),
	}
	var launch config.Launch
	if s.config.Transport == protocol.TransportStdio {
		launch = s.config.Launch(ctx, h.opts.Environment)
		result.Launch = &launch.Shown
	} else {
		result.Endpoint = shownEndpoint(s.config)
	}
	result.Log, result.LogDropped = s.noted.tail.last()
	trouble := s.inspect(result)
	result.Server.Reason, result.Server.Stderr = plain(result.Server.Reason), plainLines(result.Server.Stderr)
	own := map[int64]bool{}
	for _, c := range result.Connections {
		own[c.PID] = true
	}
	h.lookAround(s.config, launch, trouble, own, result)
	result.Verdict = verdictOf(situation{
		config: s.config, server: result.Server, launch: launch, trouble: trouble,
		ports: result.Ports, orphans: result.Orphans,
	})
	return result, nil
}

// inspect fills in what is known under the lock, and returns how the server failed last.
func (s *server) inspect(result *protocol.ServerInspection) *trouble {
	s.mu.Lock()
	defer s.mu.Unlock()
	result.Server = s.infoLocked()
	if s.noted.handshake != nil {
		result.Handshake = shownHandshake(s.noted.handshake)
	}
	for c := range s.running {
		c.mu.Lock()
		shown := protocol.ServerConnection{TaskID: c.taskID, Since: c.since.UnixMilli()}
		c.mu.Unlock()
		if c.link.pid != nil {
			shown.PID = int64(c.link.pid())
		}
		result.Connections = append(result.Connections, shown)
	}
	slices.SortFunc(result.Connections, func(a, b protocol.ServerConnection) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.TaskID, b.TaskID))
	})
	for x, since := range s.noted.calls {
		result.Calls = append(result.Calls, protocol.ServerCall{
			TaskID: x.taskID, MessageID: x.hooks.MessageID, ToolName: x.toolName, ResourceURI: x.resourceURI, Since: since.UnixMilli(),
		})
	}
	slices.SortFunc(result.Calls, func(a, b protocol.ServerCall) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.MessageID, b.MessageID))
	})
	for kind, to := range map[protocol.ListKind]**int64{
		protocol.ListTools: &result.Counts.Tools, protocol.ListResources: &result.Counts.Resources, protocol.ListPrompts: &result.Counts.Prompts,
	} {
		if n, ok := s.noted.counts[kind]; ok {
			*to = &n
		}
	}
	if t := s.noted.trouble; t != nil {
		result.LastFailure = &protocol.ServerFailure{
			At: t.at.UnixMilli(), Reason: plain(reason.Of(t.err)), ExitCode: t.exitCode, Stderr: t.stderr, Stdout: t.stray,
		}
	}
	return s.noted.trouble
}

// shownEndpoint leaves out of an address what may be a secret in it. Variables stay as they are written.
func shownEndpoint(c config.Server) *protocol.ServerEndpoint {
	shown, query, _ := strings.Cut(c.URL, "?")
	if query != "" {
		shown += "?…"
	}
	if scheme, rest, ok := strings.Cut(shown, "://"); ok {
		authority, path, _ := strings.Cut(rest, "/")
		if _, host, ok := strings.Cut(authority, "@"); ok {
			shown = scheme + "://…@" + host + "/" + path
		}
	}
	return &protocol.ServerEndpoint{URL: shown, HeaderNames: slices.Sorted(maps.Keys(c.Headers))}
}

// shownHandshake reads an InitializeResult or a DiscoverResult (2026-07-28, "Discovery").
func shownHandshake(h *wire.Handshake) *protocol.ServerHandshake {
	type implementation struct{ Name, Title, Version string }
	var result struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		ServerInfo   implementation             `json:"serverInfo"`
		Instructions string                     `json:"instructions"`
		Meta         struct {
			ServerInfo implementation `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	shown := &protocol.ServerHandshake{Era: protocol.EraLegacy, ProtocolVersion: h.Version}
	if h.Era == wire.EraModern {
		shown.Era = protocol.EraModern
	}
	if json.Unmarshal(h.Result, &result) != nil {
		return shown // go-sdk understood it otherwise
	}
	who := result.ServerInfo
	if who.Name == "" {
		who = result.Meta.ServerInfo
	}
	shown.Name, shown.Title, shown.Version = plain(clip(who.Name, maxName)), plain(clip(who.Title, maxName)), plain(clip(who.Version, maxName))
	shown.Capabilities = capabilityNames(result.Capabilities)
	var lines []string // whose breaks are kept
	for line := range strings.Lines(clip(result.Instructions, maxInstructions)) {
		lines = append(lines, plain(strings.TrimRight(line, "\r\n")))
	}
	shown.Instructions = strings.Join(lines, "\n")
	return shown
}

// capabilityNames returns the names of capabilities, and of what is true or there within each.
func capabilityNames(capabilities map[string]json.RawMessage) []string {
	var names []string
	for name, raw := range capabilities {
		names = append(names, name)
		var within map[string]json.RawMessage
		if json.Unmarshal(raw, &within) != nil {
			continue
		}
		for inner, value := range within {
			if text := string(value); text != "false" && text != "null" {
				names = append(names, name+"."+inner)
			}
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), maxCapabilities)]
	for i := range names {
		names[i] = plain(clip(names[i], maxName))
	}
	return names
}

// lookAround finds out who is in the server's way on this machine.
func (h *Hub) lookAround(c config.Server, launch config.Launch, t *trouble, own map[int64]bool, result *protocol.ServerInspection) {
	result.Ports = h.portUses(c, t, own, result)
	if launch.Argv == nil {
		return
	}
	left, err := procinfo.Orphans(launch.Argv)
	if h.unknown(err, result) {
		return
	}
	for _, p := range left {
		if shown := shownProcess(p, own); !shown.Own {
			result.Orphans = append(result.Orphans, shown)
		}
	}
}

// portUses returns which processes listen on the ports that a server wants.
func (h *Hub) portUses(c config.Server, t *trouble, own map[int64]bool, result *protocol.ServerInspection) (uses []protocol.PortUse) {
	for _, port := range portsOf(c, t) {
		listening, by, err := procinfo.Listeners(port)
		if h.unknown(err, result) {
			continue
		}
		use := protocol.PortUse{Port: int64(port), Listening: listening}
		for _, p := range by {
			use.By = append(use.By, shownProcess(p, own))
		}
		uses = append(uses, use)
	}
	return uses
}

func (h *Hub) unknown(err error, result *protocol.ServerInspection) bool {
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		h.opts.Log.Warn().Err(err).Msg("looking at what else runs on this machine")
	}
	result.MachineUnknown = result.MachineUnknown || err != nil
	return err != nil
}

func shownProcess(p procinfo.Process, own map[int64]bool) protocol.ServerProcess {
	shown := protocol.ServerProcess{PID: int64(p.PID), Name: plain(clip(p.Name, maxName)), Own: own[int64(p.PID)]}
	if !p.Since.IsZero() {
		shown.Since = p.Since.UnixMilli()
	}
	return shown
}

// inUse are the ways in which programs complain that a port is taken, and named is where they name it.
var (
	inUse = regexp.MustCompile(`(?i)EADDRINUSE|address (?:is )?already in use|port \d+ is (?:already )?(?:in use|taken|allocated)|only one usage of each socket address`)
	named = regexp.MustCompile(`(?i)(?:(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[?::1?\]?|\*)[:', ]+|port[ :='"]+|:::|:)(\d{2,5})\b`)
)

// portsOf returns the ports of this machine that a configuration names, or a failure complains of.
func portsOf(c config.Server, t *trouble) []int {
	var ports []int
	add := func(text string) {
		if port, err := strconv.Atoi(text); err == nil && port > 0 && port < 1<<16 && len(ports) < maxPorts && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	if u, err := url.Parse(c.URL); err == nil && isLoopback(u.Hostname()) {
		standard := map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[u.Scheme]
		add(cmp.Or(u.Port(), standard))
	}
	if t != nil {
		for _, line := range t.stderr {
			// A time or an address may stand before it.
			if all := named.FindAllStringSubmatch(line, -1); all != nil && inUse.MatchString(line) {
				add(all[len(all)-1][1])
			}
		}
	}
	for i, arg := range c.Args {
		flag, value, ok := strings.Cut(arg, "=")
		if !ok && i+1 < len(c.Args) {
			value = c.Args[i+1]
		}
		if flag == "--port" || flag == "-p" {
			add(value)
		}
	}
	if value := c.Env["PORT"]; value != nil {
		add(*value)
	}
	return ports
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}
