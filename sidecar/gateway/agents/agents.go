// Package agents asks what the hosts of agents ask: may this command run, may this file change. A host starts a hook for each
// event, and its own prompt stays open as well. The person answers in either, and the first answer counts there.
//
// [Read] reads what a hook was told, and [Agents.Serve] serves it. There is a decision only if a person made one:
// every error, timeout and end is no decision, and the host's own prompt stands.
//
// All methods may be called from any goroutine. The package keeps nothing on disk: what an agent asked before a restart of
// the daemon is over, because its hook ended with the connection.
package agents

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker/askfirst"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/task"
)

// The bounds of the questions in memory.
const (
	maxOpen     = 100 // questions that are open in a workspace
	maxRecords  = 64  // questions of a session that may still be confirmed
	maxSessions = 256
)

// maxSaid bounds what a hook says about a question, in bytes.
const maxSaid = 1 << 10

// maxHold is how long a question may keep a host from showing its own prompt.
const maxHold = 2 * time.Minute

// printTimeout is how long a hook may take to say that it has printed an answer.
const printTimeout = 5 * time.Second

// Options are what agents need. All of them are needed.
type Options struct {
	// Converse returns the task of a conversation that a host names, until done is called.
	Converse func(client mcpserver.Client, name string) (t *task.Task, done func(), err error)
	// Ask asks the person; see [broker.Broker.Permit] and [broker.Broker.Question].
	Ask func(ctx context.Context, t *task.Task, q protocol.UseMcpServer) (*task.Answer, error)
	// Forwarded reports whether Assent itself has asked the host now, in a conversation that it names, what a server of Assent
	// asked with this message.
	Forwarded func(client mcpserver.Client, name, message string) bool
	Log       zerolog.Logger
}

// Agents are the agents of a workspace.
type Agents struct {
	opts Options

	mu       sync.Mutex // guards the fields below
	open     int
	sessions map[string][]*asked // by the session's id, the oldest question first
}

// New returns the agents of a workspace, none yet.
func New(opts Options) *Agents { return &Agents{opts: opts, sessions: map[string][]*asked{}} }

// host is a program of agents.
type host struct {
	client mcpserver.Client
	title  string
	// tells: its hook says at its end what became of the question. Nothing else does, and an agent may have several at once.
	tells bool
}

// readers read what the hosts tell their hooks, by the name of the host on the command line.
var readers = map[string]func(raw []byte) (*Event, error){"claude": readClaude, "opencode": readOpencode}

// Names returns the names of the hosts.
func Names() []string { return slices.Sorted(maps.Keys(readers)) }

// Read reads what a host says to its hook. An error means that Assent has nothing to say to it.
func Read(name string, raw []byte) (*Event, error) {
	read := readers[name]
	if read == nil {
		return nil, fmt.Errorf("the agent %q is unknown", name)
	}
	return read(raw)
}

// Event is what a host tells its hook.
type Event struct {
	host           *host
	kind           kind
	session, agent string
	use            use
	question       protocol.UseMcpServer
	// about is what is about to run, or may run if the person allows it; nil for all else.
	about *askfirst.Use
	// form is the form of a server of the host; nil for all else.
	form *protocol.McpElicitationRequest
	// decide returns what the hook prints after an answer; nil for no decision.
	decide func(*task.Answer) (json.RawMessage, error)
}

// kind is the kind of an event.
type kind int

const (
	asks         kind = iota // may the agent do this?
	ran                      // a tool ran, whether or not it failed
	turnEnded                // the agent is done
	turnBegan                // the person wrote to the agent
	sessionEnded             // the host ended
	uses                     // a tool is about to run
	starts                   // the host starts, and reads its own rules
)

// Host returns the name of the host for a person.
func (e *Event) Host() string { return e.host.title }

// Tells reports whether the hook has a second line for [Agents.Serve], with what became of its question.
func (e *Event) Tells() bool { return e.host.tells }

// Asks reports whether the event is a question for a person.
func (e *Event) Asks() bool { return e.kind == asks }

// Starts reports whether the host starts and takes the rules of [AskAtStart].
func (e *Event) Starts() bool { return e.kind == starts }

// Use returns the use of a tool that an agent is about to make in a session of a folder. It is for [askfirst.Find],
// which says whether the agent asks the person first. It is nil for all other events.
func (e *Event) Use(folder string) *askfirst.Use {
	if e.kind != uses {
		return nil
	}
	return e.in(folder)
}

// Explain has the question about a permission say which rule of the person is about it, in a session of a folder. The sentence of
// why is empty if there is none.
func (e *Event) Explain(folder string, why func(*askfirst.Use) string) {
	if q, ok := e.question.(protocol.HostPermission); ok {
		q.AskFirst = why(e.in(folder))
		e.question = q
	}
}

// in returns the use that an event is about, in a session of a folder.
func (e *Event) in(folder string) *askfirst.Use {
	about := *e.about
	about.Folder = cmp.Or(folder, about.Cwd)
	return &about
}

// use identifies a use of a tool.
type use struct {
	turn, tool string
	input      [sha256.Size]byte
}

// asked is a question of an agent that is open, or that the host has not confirmed yet. The lock of [Agents]
// guards it.
type asked struct {
	host  *host
	agent string
	use
	// apart: only the end of its hook or of the session shows that it is over.
	apart bool
	// end ends the question; nil once it is settled.
	end context.CancelCauseFunc
	// ran is set if the tool ran while the answer was on its way.
	ran bool
	// task and messageID are of the settled ask with the person's yes or no, response; nil if they gave none.
	task      *task.Task
	messageID int64
	response  protocol.AskResponse
}

// ending is how a question ended, in a sentence for a person. %s is the host.
type ending struct {
	reason protocol.OutcomeReason
	detail string
}

var (
	byRun     = ending{protocol.OutcomeAnsweredInHost, "It was allowed in %s's own prompt."}
	byNext    = ending{protocol.OutcomeAnsweredInHost, "%s asks its next question, so this one was answered there."}
	byRepeat  = ending{protocol.OutcomeHostStoppedWaiting, "%s asked the same again, and the newer question counts."}
	byTurn    = ending{protocol.OutcomeHostStoppedWaiting, "%s's turn is over."}
	bySession = ending{protocol.OutcomeHostStoppedWaiting, "%s's session has ended."}
	byHook    = ending{protocol.OutcomeHostStoppedWaiting, "%s took the question back: it was answered or refused there, or its turn or program ended."}
	byHold    = ending{protocol.OutcomeHostStoppedWaiting, "There was no answer for two minutes, so %s asks in its own prompt now."}
	byDaemon  = ending{protocol.OutcomeRestarted, "Assent was closed. %s's own prompt decides."}
)

// ended says how a question of the host ended.
func (h *host) ended(e ending) *task.Ended {
	return &task.Ended{Reason: e.reason, Detail: fmt.Sprintf(e.detail, h.title)}
}

// The sentences for a person about an answer without effect. %s is the host.
const (
	ranAnyway  = "%s did it all the same: it was allowed in its own prompt first."
	notPrinted = "It is not known whether %s got the answer: its own prompt decides then."
)

// Serve serves a hook over conn, which closes with it. To a question it writes a line with what the hook prints, if there is a
// decision. It reads a line once that is printed, or with [Event.Tells] once the host has an answer.
func (a *Agents) Serve(ctx context.Context, conn io.ReadWriteCloser, e *Event) error {
	if e.kind != asks {
		a.note(e)
		return conn.Close()
	}
	asking, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { end(e.host.ended(byDaemon)) })()
	if e.form != nil {
		if a.opts.Forwarded(e.host.client, e.session, e.form.Message) {
			a.opts.Log.Info().Msg("a form is left to the prompt of its host: a server of Assent asks it")
			return conn.Close()
		}
		defer time.AfterFunc(maxHold, func() { end(e.host.ended(byHold)) }).Stop()
	}
	left := e.host.ended(byHook)
	heard := make(chan string, 1) // what the hook says; "" if it leaves without a word
	go func() {
		line, err := mcpserver.ReadLine(bufio.NewReader(conn), maxSaid)
		if err != nil {
			line = nil
		}
		heard <- string(line)
		if why := e.toldBy(string(line)); why != nil {
			end(why)
		}
		end(left)
	}()
	record, output := a.ask(asking, end, left, e)
	var err error
	if output != nil {
		_, err = conn.Write(append(output, '\n'))
		hangUp := func() { _ = conn.Close() }
		stop := context.AfterFunc(ctx, hangUp)
		if !e.host.tells { // whose hook is there until the host has the answer
			stop = time.AfterFunc(printTimeout, hangUp).Stop
		}
		said := <-heard
		stop()
		a.answered(record, e, said)
		err = errors.Join(err, conn.Close())
	} else {
		err = conn.Close()
		<-heard
	}
	return err
}

// ask asks the person, and returns what the hook prints, or nil for no decision. The record is nil without one.
func (a *Agents) ask(ctx context.Context, end context.CancelCauseFunc, left *task.Ended, e *Event) (record *asked, output json.RawMessage) {
	record = &asked{host: e.host, agent: e.agent, use: e.use, apart: e.form != nil || e.host.tells, end: end}
	if !a.begin(e.session, record) {
		a.opts.Log.Warn().Msg("an agent's question is left to its own prompt: too many are open")
		return nil, nil
	}
	answer, t, err := a.askPerson(ctx, e)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	record.end = nil
	if err != nil {
		if e.host.tells || context.Cause(ctx) == error(left) {
			a.forget(e.session, record) // it did not run, or nothing more is said of it
		}
		a.opts.Log.Info().AnErr("because", err).Msg("an agent's question is left to its own prompt")
		return nil, nil
	}
	output, err = e.decide(answer)
	if err != nil || output == nil {
		return nil, nil
	}
	record.task, record.messageID, record.response = t, answer.MessageID, answer.Response
	return record, output
}

// askPerson asks the person in the task of the conversation.
func (a *Agents) askPerson(ctx context.Context, e *Event) (*task.Answer, *task.Task, error) {
	t, done, err := a.opts.Converse(e.host.client, e.session)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	answer, err := a.opts.Ask(ctx, t, e.question)
	return answer, t, err
}

// begin adds a question. An agent asks one after the other, so it ends the agent's earlier one. The form of a server comes while a
// tool runs, and of that there may be several.
func (a *Agents) begin(session string, record *asked) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.sessions[session] {
		switch {
		case r.end == nil || r.agent != record.agent || (r.apart || record.apart) && (r.use != record.use || r.use == use{}):
		case r.use == record.use:
			r.end(r.host.ended(byRepeat))
		default:
			r.end(r.host.ended(byNext))
		}
	}
	if a.open >= maxOpen {
		return false
	}
	a.open++
	records := append(a.sessions[session], record)
	for i := 0; len(records) > maxRecords && i < len(records); {
		if records[i].end == nil {
			records = slices.Delete(records, i, i+1)
			continue
		}
		i++
	}
	a.sessions[session] = records
	for id, others := range a.sessions {
		if len(a.sessions) > maxSessions && !slices.ContainsFunc(others, func(r *asked) bool { return r.end != nil }) {
			delete(a.sessions, id)
		}
	}
	return true
}

// forget removes a question. The lock must be held.
func (a *Agents) forget(session string, record *asked) {
	left := slices.DeleteFunc(a.sessions[session], func(r *asked) bool { return r == record })
	if a.sessions[session] = left; len(left) == 0 {
		delete(a.sessions, session)
	}
}

// answered notes what a hook said after the person's answer; "" if it left without a word.
func (a *Agents) answered(record *asked, e *Event, said string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case record.ran:
		record.hasRun()
	case said == "":
		record.task.Undelivered(record.messageID, fmt.Sprintf(notPrinted, e.host.title))
	case !e.host.tells:
	case said == taken:
		record.task.ActedOn(record.messageID)
	default:
		record.task.Undelivered(record.messageID, "The answer came too late. "+e.toldBy(said).Detail)
	}
	if e.host.tells {
		a.forget(e.session, record)
	}
}

// hasRun notes that the tool has run, if the person said yes or no to it. The lock must be held.
func (r *asked) hasRun() {
	r.ran = true
	switch r.response {
	case protocol.YesButtonClicked:
		r.task.Undelivered(r.messageID, "")
		r.task.ActedOn(r.messageID)
	case protocol.NoButtonClicked:
		r.task.Undelivered(r.messageID, fmt.Sprintf(ranAnyway, r.host.title))
	}
}

// note notes an event that is no question.
func (a *Agents) note(e *Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.kind == ran {
		a.ran(e)
		return
	}
	for _, r := range slices.Clone(a.sessions[e.session]) {
		switch {
		case e.kind == sessionEnded:
			r.over(bySession)
			a.forget(e.session, r)
		case r.agent != e.agent || r.apart && r.end != nil:
		case e.kind == turnBegan:
			r.over(byTurn)
		case e.kind == turnEnded:
			r.over(byTurn)
			a.forget(e.session, r)
			if r.response == protocol.NoButtonClicked {
				r.task.ActedOn(r.messageID)
			}
		}
	}
}

// ran notes that a tool has run. Each run confirms one question about the use: one that the person allowed, else one that is open,
// else one that they refused. The lock must be held.
func (a *Agents) ran(e *Event) {
	var of *asked
	rank := func(r *asked) int {
		switch {
		case r.response == protocol.YesButtonClicked:
			return 2
		case r.end != nil:
			return 1
		}
		return 0
	}
	for _, r := range a.sessions[e.session] {
		if r.agent == e.agent && r.use == e.use && (of == nil || rank(r) > rank(of)) {
			of = r
		}
	}
	if of != nil {
		of.over(byRun)
		a.forget(e.session, of)
		of.hasRun()
	}
}

// over ends a question that is open. The lock must be held.
func (r *asked) over(why ending) {
	if r.end != nil {
		r.end(r.host.ended(why))
	}
}
