package tap

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// answer is a person's value for a field. A number is its text.
type answer struct{ field, value string }

// answers learns from the front end's frames which answers are secrets: those for fields that the form shows as secret,
// and those that the person marked. The names of such fields need not ask for a secret.
type answers struct {
	// fields are the names of an ask's secret fields, by the ask's id.
	fields map[string][]string
	// secret is replaced as a whole, and never modified.
	secret map[answer]bool
}

// learn reads a frame of the front end's connection, which is JSON.
func (a *answers) learn(frame []byte) {
	switch {
	case bytes.Contains(frame, []byte(`"elicitationRequest"`)):
		a.asked(frame)
	case bytes.Contains(frame, []byte(`"elicitationContent"`)):
		a.answered(frame)
	case bytes.Contains(frame, []byte(`"ask/check"`)):
		a.checked(frame)
	}
}

// asked adds the secret fields of a form that the sidecar shows.
func (a *answers) asked(frame []byte) {
	var m struct {
		Params struct {
			Event struct {
				Message struct {
					Body struct {
						AskID    string `json:"askId"`
						Question struct {
							ElicitationRequest struct {
								Fields []secretField `json:"fields"`
							} `json:"elicitationRequest"`
						} `json:"question"`
					} `json:"body"`
				} `json:"message"`
			} `json:"event"`
		} `json:"params"`
	}
	if json.Unmarshal(frame, &m) != nil {
		return // another message with a member of this name
	}
	body := m.Params.Event.Message.Body
	if names := secretNames(body.Question.ElicitationRequest.Fields); names != nil {
		if a.fields == nil {
			a.fields = map[string][]string{}
		}
		a.fields[body.AskID] = append(a.fields[body.AskID], names...)
	}
}

// answered adds the values of the secret fields in an askResponse.
func (a *answers) answered(frame []byte) {
	var m struct {
		Params struct {
			AskID        string                     `json:"askId"`
			Content      map[string]json.RawMessage `json:"elicitationContent"`
			SecretFields []string                   `json:"secretFields"`
		} `json:"params"`
	}
	if json.Unmarshal(frame, &m) != nil {
		return
	}
	a.note(m.Params.Content, slices.Concat(m.Params.SecretFields, a.fields[m.Params.AskID]))
}

// checked adds the values of the secret fields in a form that the person is filling in.
func (a *answers) checked(frame []byte) {
	var m struct {
		Params struct {
			Fields  []secretField              `json:"fields"`
			Content map[string]json.RawMessage `json:"content"`
		} `json:"params"`
	}
	if json.Unmarshal(frame, &m) != nil {
		return
	}
	a.note(m.Params.Content, secretNames(m.Params.Fields))
}

// note adds the values of an answer for secret fields.
func (a *answers) note(content map[string]json.RawMessage, names []string) {
	secret := maps.Clone(a.secret)
	if secret == nil {
		secret = map[answer]bool{}
	}
	for _, name := range names {
		if value := textOf(content[name]); value != "" {
			secret[answer{name, value}] = true
		}
	}
	a.secret = secret
}

// secretField has the members of a form's field that the tap reads.
type secretField struct {
	Name   string `json:"name"`
	Secret bool   `json:"secret"`
}

func secretNames(fields []secretField) (names []string) {
	for _, f := range fields {
		if f.Secret {
			names = append(names, f.Name)
		}
	}
	return names
}

// textOf returns a JSON string without its quotes and escapes, and any other value as written.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
