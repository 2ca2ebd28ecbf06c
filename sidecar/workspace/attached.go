package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/awaited"
	"assent/sidecar/base/deadline"
)

// attached holds the front ends of a workspace. A notification goes to all of them. A request goes to one with the needed
// capability: the one that caused it by its own request, or else the one that was used last, of those that suit it best. While
// none is attached, the request waits, and package awaited tells the callers.
type attached struct {
	log zerolog.Logger

	mu          sync.Mutex  // guards the fields below
	all         []*frontEnd // the one that was used last is last
	remoteViews []*frontEnd // of other workspaces, that opened a task
	could       protocol.FrontEndCapabilities
	came        chan struct{} // closed, and replaced, when a front end comes
	closed      bool
	// lastName is the name of the front end that was used last.
	lastName string
	// silent are the front ends that did not answer a request in time. They are not asked again before they do.
	silent map[*frontEnd]bool

	lending sync.WaitGroup // the requests with a timeout
	// answered is called when a silent front end answers.
	answered func()
}

var _ protocol.Conn = (*attached)(nil)

// caller is a context key for the front end that sent the request.
type caller struct{}

// errNobodyAttached is why a request to a front end fails that does not wait for one, or at the workspace's end.
var errNobodyAttached = errors.New("no window of this workspace is open")

// modelsAreAway is what the list of models says without VS Code's.
const modelsAreAway = "VS Code's models can answer while a window of this workspace is open."

// errModelsAway is why VS Code's models cannot be listed.
var errModelsAway = fmt.Errorf("%s: %w", strings.TrimSuffix(modelsAreAway, "."), errNobodyAttached)

func newAttached(log zerolog.Logger) *attached {
	return &attached{log: log, came: make(chan struct{}), silent: map[*frontEnd]bool{}, answered: func() {}}
}

// capabilities returns what any front end could do since the workspace was opened. A capability stays after its front end
// has detached: a question waits until a front end attaches again.
func (a *attached) capabilities() protocol.FrontEndCapabilities {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.could
}

// promise sets the capabilities before a front end is attached. Requests wait for one.
func (a *attached) promise(c protocol.FrontEndCapabilities) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.could = union(a.could, c)
}

// add attaches a front end.
func (a *attached) add(f *frontEnd) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.name == "" {
		f.name = a.free(cmp.Or(f.info.Name, "a front end"))
	}
	a.all = append(slices.Clip(a.all), f) // Notify may be reading the old one
	a.could = union(a.could, f.capabilities)
	a.lastName = f.name
	close(a.came)
	a.came = make(chan struct{})
}

// free returns a name that no attached front end has: two windows can be told apart. The lock must be held.
func (a *attached) free(name string) string {
	free := name
	for n := 2; slices.ContainsFunc(a.all, func(f *frontEnd) bool { return f.name == free }); n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	return free
}

// list returns the attached front ends. The caller must not change it.
func (a *attached) list() []*frontEnd {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all
}

// asks reports whether an attached front end shows questions to the person.
func (a *attached) asks() bool {
	return slices.ContainsFunc(a.list(), func(f *frontEnd) bool { return f.capabilities.Elicitation })
}

func union(a, b protocol.FrontEndCapabilities) protocol.FrontEndCapabilities {
	return protocol.FrontEndCapabilities{
		Elicitation:    a.Elicitation || b.Elicitation,
		Sampling:       a.Sampling || b.Sampling,
		LanguageModels: a.LanguageModels || b.LanguageModels,
		Inputs:         a.Inputs || b.Inputs,
		ConfirmServers: a.ConfirmServers || b.ConfirmServers,
		OpenURL:        a.OpenURL || b.OpenURL,
		Secrets:        a.Secrets || b.Secrets,
		Attention:      a.Attention || b.Attention,
		Apps:           a.Apps || b.Apps,
		AppForms:       a.AppForms || b.AppForms,
	}
}

// remove detaches a front end, if it is attached.
func (a *attached) remove(f *frontEnd) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.all, f); i >= 0 {
		a.all = slices.Delete(slices.Clone(a.all), i, i+1) // Notify may be reading the old one
		delete(a.silent, f)
	}
}

// use notes that this front end made a request.
func (a *attached) use(f *frontEnd) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.all, f); i >= 0 && i < len(a.all)-1 {
		a.all = append(slices.Delete(slices.Clone(a.all), i, i+1), f)
		a.lastName = f.name
	}
}

// name returns the name of the front end that was used last, or of the last one that was attached.
func (a *attached) name() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lastName
}

// close ends the requests that wait for a front end, and all later ones.
func (a *attached) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.closed = true
		close(a.came)
	}
}

// Notify implements [protocol.Conn]: all front ends are told, and the remote views that opened the task. A front end that cannot
// be told detaches by itself, and reads again when it is back.
func (a *attached) Notify(ctx context.Context, method string, params any) error {
	a.mu.Lock()
	all, remote := a.all, a.viewersOf(params)
	a.mu.Unlock()
	for _, f := range remote {
		if err := f.conn.Notify(ctx, method, labelled(params, f.person.label(f.Workspace))); err != nil {
			a.log.Debug().Err(err).Str("frontEnd", f.name).Msg("an event was not delivered to a front end")
		}
	}
	if len(all) > 1 { // marshalled once
		raw, err := json.Marshal(params)
		if err != nil {
			return err
		}
		params = json.RawMessage(raw)
	}
	for _, f := range all {
		if err := f.conn.Notify(ctx, method, params); err != nil {
			a.log.Debug().Err(err).Str("frontEnd", f.name).Msg("an event was not delivered to a front end")
		}
	}
	return nil
}

// Call implements [protocol.Conn] for the notifications alone: a request is made by [lend].
func (a *attached) Call(_ context.Context, method string, _, _ any) error {
	return protocol.Errorf(protocol.CodeInternalError, "%s goes to one front end, and not to all", method)
}

// need says which front ends can serve a request, and how it is to be made.
type need struct {
	can func(protocol.FrontEndCapabilities) bool
	// rather says which of these come first; nil if all are as good. The front end that caused the request comes before them.
	rather func(protocol.FrontEndCapabilities) bool
	// once: it is not made again if its front end goes in the middle.
	once bool
	// now: it fails if no front end with the capability is attached, and does not wait for one.
	now bool
	// timeout bounds the wait for the answer of one front end. After it the next one is asked. 0 is no bound.
	timeout time.Duration
	// window describes the awaited window for a person.
	window string
}

var (
	needsInputs = need{
		can: func(c protocol.FrontEndCapabilities) bool { return c.Inputs }, window: "a window of this workspace to ask you for an input",
	}
	needsConfirmation = need{
		can: func(c protocol.FrontEndCapabilities) bool { return c.ConfirmServers }, window: "a window of this workspace to ask you whether it may run",
		// VS Code and the terminal have dialogs, which a person sees. A browser draws a line in a page that may be behind
		// others.
		rather: needsInputs.can,
	}
	// A page is opened once.
	needsPages = need{
		can: func(c protocol.FrontEndCapabilities) bool { return c.OpenURL }, once: true, window: "a window of this workspace to open a page",
	}
	needsLoginPage = need{can: needsPages.can, once: true, window: "a window to open its login page"}
	needsSecrets   = need{can: func(c protocol.FrontEndCapabilities) bool { return c.Secrets }, now: true, timeout: secretTimeout}
	needsModels    = need{can: func(c protocol.FrontEndCapabilities) bool { return c.LanguageModels }, now: true}
	// Each request to a model is paid for.
	needsCompletion = need{can: needsModels.can, once: true, now: true}
)

// secretTimeout bounds how long one window may take to keep a secret, or to read one. All workspaces wait for it.
const secretTimeout = 5 * time.Second

// silentError says that no front end answers.
type silentError struct{ name string }

func (e *silentError) Error() string {
	return fmt.Sprintf("%s did not answer within %v, and no other window can help", e.name, secretTimeout)
}

// lend has one front end serve a request.
func lend[R any](ctx context.Context, a *attached, n need, serve func(context.Context, *frontEnd) (R, error)) (R, error) {
	for {
		f, err := a.provider(ctx, n)
		if err != nil {
			var none R
			return none, err
		}
		result, answered, err := within(ctx, a, f, n.timeout, serve)
		if !answered {
			continue
		}
		if err == nil || ctx.Err() != nil || n.once || !f.gone() {
			return result, err
		}
		a.remove(f)
	}
}

// within has a front end serve a request, and reports whether it answered in time. The request of a silent one goes on.
func within[R any](ctx context.Context, a *attached, f *frontEnd, limit time.Duration, serve func(context.Context, *frontEnd) (R, error)) (result R, answered bool, err error) {
	if limit == 0 {
		result, err = serve(ctx, f)
		return result, true, err
	}
	type answer struct {
		result R
		err    error
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	answers := make(chan answer, 1)
	a.lending.Go(func() {
		defer cancel()
		result, err := serve(serving, f)
		answers <- answer{result, err}
		a.mu.Lock()
		late := a.silent[f]
		delete(a.silent, f)
		a.mu.Unlock()
		if late && !f.gone() {
			a.log.Info().Str("frontEnd", f.name).Msg("a window answers again")
			a.answered()
		}
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case got := <-answers:
		return got.result, true, got.err
	case <-ctx.Done():
		cancel()
		return result, true, context.Cause(ctx)
	case <-timer.C:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case got := <-answers: // just now
		return got.result, true, got.err
	default:
	}
	if slices.Contains(a.all, f) {
		a.silent[f] = true
	}
	a.log.Warn().Str("frontEnd", f.name).Msg("a window does not answer, and is not asked again before it does")
	return result, false, nil
}

// provider returns a front end for a request. While the request waits for one, its callers are told, and their clocks are
// paused.
func (a *attached) provider(ctx context.Context, n need) (*frontEnd, error) {
	best, came, err := a.pick(ctx, n)
	if best != nil || err != nil {
		return best, err
	}
	a.log.Info().Str("for", n.window).Msg("a request waits")
	defer deadline.Pause(ctx)()
	defer awaited.Begin(ctx, n.window)()
	for {
		select {
		case <-came:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if best, came, err = a.pick(ctx, n); best != nil || err != nil {
			return best, err
		}
	}
}

// pick returns a front end for a request. If there is none to wait for, it returns an error, and else a channel that is
// closed when a front end comes.
func (a *attached) pick(ctx context.Context, n need) (best *frontEnd, came <-chan struct{}, err error) {
	asking, _ := ctx.Value(caller{}).(*frontEnd)
	rank := func(f *frontEnd) int {
		switch {
		case f == asking:
			return 2
		case n.rather != nil && n.rather(f.capabilities):
			return 1
		}
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var silent *frontEnd
	for _, f := range a.all {
		switch {
		case !n.can(f.capabilities):
		case n.timeout > 0 && a.silent[f]:
			silent = f
		case best == nil || rank(f) >= rank(best): // the one that was used last is last
			best = f
		}
	}
	if best == nil && silent != nil {
		return nil, nil, &silentError{silent.name}
	}
	if best == nil && (a.closed || n.now) {
		return nil, nil, errNobodyAttached
	}
	return best, a.came, nil
}

// gone reports whether the connection is over.
func (f *frontEnd) gone() bool {
	select {
	case <-f.conn.Done():
		return true
	default:
		return false
	}
}

// editor is all attached front ends as one: see [attached].
type editor struct {
	protocol.FrontEnd // the notifications
	attached          *attached
}

// PromptInput implements [protocol.FrontEnd].
func (e editor) PromptInput(ctx context.Context, params *protocol.PromptInputParams) (*protocol.PromptInputResult, error) {
	return lend(ctx, e.attached, needsInputs, func(ctx context.Context, f *frontEnd) (*protocol.PromptInputResult, error) {
		return f.own.PromptInput(ctx, params)
	})
}

// OpenURL implements [protocol.FrontEnd].
func (e editor) OpenURL(ctx context.Context, params *protocol.OpenURLParams) (*protocol.OpenURLResult, error) {
	return lend(ctx, e.attached, needsPages, func(ctx context.Context, f *frontEnd) (*protocol.OpenURLResult, error) {
		return f.own.OpenURL(ctx, params)
	})
}

// ListLanguageModels implements [protocol.FrontEnd].
func (e editor) ListLanguageModels(ctx context.Context) (*protocol.ListLanguageModelsResult, error) {
	list, err := lend(ctx, e.attached, needsModels, func(ctx context.Context, f *frontEnd) (*protocol.ListLanguageModelsResult, error) {
		return f.own.ListLanguageModels(ctx)
	})
	return list, modelsAway(err)
}

// modelsAway returns the error of a request for VS Code's models.
func modelsAway(err error) error {
	if errors.Is(err, errNobodyAttached) {
		return errModelsAway
	}
	return err
}

// SendLanguageModelRequest implements [protocol.FrontEnd].
func (e editor) SendLanguageModelRequest(ctx context.Context, params *protocol.LanguageModelRequest) (*protocol.LanguageModelResponse, error) {
	response, err := lend(ctx, e.attached, needsCompletion, func(ctx context.Context, f *frontEnd) (*protocol.LanguageModelResponse, error) {
		return f.own.SendLanguageModelRequest(ctx, params)
	})
	return response, modelsAway(err)
}
