package store

import (
	"encoding/json"
	"fmt"

	"assent/protocol"
)

// chatSchema stores the task's data about the conversation with a model, and the remembered answers about
// tools.
const chatSchema = `
ALTER TABLE tasks ADD COLUMN chat TEXT; -- JSON of chat, or NULL where there is nothing to say
CREATE TABLE tool_rules (
	id         TEXT PRIMARY KEY,
	server     TEXT NOT NULL,
	task_id    TEXT NOT NULL, -- empty where the rule is for all
	created_at INTEGER NOT NULL,
	body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_rules_by_server ON tool_rules (server, created_at);
`

// chat is the column tasks.chat.
type chat struct {
	Running  bool                     `json:"running,omitempty"`
	Queue    []protocol.QueuedMessage `json:"queue,omitempty"`
	Settings *protocol.TaskSettings   `json:"settings,omitempty"`
}

// chatOf returns the column's value for a task: text, or nil.
func chatOf(task *protocol.Task) (any, error) {
	if !task.Running && len(task.Queue) == 0 && task.Settings == nil {
		return nil, nil
	}
	encoded, err := json.Marshal(chat{task.Running, task.Queue, task.Settings})
	if err != nil {
		return nil, fmt.Errorf("encode the conversation's state: %w", err)
	}
	return string(encoded), nil
}

// readChat sets a task's members from the column. It ignores a damaged value, which must not hide the task or
// others.
func readChat(task *protocol.Task, column []byte) {
	var c chat
	if len(column) > 0 && json.Unmarshal(column, &c) == nil {
		task.Running, task.Queue, task.Settings = c.Running, c.Queue, c.Settings
	}
}
