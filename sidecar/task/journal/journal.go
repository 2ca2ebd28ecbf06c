// Package journal records every ask from the request to the response, who decided it, the calls that caused it, grants,
// rules about tools, and decisions about servers.
//
// A [Journal] makes records of changes. The caller passes them to the store with the change, and the store saves both
// in one transaction. The records are a chain (see [store.Record.Follow]), and [Verify] finds the first one that was
// altered, removed or inserted. A person who can write the file can also compute a new chain. So the journal proves
// that nothing was changed only if the newest hash was noted elsewhere.
//
// Records have no secrets: no text that the scanner finds, no value that Assent holds, and no answer to a form or
// argument of a tool that asks for a secret. Images and audio are represented by their hash. The package decides
// nothing. All of it may be used from any goroutine.
package journal

import (
	"encoding/json"

	"assent/protocol"
	"assent/sidecar/base/secret"
	"assent/sidecar/task/store"
)

// Options configure a journal. The zero value is valid.
type Options struct {
	// Known returns the secrets that Assent knows now; nil means none. It is called while a task is locked,
	// so it must not wait for a task.
	Known func() []secret.Known
}

// Journal makes records.
type Journal struct {
	opts    Options
	scanner *secret.Scanner
}

// New returns a journal.
func New(opts Options) *Journal {
	if opts.Known == nil {
		opts.Known = func() []secret.Known { return nil }
	}
	return &Journal{opts: opts, scanner: secret.New()}
}

// Change returns the records of a change of a message; none if the change is not journaled. At is the time of the
// change in milliseconds since the Unix epoch, and m is the message after it.
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

// GrantCreated returns the record of a new grant.
func (j *Journal) GrantCreated(g protocol.Grant) store.Record {
	return store.Record{At: g.CreatedAt, Kind: string(protocol.JournalGrantCreated), Server: g.ServerName, Body: j.encode(g, nil)}
}

// GrantEnded returns the record of a grant that a person revoked; by names their front end.
func (j *Journal) GrantEnded(g protocol.Grant, by string) store.Record {
	return store.Record{At: g.EndedAt, Kind: string(protocol.JournalGrantEnded), Server: g.ServerName, Body: j.encode(struct {
		ID    string              `json:"id"`
		By    string              `json:"by"`
		Spent protocol.GrantSpent `json:"spent"`
	}{g.ID, by, g.Spent}, nil)}
}

// ToolRuleCreated returns the record of a new rule about a tool.
func (j *Journal) ToolRuleCreated(r protocol.ToolRule) store.Record {
	return store.Record{
		At: r.CreatedAt, Kind: string(protocol.JournalToolRuleCreated), TaskID: r.TaskID, Server: r.ServerName, Body: j.encode(r, nil),
	}
}

// ToolRuleRemoved returns the record of a rule that a person removed; by names their front end.
func (j *Journal) ToolRuleRemoved(r protocol.ToolRule, by string, at int64) store.Record {
	return store.Record{At: at, Kind: string(protocol.JournalToolRuleRemoved), TaskID: r.TaskID, Server: r.ServerName, Body: j.encode(struct {
		ID          string            `json:"id"`
		ToolName    string            `json:"toolName,omitempty"`
		ResourceURI string            `json:"resourceUri,omitempty"`
		Remember    protocol.Remember `json:"remember"`
		By          string            `json:"by"`
	}{r.ID, r.ToolName, r.ResourceURI, r.Remember, by}, nil)}
}

// AskFirst is a change of a rule before what the hosts of agents ask the person: Before is the rule that it was, After the one
// that it is. Both are sentences; one of them is empty.
type AskFirst struct {
	ID     string `json:"id"`
	By     string `json:"by"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// AskFirstChanged returns the record of such a change.
func (j *Journal) AskFirstChanged(at int64, a AskFirst) store.Record {
	return store.Record{At: at, Kind: string(protocol.JournalAskFirstChanged), Body: j.encode(a, nil)}
}

// ServerDecided returns the record of a decision whether a server may run.
func (j *Journal) ServerDecided(d store.ServerDecision) store.Record {
	return store.Record{At: d.At, Kind: string(protocol.JournalServerDecided), Server: d.ServerName, Body: j.encode(struct {
		Source     string                    `json:"source"`
		Definition protocol.ServerDefinition `json:"definition"`
		// Identity is the hash of the whole definition.
		Identity string                  `json:"identity"`
		Decision protocol.ServerDecision `json:"decision"`
		By       string                  `json:"by"`
	}{d.Source, d.Shown, d.Definition, d.Decision, d.By}, nil)}
}

// Blocked says what did not let a server be used.
type Blocked struct {
	// File is a managed file, and Entry what in it decided.
	File  string `json:"file"`
	Entry string `json:"entry"`
	// Programs are the names of the host whose session would have used the server.
	Programs []string `json:"programs,omitempty"`
	// Policy is the hash of all managed files.
	Policy string `json:"policy"`
}

// ServerBlocked returns the record of a server that the organisation did not let be used.
func (j *Journal) ServerBlocked(at int64, server string, b Blocked) store.Record {
	return store.Record{At: at, Kind: string(protocol.JournalServerBlocked), Server: server, Body: j.encode(b, nil)}
}

// TaskDeleted returns the record of a task that a person deleted, or restored if its DeletedAt is 0; by names their front
// end.
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

// Denied returns the record of requests of a server that were refused without asking the person: the outcome of the
// last one, and the number since the previous record of this kind.
func (j *Journal) Denied(taskID string, origin protocol.Origin, method string, outcome protocol.Outcome, count int64) store.Record {
	return store.Record{At: outcome.At, Kind: string(protocol.JournalRequestDenied), TaskID: taskID, Server: origin.ServerName, Body: j.encode(struct {
		protocol.Origin
		Method  string           `json:"method"`
		Outcome protocol.Outcome `json:"outcome"`
		Count   int64            `json:"count"`
	}{origin, method, outcome, count}, nil)}
}

// Invalid returns the record of a question that cannot be shown, and why.
func (j *Journal) Invalid(at int64, taskID string, origin protocol.Origin, method, why string) store.Record {
	return store.Record{At: at, Kind: string(protocol.JournalRequestInvalid), TaskID: taskID, Server: origin.ServerName, Body: j.encode(struct {
		protocol.Origin
		Method string `json:"method"`
		Reason string `json:"reason"`
	}{origin, method, why}, nil)}
}

// Unattributed returns the record of an unattributed request that ended before it was assigned. text is the
// beginning of the question.
func (j *Journal) Unattributed(serverName, method, text string, outcome protocol.Outcome) store.Record {
	return store.Record{At: outcome.At, Kind: string(protocol.JournalRequestUnattributed), Server: serverName, Body: j.encode(struct {
		Method  string           `json:"method"`
		Text    string           `json:"text,omitempty"`
		Outcome protocol.Outcome `json:"outcome"`
	}{method, text, outcome}, nil)}
}

// Wire returns a record as it is shown and exported. A body that is not JSON, because it was altered,
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
