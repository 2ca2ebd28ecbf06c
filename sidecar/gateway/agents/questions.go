package agents

import (
	"encoding/json"
	"errors"
	"fmt"

	"assent/protocol"
	"assent/sidecar/task"
)

// question is a question with choices that a model asks the person.
type question struct {
	Question string   `json:"question"`
	Header   string   `json:"header"`
	Options  []choice `json:"options"`
	// several: the person may choose several.
	several bool
}

type choice struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// errChoice is the error for choices of which the answer would not be clear.
var errChoice = errors.New("a choice of a question cannot be told from the others")

// formOf returns questions with choices as a form.
func formOf(origin protocol.Origin, questions []question) (asked protocol.McpElicitation, err error) {
	asked.Origin = origin
	form := &asked.ElicitationRequest
	names := map[string]bool{}
	for i, q := range questions {
		head := protocol.FieldHead{Name: fieldOf(i), Title: q.Question, Required: true}
		var options []protocol.Option
		labels := map[string]bool{}
		for _, o := range q.Options {
			title := o.Label
			if o.Description != "" {
				title += ": " + o.Description
			}
			if o.Label == "" || labels[o.Label] {
				return asked, errChoice
			}
			labels[o.Label] = true
			options = append(options, protocol.Option{Value: o.Label, Title: title})
		}
		if q.Question == "" || names[q.Question] || len(options) == 0 {
			return asked, errors.New("a question has another shape")
		}
		names[q.Question] = true
		if len(questions) == 1 { // it is the message of the form
			form.Message, head.Title = q.Question, q.Header
		}
		if q.several {
			form.Fields = append(form.Fields, protocol.ChoicesField{FieldHead: head, Options: options, MinItems: new(1)})
		} else {
			form.Fields = append(form.Fields, protocol.ChoiceField{FieldHead: head, Options: options})
		}
	}
	switch len(questions) {
	case 0:
		return asked, errors.New("there is no question")
	case 1:
	default:
		form.Message = fmt.Sprintf("%s has %d questions.", origin.ServerName, len(questions))
	}
	return asked, nil
}

// fieldOf names the field of a question.
func fieldOf(index int) string { return fmt.Sprintf("question%d", index+1) }

// labelsIn returns the chosen labels of each question in a yes; nil for another answer.
func labelsIn(questions []question, a *task.Answer) ([][]string, error) {
	var content map[string]any
	if a.Response != protocol.YesButtonClicked || json.Unmarshal(a.Content, &content) != nil {
		return nil, nil
	}
	var all [][]string
	for i, q := range questions {
		var labels []string
		switch value := content[fieldOf(i)].(type) {
		case string:
			labels = []string{value}
		case []any:
			for _, one := range value {
				labels = append(labels, fmt.Sprint(one))
			}
		default:
			return nil, fmt.Errorf("the question %q has no answer", q.Question)
		}
		all = append(all, labels)
	}
	return all, nil
}
