package main

import (
	"encoding/json"
	"fmt"

	"assent/protocol"
)

// happened is what a sidecar or a host says: an ask, or the end of a call.
type happened struct {
	taskID string
	// askID and question are of an ask, else empty.
	askID, question string
	// result is a call's result on the wire, or nil.
	result json.RawMessage
}

// shownMessage is the part of a message that says what to answer.
type shownMessage struct {
	Body struct {
		AskID    string `json:"askId"`
		Question struct {
			ElicitationRequest struct {
				Message string `json:"message"`
			} `json:"elicitationRequest"`
		} `json:"question"`
	} `json:"body"`
}

// happens returns the next ask or end of a call. It reads only as much as it needs.
func (f *frontEnd) happens() (h happened, err error) {
	var said struct {
		Method string `json:"method"`
		Params struct {
			TaskID string `json:"taskId"`
			Event  struct {
				Message shownMessage    `json:"message"`
				Result  json.RawMessage `json:"result"`
			} `json:"event"`
			// Messages is the whole conversation of a host that sends it each time.
			Messages []json.RawMessage `json:"messages"`
		} `json:"params"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	for {
		body, err := f.NextBody()
		if err != nil {
			return h, err
		}
		said.Params.Messages, said.Params.Event.Result, said.Params.Event.Message = nil, nil, shownMessage{}
		said.Method, said.Error = "", nil
		if err := json.Unmarshal(body, &said); err != nil {
			return h, err
		}
		if said.Error != nil {
			return h, fmt.Errorf("refused: %s", said.Error.Message)
		}
		shown := said.Params.Event.Message
		if n := len(said.Params.Messages); n > 0 {
			if err := json.Unmarshal(said.Params.Messages[n-1], &shown); err != nil {
				return h, err
			}
		}
		h = happened{said.Params.TaskID, shown.Body.AskID, shown.Body.Question.ElicitationRequest.Message, said.Params.Event.Result}
		if h.askID != "" || h.result != nil {
			return h, nil
		}
	}
}

// answer accepts an ask with what the person filled in.
func (f *frontEnd) answer(h happened, content string) error {
	filled, err := json.Marshal(map[string]string{"answer": content})
	if err != nil {
		return err
	}
	_, err = f.Send("askResponse", protocol.AskResponseParams{
		TaskID: h.taskID, AskID: h.askID, AskResponse: protocol.YesButtonClicked, ElicitationContent: filled,
	})
	return err
}

// text returns the text of a tool's result, or an error if the call failed.
func (h happened) text() (string, error) {
	ended, err := protocol.UnmarshalCallResult(h.result)
	if err != nil {
		return "", err
	}
	result, ok := ended.(protocol.ToolResult)
	if !ok || result.IsError || len(result.Content) != 1 {
		return "", fmt.Errorf("the tool ended with %+v", ended)
	}
	text, ok := result.Content[0].(protocol.TextContent)
	if !ok {
		return "", fmt.Errorf("the tool returned %T", result.Content[0])
	}
	return text.Text, nil
}

// newTask begins a task and returns its id.
func (f *frontEnd) newTask() (string, error) {
	var task protocol.Task
	err := f.Call("task/create", protocol.CreateTaskParams{}, &task)
	return task.ID, err
}

// newTasks begins n tasks.
func (f *frontEnd) newTasks(n int) ([]string, error) {
	ids := make([]string, n)
	var err error
	for i := range ids {
		if ids[i], err = f.newTask(); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// runTool starts a call of a tool.
func (f *frontEnd) runTool(taskID, serverName, tool string, in any) error {
	arguments, err := json.Marshal(in)
	if err != nil {
		return err
	}
	_, err = f.Send("call/start", protocol.StartCallParams{
		TaskID: taskID, ServerName: serverName, Request: protocol.CallToolRequest{ToolName: tool, Arguments: arguments},
	})
	return err
}
