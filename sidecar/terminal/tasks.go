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

// tasksCommand is "assent tasks", with its subcommands.
func tasksCommand(o Options) *cobra.Command {
	server := func(flags *pflag.FlagSet, l *commandLine) {
		flags.StringVar(&l.server, "server", "", "the `name` of the task's server, if no conversation has the task")
	}
	list := command{
		use: "tasks [SERVER]", short: "list the MCP tasks: long-running calls", words: maybeServerWord, keeps: true,
		long: `tasks lists the MCP tasks of the conversations in --data-dir: their ids, states, servers, tools and conversations. Those of
other open workspaces follow, with the workspace after the conversation. With SERVER, it starts that server and also lists
the tasks that only the server knows. A task is "expired" when its server no longer has to keep it, and "lost" when its
server no longer knows it.`,
		example: `  assent call demo research --data-dir kept     # may become an MCP task
  assent tasks --data-dir kept
  assent tasks demo                             # those of the server, too
  assent tasks resume 786512e2 --data-dir kept
  assent tasks cancel 786512e2 --server demo`,
		run: atOnce(func(ctx context.Context, s *session) error { return s.listTasks(ctx) }),
	}.build(o)
	list.AddCommand(command{
		use: "resume ID", short: "follow an MCP task to its result, and answer its questions", words: otherWords, own: []string{"ID"}, keeps: true,
		long: `resume waits for the end of an MCP task, asks you its server's questions, and prints its result as call does. A unique
beginning of the id is enough. Ctrl-C ends the command; the task continues.`,
		example: "  assent tasks resume 786512e2 --data-dir kept\n  assent tasks resume 786512e2 --server demo --answers yes.yaml",
		flags:   func(flags *pflag.FlagSet, l *commandLine) { asking(flags, l); server(flags, l) },
		run: func(ctx context.Context, s *session, words []string) error {
			return s.keep(s.untilInterrupted(ctx, func(ctx context.Context) error { return s.resume(ctx, words[0]) }))
		},
	}.build(o), command{
		use: "cancel ID", short: "cancel an MCP task", words: otherWords, own: []string{"ID"}, keeps: true,
		long:    "cancel asks the server of an MCP task to end it, and waits for the confirmation. A unique beginning of the id is enough.",
		example: "  assent tasks cancel 786512e2 --data-dir kept",
		flags:   server,
		run: func(ctx context.Context, s *session, words []string) error {
			return s.untilInterrupted(ctx, func(ctx context.Context) error { return s.cancelTask(ctx, words[0]) })
		},
	}.build(o), command{
		use: "separate ID", short: "run a call that came again on its own", words: otherWords, own: []string{"ID"}, keeps: true,
		long: `A host may make a call again while a question of the first one is open. Both calls then get one result. separate runs the
newest one on its own, with questions of its own. ID is that of the first call's MCP task, or its unique beginning.`,
		example: "  assent tasks separate 786512e2",
		run: func(ctx context.Context, s *session, words []string) error {
			return s.untilInterrupted(ctx, func(ctx context.Context) error { return s.separate(ctx, words[0]) })
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
	entries, err := s.mcpTasks(ctx)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if s.line.server == "" || entry.Call.ServerName == s.line.server && entry.Workspace == "" {
			all.McpTasks = append(all.McpTasks, entry)
		}
	}
	for _, p := range all.Problems {
		s.note("%s: %s", p.ServerName, p.Message)
	}
	list := table{columns: []column{{header: "id", ids: true}, {header: "status"}, {header: "server"}, {header: "tool"}, {header: "title"}}}
	for _, v := range all.McpTasks {
		title := v.Title
		if v.Workspace != "" {
			title += " (" + v.Workspace + ")"
		}
		s.cameAgain(v.Call)
		list.rows = append(list.rows, []string{v.Call.Task.TaskID, calledStatus(v.Call, time.Now()), v.Call.ServerName, calledName(v.Call.Request), title})
	}
	for _, v := range all.ServerMcpTasks {
		list.rows = append(list.rows, []string{v.McpTaskID, mcpStatus(v.Status, v.ExpiresAt, time.Now()), v.ServerName, "", v.StatusMessage})
	}
	empty := "There are no MCP tasks in " + s.line.dataDir + "."
	if s.line.server != "" {
		empty = fmt.Sprintf("Neither a conversation in %s nor the server %q has an MCP task.", s.line.dataDir, s.line.server)
	}
	return s.list(all, list, empty)
}

// mcpTasks returns all MCP tasks of the conversations. An entry that changes between two pages is in both; mcpTasks
// returns it once.
func (s *session) mcpTasks(ctx context.Context) ([]protocol.McpTaskEntry, error) {
	page, err := s.sidecar.ListMcpTasks(ctx)
	var all []protocol.McpTaskEntry
	seen := map[askKey]bool{}
	for {
		if err != nil {
			return nil, err
		}
		for _, entry := range page.McpTasks {
			if key := (askKey{entry.TaskID, entry.MessageID}); !seen[key] {
				seen[key] = true
				all = append(all, entry)
			}
		}
		for _, workspace := range page.NotAnswering {
			s.note("The workspace %s does not answer now: its MCP tasks are left out.", safe(workspace))
		}
		if page.NextCursor == "" {
			return all, nil
		}
		page, err = s.sidecar.MoreMcpTasks(ctx, &protocol.MoreMcpTasksParams{Cursor: page.NextCursor})
	}
}

// calledStatus returns the state of a call's MCP task in one word.
func calledStatus(c protocol.Call, now time.Time) string {
	switch c.Result.(type) {
	case nil:
		return mcpStatus(c.Task.Status, c.Task.ExpiresAt, now)
	case protocol.CallLost:
		return "lost"
	default:
		return string(c.Task.Status)
	}
}

// mcpStatus returns the status that the server reported, if the server may still know the task.
func mcpStatus(status protocol.McpTaskStatus, expiresAt int64, now time.Time) string {
	if expiresAt != 0 && expiresAt <= now.UnixMilli() {
		return "expired"
	}
	return string(status)
}

// calledName names the tool or resource of a call.
func calledName(r protocol.CallRequest) string {
	switch r := r.(type) {
	case protocol.CallToolRequest:
		return r.ToolName
	case protocol.ReadResourceRequest:
		return r.URI
	}
	return ""
}

// follow returns the call that stands for an MCP task, and the call's result if it has ended. For a task that only its
// server knows, follow starts a call.
func (s *session) follow(ctx context.Context, id string) (askKey, protocol.CallResult, error) {
	found, err := s.find(ctx, id)
	switch {
	case err != nil:
		return askKey{}, nil, err
	case found.McpTask != nil:
		key := askKey{found.McpTask.TaskID, found.McpTask.MessageID}
		result, err := s.open(ctx, key)
		return key, result, err
	}
	task, err := s.newTask(ctx)
	if err != nil {
		return askKey{}, nil, err
	}
	call, err := s.sidecar.StartCall(ctx, &protocol.StartCallParams{
		TaskID: task.ID, ServerName: s.line.server, Request: protocol.TaskResultRequest{McpTaskID: found.ServerMcpTask.McpTaskID},
	})
	if err != nil {
		return askKey{}, nil, err
	}
	return askKey{task.ID, call.MessageID}, nil, nil
}

// find returns the MCP task with an id.
func (s *session) find(ctx context.Context, id string) (*protocol.GetMcpTaskResult, error) {
	if id == "" {
		return nil, usagef("ID is missing")
	}
	found, err := s.sidecar.GetMcpTask(ctx, &protocol.GetMcpTaskParams{McpTaskID: id, ServerName: s.line.server})
	var refusal *protocol.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == protocol.CodeUnknownMcpTask:
		return nil, s.unknownMcpTask(ctx, id)
	case errors.As(err, &refusal) && refusal.Code == protocol.CodeInvalidParams:
		return nil, usagef("%s by --server", refusal.Message)
	}
	return found, err
}

// cameAgain tells the person that a host has made an equal call again, which gets the result of an MCP task's call.
func (s *session) cameAgain(c protocol.Call) {
	if c.Joined == nil || c.Task == nil {
		return
	}
	said := "The same call came again. Your answer is for both."
	if c.Joined.GivenUp {
		said = "The same call came again, after the first one was given up. Your answer is for the one that came again."
	}
	if c.Joined.Separable {
		said += " To run it on its own: assent tasks separate " + safe(c.Task.TaskID)
	}
	s.note("%s: %s", safe(calledName(c.Request)), said)
}

// separate runs the equal call that joined the call of an MCP task on its own.
func (s *session) separate(ctx context.Context, id string) error {
	found, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	result := &protocol.RunSeparatelyResult{}
	if found.McpTask != nil {
		result, err = s.sidecar.RunSeparately(ctx, &protocol.RunSeparatelyParams{TaskID: found.McpTask.TaskID, MessageID: found.McpTask.MessageID})
	}
	switch {
	case err != nil:
		return err
	case !result.Started:
		return fmt.Errorf("no call waits for the result of the MCP task %q beside its own", id)
	}
	return s.print("it runs on its own\n")
}

// unknownMcpTask returns the error that no MCP task has an id. The error lists the existing MCP tasks.
func (s *session) unknownMcpTask(ctx context.Context, id string) error {
	if s.line.server != "" {
		return usagef("neither a conversation in %s nor the server %q has an MCP task %q", s.line.dataDir, s.line.server, id)
	}
	entries, err := s.mcpTasks(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.Call.Task.TaskID)
	}
	return usagef("no conversation in %s or in another open workspace has an MCP task %q%s (one that only its server knows needs --server)", s.line.dataDir, id, hint(id, ids))
}

// open opens the conversation of a call, and starts to answer its open asks. It returns the call's result, or nil while
// the call runs.
func (s *session) open(ctx context.Context, call askKey) (protocol.CallResult, error) {
	s.owns(call.taskID)
	open, err := s.sidecar.OpenTask(ctx, &protocol.OpenTaskParams{TaskID: call.taskID})
	if err != nil {
		return nil, err
	}
	for _, m := range open.Messages {
		if ask, ok := m.Body.(protocol.Ask); ok && ask.Outcome == nil {
			s.feed.events.put(protocol.TaskEventParams{TaskID: call.taskID, Event: protocol.MessageAdded{Message: m}})
		}
	}
	page, err := s.sidecar.OpenTask(ctx, &protocol.OpenTaskParams{TaskID: call.taskID, Before: call.messageID + 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	for _, m := range page.Messages {
		if c, ok := m.Body.(protocol.Call); ok && m.ID == call.messageID {
			s.feed.followed = c
			s.cameAgain(c)
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
		for _, event := range s.feed.watched.take() {
			params, ok := event.(protocol.TaskEventParams)
			if !ok || params.TaskID != call.taskID {
				continue
			}
			switch e := params.Event.(type) {
			case protocol.CallEnded:
				if e.MessageID == call.messageID {
					return e.Result, nil
				}
			case protocol.CallJoined:
				if e.MessageID == call.messageID {
					s.feed.followed.Joined = e.Joined
					s.cameAgain(s.feed.followed)
				}
			}
		}
		select {
		case <-s.feed.watched.ready:
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
	waiting, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	result, err = s.end(waiting, key)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("the server was asked to cancel %q, and did not confirm within %v", id, cancelTimeout.Round(time.Second))
	case err != nil:
		return err
	}
	if _, cancelled := result.(protocol.CallCancelled); cancelled {
		return s.print("cancelled\n")
	}
	return s.finish(result) // the task had ended before
}
