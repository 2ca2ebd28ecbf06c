// Command form-check says what the sidecar makes of forms: for each line of its input, a JSON object
// with a requestedSchema and perhaps an answer, it prints one with the fields or the error, and with
// the problems of the answer or what would be sent. The front end's differential test asks it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"assent/protocol"
	"assent/sidecar/form"
)

type question struct {
	RequestedSchema json.RawMessage `json:"requestedSchema"`
	Answer          json.RawMessage `json:"answer"`
}

type verdict struct {
	Error    string                  `json:"error,omitempty"`
	Fields   []protocol.Field        `json:"fields,omitempty"`
	Problems []protocol.FieldProblem `json:"problems,omitempty"`
	Sent     json.RawMessage         `json:"sent,omitempty"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "form-check:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	questions, verdicts := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := verdicts.Encode(judge(q)); err != nil {
			return err
		}
	}
}

func judge(q question) verdict {
	fields, err := form.ParseElicitation(q.RequestedSchema)
	if err != nil {
		return verdict{Error: err.Error()}
	}
	if q.Answer == nil {
		return verdict{Fields: fields}
	}
	sent, problems := form.Check(fields, q.Answer)
	return verdict{Problems: problems, Sent: sent}
}
