package terminal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assent/protocol"
)

// tasksCommand is "assent tasks", with what can be done to one.
func tasksCommand(o Options) *cobra.Command {
	server := func(flags *pflag.FlagSet, l *commandLine) {
		flags.StringVar(&l.server, "server", "", "the server of a task that no conversation has")
	}
	list := command{
		use: "tasks [SERVER]", short: "list the MCP tasks: what servers work on for long", words: maybeServerWord, keeps: true,
		long: `tasks lists the MCP tasks of the conversations that are kept in --data-dir: their ids, how they are, their servers,
tools and conversations. With SERVER, that is started and asked for those that it alone knows, too.`,
		example: `  assent call demo research --data-dir kept     # becomes a task, and may be interrupted
  assent tasks --data-dir kept
  assent tasks demo                             # also those that only the server knows
  assent tasks resume 786512e2 --data-dir kept
  assent tasks cancel 786512e2 --server demo`,
		run: atOnce(func(ctx context.Context, s *session) error { return s.listTasks(ctx) }),
	}.build(o)
	list.AddCommand(command{
		use: "resume ID", short: "follow an MCP task to its result, answering what it asks", words: otherWords, own: []string{"ID"}, keeps: true,
		long: `resume waits for the end of an MCP task, asks you what its server asks meanwhile, and prints its result as call does.
Ctrl-C leaves; the task goes on.`,
		example: "  assent tasks resume 786512e2 --data-dir kept\n  assent tasks resume 786512e2 --server demo --answers yes.yaml",
		flags:   func(flags *pflag.FlagSet, l *commandLine) { asking(flags, l); server(flags, l) },
		run: func(ctx context.Context, s *session, words []string) error {
			return s.keep(s.untilInterrupted(ctx, func(ctx context.Context) error { return s.resume(ctx, words[0]) }))
		},
	}.build(o), command{
		use: "cancel ID", short: "have the server of an MCP task end it", words: otherWords, own: []string{"ID"}, keeps: true,
		example: "  assent tasks cancel 786512e2 --data-dir kept",
		flags:   server,
		run: func(ctx context.Context, s *session, words []string) error {
			return s.untilInterrupted(ctx, func(ctx context.Context) error { return s.cancelTask(ctx, words[0]) })
		},
	}.build(o))
	return list
}

func (s *session) listTasks(ctx context.Context) error {
	var all struct {
		McpTasks       []protocol.McpTaskEntry          `json:"mcpTasks,omitempty"`
		ServerMcpTasks []protocol.ServerMcpTask         `json:"serverMcpTasks,omitempty"`
		Problems       []protocol.ServerMcpTasksProblem `json:"problems,omitempty"`
	}
	if s.line.server != "" {
		if _, err := s.sidecar.StartServer(ctx, s.server()); err != nil {
			return err
		}
		list, err := s.sidecar.ListServerMcpTasks(ctx)
		if err != nil {
			return err
		}
		all.ServerMcpTasks, all.Problems = list.McpTasks, list.Problems
	}
	list, err := s.sidecar.ListMcpTasks(ctx)
	if err != nil {
		return err
	}
	for _, entry := range list.McpTasks {
		if s.line.server == "" || entry.Call.ServerName == s.line.server {
			all.McpTasks = append(all.McpTasks, entry)
		}
	}
	for _, p := range all.Problems {
		s.note("%s: %s", p.ServerName, p.Message)
	}
	if s.line.json {
		return s.printJSON(all)
	}
	err = listed(s, nil, all.McpTasks, func(v protocol.McpTaskEntry) []string {
		return []string{v.Call.Task.TaskID, string(v.Call.Task.Status), v.Call.ServerName, calledName(v.Call.Request), v.Title}
	})
	if err != nil {
		return err
	}
	return listed(s, nil, all.ServerMcpTasks, func(v protocol.ServerMcpTask) []string {
		return []string{v.McpTaskID, string(v.Status), v.ServerName, "", v.StatusMessage}
	})
}

// calledName is what a call is of.
func calledName(r protocol.CallRequest) string {
	switch r := r.(type) {
	case protocol.CallToolRequest:
		return r.ToolName
	case protocol.ReadResourceRequest:
		return r.URI
	}
	return ""
}

// follow returns the call that stands for an MCP task, and how it ended where it has. One that only its server knows
// becomes a call.
func (s *session) follow(ctx context.Context, id string) (askKey, protocol.CallResult, error) {
	list, err := s.sidecar.ListMcpTasks(ctx)
	if err != nil {
		return askKey{}, nil, err
	}
	var found []protocol.McpTaskEntry
	var ids []string
	for _, entry := range list.McpTasks {
		ids = append(ids, entry.Call.Task.TaskID)
		if entry.Call.Task.TaskID == id && (s.line.server == "" || s.line.server == entry.Call.ServerName) {
			found = append(found, entry)
		}
	}
	switch {
	case len(found) > 1 && found[0].Call.ServerName != found[1].Call.ServerName:
		return askKey{}, nil, usagef("several servers have an MCP task %q: say whose by --server", id)
	case len(found) > 0:
		key := askKey{found[0].TaskID, found[0].MessageID}
		result, err := s.open(ctx, key)
		return key, result, err
	case s.line.server == "":
		return askKey{}, nil, usagef("no conversation in %s has an MCP task %q%s (one that only its server knows needs --server)", s.line.dataDir, id, hint(id, ids))
	}
	task, err := s.sidecar.CreateTask(ctx, &protocol.CreateTaskParams{})
	if err != nil {
		return askKey{}, nil, err
	}
	call, err := s.sidecar.StartCall(ctx, &protocol.StartCallParams{
		TaskID: task.ID, ServerName: s.line.server, Request: protocol.TaskResultRequest{McpTaskID: id},
	})
	if err != nil {
		return askKey{}, nil, err
	}
	return askKey{task.ID, call.MessageID}, nil, nil
}

// open opens a conversation for a call of it, whose end it returns; nil where it runs. What is asked there already
// is asked here.
func (s *session) open(ctx context.Context, call askKey) (protocol.CallResult, error) {
	open, err := s.sidecar.OpenTask(ctx, &protocol.OpenTaskParams{TaskID: call.taskID})
	if err != nil {
		return nil, err
	}
	if where := open.Task.Elsewhere; where != nil {
		return nil, fmt.Errorf("the conversation is live in %s: follow it there, or close that first", where.Window)
	}
	for _, m := range open.Messages {
		if ask, ok := m.Body.(protocol.Ask); ok && ask.Outcome == nil {
			s.events.put(protocol.TaskEventParams{TaskID: call.taskID, Event: protocol.MessageAdded{Message: m}})
		}
	}
	page, err := s.sidecar.OpenTask(ctx, &protocol.OpenTaskParams{TaskID: call.taskID, Before: call.messageID + 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	for _, m := range page.Messages {
		if c, ok := m.Body.(protocol.Call); ok && m.ID == call.messageID {
			return c.Result, nil
		}
	}
	return nil, fmt.Errorf("the conversation has no message %d", call.messageID)
}

func (s *session) resume(ctx context.Context, id string) error {
	key, result, err := s.follow(ctx, id)
	if err == nil && result == nil {
		result, err = s.end(ctx, key)
	}
	if err != nil {
		return err
	}
	return s.ended(ctx, key.taskID, result)
}

// end waits for the end of a call.
func (s *session) end(ctx context.Context, call askKey) (protocol.CallResult, error) {
	for {
		for _, event := range s.watched.take() {
			params, ok := event.(protocol.TaskEventParams)
			if !ok || params.TaskID != call.taskID {
				continue
			}
			if ended, ok := params.Event.(protocol.CallEnded); ok && ended.MessageID == call.messageID {
				return ended.Result, nil
			}
		}
		select {
		case <-s.watched.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *session) cancelTask(ctx context.Context, id string) error {
	key, result, err := s.follow(ctx, id)
	switch {
	case err != nil:
		return err
	case result != nil:
		return fmt.Errorf("the MCP task %q has ended: assent tasks resume %s prints its result", id, id)
	}
	if _, err := s.sidecar.CancelCall(ctx, &protocol.CancelCallParams{TaskID: key.taskID, MessageID: key.messageID}); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	result, err = s.end(waiting, key)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("the server was asked to cancel %q, and has not said that it did within %v", id, farewell.Round(time.Second))
	case err != nil:
		return err
	}
	if _, cancelled := result.(protocol.CallCancelled); cancelled {
		return s.print("cancelled\n")
	}
	return s.finish(result) // it was done before
}
