package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
)

// cancelTimeout is how long a server has to say that a call is cancelled.
const cancelTimeout = 5 * time.Second

// call runs a tool, and prints its result.
func (s *session) call(ctx context.Context) error { return s.callOf(ctx, s.toolRequest) }

// callOf sends the request that prepare returns, and prints the result.
func (s *session) callOf(ctx context.Context, prepare func(context.Context) (protocol.CallRequest, error)) error {
	task, err := s.newTask(ctx)
	if err != nil {
		return err
	}
	var request protocol.CallRequest
	err = s.untilInterrupted(ctx, func(ctx context.Context) (err error) {
		request, err = prepare(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return s.await(ctx, task.ID, request)
}

// toolRequest returns the request for the tool of the command line. The person fills in missing arguments.
func (s *session) toolRequest(ctx context.Context) (protocol.CallRequest, error) {
	object := s.line.object
	tool, err := s.findTool(ctx)
	switch {
	case err == nil && len(s.line.arguments) > 0:
		if object, err = typed(tool, s.line.arguments); err != nil {
			return nil, err
		}
	case err != nil && (len(s.line.arguments) > 0 || errors.As(err, new(*usageError)) || !s.runs(ctx)):
		return nil, s.explained(ctx, s.line.server, err)
	}
	if err == nil && s.line.object == nil { // the object of --json is sent unchanged
		wanted := wanted{name: "tool " + tool.Name, list: "tools", do: "Run the tool", fields: tool.Fields, byJSON: true}
		if object, err = s.complete(ctx, wanted, object); err != nil {
			return nil, err
		}
	}
	if object == nil {
		object = []byte("{}")
	}
	return protocol.CallToolRequest{ToolName: s.line.tool, Arguments: object, TaskTTL: s.line.taskTTL.Milliseconds()}, nil
}

// await starts a call, and waits for its end. The first interrupt cancels the call, and the second one stops waiting. The
// server may have the call before the sidecar answers that it has started.
func (s *session) await(ctx context.Context, taskID string, request protocol.CallRequest) error {
	var why error // why the call was cancelled
	var late <-chan time.Time
	var result protocol.CallResult
	over := make(chan error, 1)
	refused := make(chan error, 1) // why the call cannot be cancelled
	started := make(chan int64, 1) // the call's message
	waiting, cancel := context.WithCancel(ctx)
	var ending sync.WaitGroup
	stop := func(err error) { // call it only once
		why, late = err, time.After(cancelTimeout)
		ending.Go(func() {
			select {
			case messageID := <-started:
				if _, err := s.sidecar.CancelCall(waiting, &protocol.CancelCallParams{TaskID: taskID, MessageID: messageID}); err != nil {
					refused <- err
				}
			case <-waiting.Done():
			}
		})
	}
	ending.Go(func() {
		call, err := s.sidecar.StartCall(waiting, &protocol.StartCallParams{TaskID: taskID, ServerName: s.line.server, Request: request})
		if err == nil {
			started <- call.MessageID
			result, err = s.end(waiting, askKey{taskID, call.MessageID})
		}
		over <- err
	})
	defer ending.Wait()
	defer cancel()
	for {
		select {
		case err := <-over:
			switch {
			case why != nil:
				return why
			case err != nil:
				return err
			}
			return s.ended(ctx, taskID, result)
		case err := <-s.feed.failed:
			if why == nil {
				stop(err)
			}
		case err := <-refused:
			return errors.Join(why, err)
		case <-s.o.Interrupts:
			if why != nil {
				s.note("Left without waiting for the server.")
				s.left = true
				return errInterrupted
			}
			s.note("\nCancelling the call. Interrupt again to leave at once.")
			stop(errInterrupted)
		case <-late:
			return why
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ended prints a call's result, and returns the error for the exit code. If the server was lost, recorded questions
// that it did not ask do not count as drift.
func (s *session) ended(ctx context.Context, taskID string, result protocol.CallResult) error {
	err := errors.Join(s.finish(result), s.refused(ctx, taskID))
	if errors.As(err, new(*lostError)) {
		return s.explained(ctx, s.line.server, err)
	}
	if s.answerer != nil {
		err = errors.Join(err, s.answerer.end(ctx))
	}
	return err
}

// refused returns an error if requests were refused because no one could answer. The task has no event for them, so
// refused reads the journal.
func (s *session) refused(ctx context.Context, taskID string) error {
	s.reportRefusals()
	list, err := s.sidecar.ListJournal(ctx, &protocol.ListJournalParams{TaskID: taskID, Kind: protocol.JournalRequestDenied})
	if err != nil {
		return fmt.Errorf("the journal cannot be read: %w", err)
	}
	if len(list.Lines) == 0 {
		return nil
	}
	for _, line := range list.Lines {
		s.note("%s", line)
	}
	if s.answerer != nil { // the person set a limit, and the server was told
		return nil
	}
	return &unanswered{"the server asked a question, and there is no person to answer: run it in a terminal, or give --answers"}
}

// known returns an error that names the configured servers if the server is not one of them. A server of this name that
// another front end configured elsewhere does not count.
func (s *session) known(ctx context.Context, name string) error {
	list, err := s.sidecar.ListServers(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, server := range list.Servers {
		if server.Name == name && s.configures(server) {
			return nil
		}
		names = append(names, server.Name)
	}
	if s.configuredBy != "" {
		return usagef("%s is in use by %s with its own servers, and this %q is not one of them: give another folder, or no --data-dir",
			s.line.dataDir, s.configuredBy, name)
	}
	s.problems(list.Problems)
	if slices.ContainsFunc(list.Problems, func(p protocol.ConfigProblem) bool {
		return strings.Contains(p.Message, fmt.Sprintf("server %q", name))
	}) {
		return usagef("the MCP server %q is configured, and cannot be used: see above", name)
	}
	if len(names) == 0 && len(list.Problems) > 0 {
		return usagef("the MCP server %q cannot be used: see above what cannot be read", name)
	}
	if len(names) == 0 {
		return usagef("no MCP server %q is configured: there is none\n%s", name, tryExample)
	}
	return usagef("no MCP server %q is configured%s", name, hint(name, names))
}

// configures reports whether the command line configures a server of the workspace.
func (s *session) configures(server protocol.Server) bool {
	return s.configuredBy == "" || !s.line.alone && slices.ContainsFunc(config.Load(s.line.configuration, config.UserFile()).Servers, func(c config.Server) bool {
		return c.Name == server.Name && c.Source == server.Source
	})
}

// runs reports whether the server runs. A running server may serve calls even if its list of tools cannot be read.
func (s *session) runs(ctx context.Context) bool {
	list, err := s.sidecar.ListServers(ctx)
	return err == nil && slices.ContainsFunc(list.Servers, func(server protocol.Server) bool {
		return server.Name == s.line.server && server.State == protocol.ServerRunning
	})
}

// findTool returns the tool as the server lists it.
func (s *session) findTool(ctx context.Context) (*protocol.Tool, error) {
	list, err := s.sidecar.ListTools(ctx, &protocol.ServerParams{ServerName: s.line.server})
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Tools {
		if list.Tools[i].Name == s.line.tool {
			return &list.Tools[i], nil
		}
		names = append(names, list.Tools[i].Name)
	}
	s.oddities(list.Problems) // it may have been left out
	return nil, &usageError{
		text:   fmt.Sprintf("the server %q has no tool %q%s", s.line.server, s.line.tool, hint(s.line.tool, names)),
		wayOut: fmt.Sprintf("To list all of its tools, run: %s", s.listCommand(ctx, "tools")),
	}
}
