package workspace

import (
	"context"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/broker/askfirst"
)

// Person is what the workspaces of a process have in common, because they are one person's: the inbox, which adds up over
// all of them, who notifies the person, and the logins. Its methods may be called from any goroutine. The zero value is
// ready. Close it after its workspaces.
type Person struct {
	// Timeout bounds how long a workspace may take to answer for others: its disk may hang. 0 means [DefaultTimeout].
	Timeout time.Duration
	// Notify shows a notification of the operating system. Nil shows none.
	Notify func(text string) error
	// AskFirst are the person's rules about what the hosts of agents ask first; nil for none.
	AskFirst *askfirst.Rules

	telling sync.WaitGroup

	mu     sync.Mutex   // guards the fields below
	open   []*Workspace // in the order in which they were opened
	labels map[*Workspace]string
	logins map[string]*sharedLogins // by the folder of their logins
	// last is the front end that was used last, and uses counts how often it was another one.
	last *frontEnd
	uses int64
	// changes counts the changes of open asks in all workspaces, and the workspaces that went.
	changes int64
	// notified is when Notify was called last.
	notified time.Time
	// due says that the front ends do not have the present state yet. A goroutine sends it while running is set.
	due, running, closed bool
}

// DefaultTimeout is [Person.Timeout].
const DefaultTimeout = 2 * time.Second

// standing is how things stand for a front end.
type standing struct {
	protocol.OthersChangedParams
	// others counts the changes in the other workspaces.
	others int64
}

// AskFirstChanged tells the front ends of all workspaces that [Person.AskFirst] changed.
func (p *Person) AskFirstChanged() {
	p.mu.Lock()
	open := slices.Clone(p.open)
	p.mu.Unlock()
	for _, w := range open {
		w.policy.Changed()
	}
}

// Busy returns what must not be lost and is nowhere but in memory, or an empty text.
func (p *Person) Busy() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.logins {
		if k.auth.Renewing() != nil { // first: it ends with a secret
			return "a login is renewed"
		}
		if k.secrets.wait() {
			return "a login waits for a window that keeps it"
		}
	}
	return ""
}

// Close ends the background work. The workspaces must be closed.
func (p *Person) Close() {
	p.mu.Lock()
	p.closed = true
	all := p.logins
	p.logins = nil
	p.mu.Unlock()
	for _, k := range all {
		k.close()
	}
	p.telling.Wait()
}

// Attended reports whether a front end is attached in which the person sees each question. A command in a terminal shows only
// its own.
func (p *Person) Attended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.open, func(w *Workspace) bool {
		return slices.ContainsFunc(w.attached.list(), func(f *frontEnd) bool { return f.capabilities.Elicitation && !f.transient })
	})
}

// enter adds a workspace, which has all its parts.
func (p *Person) enter(w *Workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, w)
}

// leave removes a workspace. Its front ends must be detached.
func (p *Person) leave(w *Workspace) {
	p.mu.Lock()
	p.open = slices.DeleteFunc(slices.Clone(p.open), func(o *Workspace) bool { return o == w })
	delete(p.labels, w)
	p.changes++
	over := p.release(w.logins, w.Lasting())
	p.mu.Unlock()
	if over {
		w.logins.close()
	}
	p.tellSoon()
}

// others returns the other open workspaces, in the order in which they were opened.
func (p *Person) others(w *Workspace) []*Workspace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.open), func(o *Workspace) bool { return o == w })
}

// name gives a workspace its label: the first of the names that no other open workspace has, else the last one.
func (p *Person) name(w *Workspace, names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.labels == nil {
		p.labels = map[*Workspace]string{}
	}
	for _, name := range names {
		p.labels[w] = name
		taken := false
		for other, label := range p.labels {
			taken = taken || other != w && label == name
		}
		if !taken {
			return
		}
	}
}

// label returns what to call a workspace in another one.
func (p *Person) label(w *Workspace) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.labels[w]
}

// Label returns what to call the workspace: by its folders, or nothing before its first configuration.
func (w *Workspace) Label() string { return w.person.label(w) }

// asksChanged notes that an ask of a workspace came or was settled.
func (p *Person) asksChanged(w *Workspace) {
	p.mu.Lock()
	p.changes++
	w.counted.changes++
	alone := len(p.open) < 2
	p.mu.Unlock()
	if !alone {
		p.tellSoon()
	}
}

// use notes that the person uses a front end.
func (p *Person) use(f *frontEnd) {
	p.mu.Lock()
	if p.last == f {
		p.mu.Unlock()
		return
	}
	p.last = f
	p.uses++
	f.usedAt = p.uses
	p.mu.Unlock()
	f.attached.use(f)
	f.logins.attached.use(f)
	p.tellSoon()
}

// forget forgets a front end that is detached.
func (p *Person) forget(f *frontEnd) {
	p.mu.Lock()
	if p.last == f {
		p.last = nil
	}
	p.mu.Unlock()
	p.tellSoon()
}

// standingOf returns how things stand for a new front end of a workspace.
func (p *Person) standingOf(w *Workspace) standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return standing{others: p.changes - w.counted.changes}
}

// tellSoon tells the front ends the present state, in another goroutine because a task may be locked. Changes during
// that are told at once after it.
func (p *Person) tellSoon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = !p.closed
	if p.due && !p.running {
		p.running = true
		p.telling.Go(p.tell)
	}
}

// tell tells each front end for which something changed. It looks at no task: the workspaces have counted.
func (p *Person) tell() {
	for {
		p.mu.Lock()
		if !p.due {
			p.running = false
			p.mu.Unlock()
			return
		}
		p.due = false
		var all []*frontEnd
		var told []standing
		notifies := map[*Workspace]*frontEnd{} // for each workspace the one that was used last, and for nil of all
		unattended := 0
		for _, w := range p.open {
			for _, f := range w.attached.list() {
				all = append(all, f)
				told = append(told, standing{others: p.changes - w.counted.changes})
				for _, of := range []*Workspace{nil, w} {
					if best := notifies[of]; f.capabilities.Attention && (best == nil || best.usedAt < f.usedAt) {
						notifies[of] = f
					}
				}
			}
			if !w.attached.asks() {
				unattended += w.counted.waiting.count()
			}
		}
		for i, f := range all {
			told[i].Quiet = f.capabilities.Attention && notifies[f.Workspace] != f
			if notifies[nil] == f {
				told[i].Unattended = unattended
			}
		}
		p.mu.Unlock()
		for i, f := range all {
			if f.told == told[i] {
				continue
			}
			f.told = told[i]
			if err := f.own.OthersChanged(context.Background(), &told[i].OthersChangedParams); err != nil {
				f.opts.Log.Debug().Err(err).Str("frontEnd", f.name).Msg("an event was not delivered to a front end")
			}
		}
	}
}

// counted is what the person's other workspaces hear of a workspace.
type counted struct {
	changes int64 // counts the changes of open asks. The person's lock guards it.
	waiting waiting
}

// waiting counts the asks of a workspace that wait for a person.
type waiting struct {
	mu           sync.Mutex // guards the fields below
	tasks        map[string]taskAsks
	unattributed int
	total        int // of the tasks
}

// taskAsks is how many asks were open in a task after the event with this number.
type taskAsks struct {
	number int64
	open   int
}

// note takes in the count of a task, and reports whether it changes anything.
func (c *waiting) note(taskID string, number int64, open int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.tasks[taskID]
	if number < known.number {
		return false
	}
	if c.tasks == nil {
		c.tasks = map[string]taskAsks{}
	}
	c.tasks[taskID] = taskAsks{number, open}
	c.total += open - known.open
	return open != known.open
}

func (c *waiting) setUnattributed(count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unattributed = count
}

func (c *waiting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total + c.unattributed
}

// events are the workspace's editor for its tasks. They count the asks.
type events struct {
	protocol.FrontEnd
	workspace *Workspace
}

// TaskEvent implements [task.Events].
func (e events) TaskEvent(ctx context.Context, params *protocol.TaskEventParams) error {
	if e.workspace.counted.waiting.note(params.TaskID, params.Number, params.OpenAsks) {
		e.workspace.person.asksChanged(e.workspace)
	}
	e.workspace.hosts.TaskEvent(params)
	return e.FrontEnd.TaskEvent(ctx, params)
}

// countAsks counts the asks that the store has. It reads the store.
func (w *Workspace) countAsks() {
	all, err := w.tasks.List()
	if err != nil {
		return // the first request says why
	}
	changed := false
	for _, t := range all {
		if t.OpenAsks > 0 {
			changed = w.counted.waiting.note(t.ID, t.LastNumber, t.OpenAsks) || changed
		}
	}
	if changed {
		w.person.asksChanged(w)
	}
}
