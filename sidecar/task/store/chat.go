package store

import (
	"encoding/json"
	"fmt"

	"assent/protocol"
)

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
