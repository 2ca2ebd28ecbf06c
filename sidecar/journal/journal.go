// Package journal keeps the record of what servers asked, what was decided and by whom, and what came of
// it: every ask from the request to the response, the calls that caused them, and grants.
//
// A [Journal] makes records of changes; whoever keeps a change gives them to the store, which keeps both
// in one transaction, so that neither can be without the other. The records are a chain (see
// [store.Record.Follow]), and [Verify] finds the first that was altered, taken out or put in. Whoever can
// write the file can also write a whole chain anew: the journal shows what was changed by accident, by a
// tool or in passing, and to whoever has noted the newest hash elsewhere, everything.
//
// Secrets are left out: what the scanner finds, the values that Assent holds, and what was typed where a
// form or a tool asks for one. Pictures and sounds are named by their hash. The package does not decide
// anything and asks nobody. All of it may be used from any goroutine.
package journal

import (
	"encoding/json"

	"assent/protocol"
	"assent/sidecar/secret"
	"assent/sidecar/store"
)

// Options are what a journal needs. The zero value will do.
type Options struct {
	// Held returns the secrets that Assent holds now; nil means none. It is called while a task is locked, so
	// it must not wait for one.
	Held func() []secret.Held
}

// Journal makes records.
type Journal struct {
	opts    Options
	scanner *secret.Scanner
}

// New returns a journal.
func New(opts Options) *Journal {
	if opts.Held == nil {
		opts.Held = func() []secret.Held { return nil }
	}
	return &Journal{opts: opts, scanner: secret.New()}
}

// Change returns what the journal says of a change of a message, which is nothing where it does not matter
// how a request came and ended. At is when the change was made; the message is as it is then.
func (j *Journal) Change(taskID string, at int64, m protocol.Message, event protocol.Event) []store.Record {
	var records []store.Record
	add := func(kind protocol.JournalKind, server, askID string, body any, secrets ...protocol.SecretFinding) {
		records = append(records, store.Record{
			At: at, Kind: string(kind), TaskID: taskID, AskID: askID, Server: server, Body: j.encode(body, secrets),
		})
	}
	switch body := m.Body.(type) {
	case protocol.Call:
		if kind, b := ofCall(m.ID, body, event); b != nil {
			add(kind, body.ServerName, "", b)
		}
	case protocol.Ask:
		server, secrets := body.Question.From().ServerName, secretsOf(body.Question)
		if _, ok := event.(protocol.MessageAdded); ok {
			add(protocol.JournalAskOpened, server, body.AskID, opened(m.ID, body), secrets...)
			if body.Outcome != nil { // a grant approved it
				add(protocol.JournalAskSettled, server, body.AskID, settled(m.ID, body), secrets...)
			}
			break
		}
		if kind, b := ofAsk(m.ID, body, event); b != nil {
			add(kind, server, body.AskID, b, secrets...)
		}
	}
	return records
}

// GrantCreated is what the journal says of a new grant.
func (j *Journal) GrantCreated(g protocol.Grant) store.Record {
	return store.Record{At: g.CreatedAt, Kind: string(protocol.JournalGrantCreated), Server: g.ServerName, Body: j.encode(g, nil)}
}

// GrantEnded is what the journal says of a grant that a person has revoked in the front end that by names.
func (j *Journal) GrantEnded(g protocol.Grant, by string) store.Record {
	return store.Record{At: g.EndedAt, Kind: string(protocol.JournalGrantEnded), Server: g.ServerName, Body: j.encode(struct {
		ID    string              `json:"id"`
		By    string              `json:"by"`
		Spent protocol.GrantSpent `json:"spent"`
	}{g.ID, by, g.Spent}, nil)}
}

// ToolRuleCreated is what the journal says of an answer about a tool that is remembered.
func (j *Journal) ToolRuleCreated(r protocol.ToolRule) store.Record {
	return store.Record{
		At: r.CreatedAt, Kind: string(protocol.JournalToolRuleCreated), TaskID: r.TaskID, Server: r.ServerName, Body: j.encode(r, nil),
	}
}

// ToolRuleRemoved is what the journal says of a rule that a person took back in the front end that by names.
func (j *Journal) ToolRuleRemoved(r protocol.ToolRule, by string, at int64) store.Record {
	return store.Record{At: at, Kind: string(protocol.JournalToolRuleRemoved), TaskID: r.TaskID, Server: r.ServerName, Body: j.encode(struct {
		ID          string `json:"id"`
		ToolName    string `json:"toolName,omitempty"`
		ResourceURI string `json:"resourceUri,omitempty"`
		By          string `json:"by"`
	}{r.ID, r.ToolName, r.ResourceURI, by}, nil)}
}

// ServerDecided is what the journal says of a decision whether a server may run.
func (j *Journal) ServerDecided(d store.ServerDecision) store.Record {
	return store.Record{At: d.At, Kind: string(protocol.JournalServerDecided), Server: d.ServerName, Body: j.encode(struct {
		Source     string                    `json:"source"`
		Definition protocol.ServerDefinition `json:"definition"`
		// Identity is the hash of all of the definition.
		Identity string                  `json:"identity"`
		Decision protocol.ServerDecision `json:"decision"`
		By       string                  `json:"by"`
	}{d.Source, d.Shown, d.Definition, d.Decision, d.By}, nil)}
}

// TaskDeleted is what the journal says of a task that a person deleted in the front end that by names; or
// restored, where its DeletedAt is 0.
func (j *Journal) TaskDeleted(t protocol.Task, by string, at int64) store.Record {
	kind := protocol.JournalTaskDeleted
	if t.DeletedAt == 0 {
		kind = protocol.JournalTaskRestored
	}
	return store.Record{At: at, Kind: string(kind), TaskID: t.ID, Body: j.encode(struct {
		Title string `json:"title"`
		By    string `json:"by"`
	}{t.Title, by}, nil)}
}

// Denied is what the journal says of requests of a server that were refused without asking anybody: how the
// last one was, and how many there were since the last record of this kind.
func (j *Journal) Denied(taskID string, origin protocol.Origin, method string, outcome protocol.Outcome, count int64) store.Record {
	return store.Record{At: outcome.At, Kind: string(protocol.JournalRequestDenied), TaskID: taskID, Server: origin.ServerName, Body: j.encode(struct {
		protocol.Origin
		Method  string           `json:"method"`
		Outcome protocol.Outcome `json:"outcome"`
		Count   int64            `json:"count"`
	}{origin, method, outcome, count}, nil)}
}

// Unclaimed is what the journal says of a request that was of no task and that nobody placed; text is the
// beginning of what it was about.
func (j *Journal) Unclaimed(serverName, method, text string, outcome protocol.Outcome) store.Record {
	return store.Record{At: outcome.At, Kind: string(protocol.JournalRequestUnclaimed), Server: serverName, Body: j.encode(struct {
		Method  string           `json:"method"`
		Text    string           `json:"text,omitempty"`
		Outcome protocol.Outcome `json:"outcome"`
	}{method, text, outcome}, nil)}
}

// Wire returns a record as it is shown and exported. A body that is no JSON, because somebody altered it,
// becomes a string.
func Wire(r *store.Record) protocol.JournalRecord {
	body := json.RawMessage(r.Body)
	if !json.Valid(body) {
		body = quote(r.Body)
	}
	return protocol.JournalRecord{
		Seq: r.Seq, At: r.At, Kind: protocol.JournalKind(r.Kind),
		TaskID: r.TaskID, AskID: r.AskID, ServerName: r.Server, Body: body, Hash: r.Hash,
	}
}

func quote(text string) json.RawMessage {
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null") // a string can always be written
	}
	return quoted
}
