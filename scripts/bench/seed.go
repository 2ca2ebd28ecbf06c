package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// seedCommand makes this program fill a store with long tasks, which would take long through the wire.
// Its arguments are the folder of the store and the tasks' lengths. The first is the newest task.
const seedCommand = "seed"

func seed(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%s takes a folder and lengths, not %q", seedCommand, args)
	}
	s, err := store.Open(args[0])
	if err != nil {
		return err
	}
	for i, arg := range args[1:] {
		length, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: a length: %w", seedCommand, err), s.Close())
		}
		task := protocol.Task{
			ID: fmt.Sprintf("task-of-%d", length), Title: fmt.Sprintf("A task of %d messages", length),
			CreatedAt: firstMoment - int64(i),
		}
		if err := seedTask(ctx, s, task, length); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return s.Close()
}

// firstMoment is when the seeded tasks begin: 2026-11-21, in milliseconds.
const firstMoment = 1_795_219_200_000

func seedTask(ctx context.Context, s *store.Store, task protocol.Task, length int64) error {
	for id := int64(1); id <= length; id++ {
		task.LastNumber = id
		entry := store.Entry{Number: id, Message: protocol.Message{
			ID: id, Time: firstMoment + id*1000, Body: bodyOf(task.ID, id),
		}}
		if ask, ok := entry.Message.Body.(protocol.Ask); ok {
			entry.AskID = ask.AskID
		}
		if err := s.Save(ctx, task, &entry); err != nil {
			return err
		}
	}
	return nil
}

// bodyOf makes the message with an id: of every kind and of many heights, the same ones in each run.
func bodyOf(taskID string, id int64) protocol.Body {
	switch {
	case id%11 == 0:
		return protocol.Notice{Level: protocol.NoticeInfo, Text: fmt.Sprintf("Notice %d: the server was started again.", id)}
	case id%5 == 0:
		return answeredAsk(taskID, id)
	default:
		lines := make([]string, 1+id*7%9)
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d of result %d", i+1, id)
		}
		return protocol.Call{
			ServerName: "seeded",
			Request: protocol.CallToolRequest{
				ToolName: fmt.Sprintf("tool_%d", id), Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, id)),
			},
			EndedAt: firstMoment + id*1000 + 500,
			Result: protocol.ToolResult{
				Content: []protocol.ContentBlock{protocol.TextContent{Text: strings.Join(lines, "\n")}},
			},
		}
	}
}

// answeredAsk is a form that a person filled in.
func answeredAsk(taskID string, id int64) protocol.Ask {
	return protocol.Ask{
		AskID: fmt.Sprintf("%s-%d", taskID, id), Ask: protocol.AskUseMcpServer,
		Question: protocol.McpElicitation{
			Origin: protocol.Origin{ServerName: "seeded"},
			ElicitationRequest: protocol.McpElicitationRequest{
				Message: fmt.Sprintf("Question **%d**: why?", id),
				Fields:  []protocol.Field{protocol.StringField{FieldHead: protocol.FieldHead{Name: "reason", Title: "Reason"}}},
			},
			ElicitationResponse: &protocol.McpElicitationResponse{
				Action: protocol.ActionAccept, Content: json.RawMessage(`{"reason":"because"}`),
			},
		},
		Outcome: &protocol.Outcome{Reason: protocol.OutcomeAnswered, By: "seed", At: firstMoment + id*1000 + 500},
	}
}
