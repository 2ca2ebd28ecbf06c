package broker_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/base/secret"
	"assent/sidecar/model"
	"assent/sidecar/task/tasktest"
)

const knownPassword = "correct horse battery"

// token looks like a token of GitHub. It is assembled here so that secret scanners ignore this file.
var token = "ghp_" + "q7Xz2LmV9bKc4RtY8nWp" + "3HsD6gJf1QaZ5uEe"

func TestSecretsAreConfirmedOrRedacted(t *testing.T) {
	provider := &scripted{words: []string{"x"}}
	f := newFixture(t, provider)
	f.known = []secret.Known{{Value: knownPassword, Description: "the password of db"}}
	message := protocol.SamplingMessage{Role: protocol.RoleUser, Content: text("Use " + token + " twice: " + token)}
	params, err := json.Marshal(map[string]any{"maxTokens": 5, "systemPrompt": "The password is " + knownPassword + ".", "messages": []any{message}})
	if err != nil {
		t.Fatal(err)
	}
	done := f.serve(t.Context(), f.CreateMessage, string(params))
	ask, _ := tasktest.AwaitAsk(t, f.events)
	found := ask.Question.(protocol.McpSampling).Secrets
	if len(found) != 2 || found[0] != (protocol.SecretFinding{Description: "the password of db", Text: knownPassword}) || found[1].Text != token {
		t.Fatalf("the person is shown %+v", found)
	}
	answer := func(p protocol.AskResponseParams) error {
		p.AskID, p.AskResponse = ask.AskID, protocol.YesButtonClicked
		_, err := f.task.Answer(t.Context(), &p, "a test")
		return err
	}
	edit := func(system, message string) *protocol.SamplingEdit {
		return &protocol.SamplingEdit{SystemPrompt: system, MaxTokens: 5, Messages: []protocol.SamplingMessage{{Role: protocol.RoleUser, Content: text(message)}}}
	}
	for name, p := range map[string]protocol.AskResponseParams{
		"as it is":        {},
		"one is redacted": {SamplingEdit: edit("None.", "Use "+token)},
		"another is put":  {SamplingEdit: edit("None.", "The password is "+knownPassword)},
	} {
		err := answer(p)
		var refused *protocol.Error
		if !errors.As(err, &refused) || refused.Code != protocol.CodeInvalidAnswer {
			t.Fatalf("%s: Answer = %v", name, err)
		}
		if problems := refused.Data.(protocol.InvalidAnswerData).Problems; len(problems) == 0 || problems[0].Name != "secrets" {
			t.Errorf("%s: the problems are %+v", name, problems)
		}
		if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), knownPassword) {
			t.Errorf("%s: the error has the secret in it: %v", name, err)
		}
	}
	if err := answer(protocol.AskResponseParams{SamplingEdit: edit("None.", "Nothing to see.")}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil {
		t.Fatal(got.err)
	}

	done = f.serve(t.Context(), f.CreateMessage, string(params))
	f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ConfirmSecrets: true}, ask.AskID)
	if got := <-done; got.err != nil {
		t.Fatal(got.err)
	}
	if provider.got.SystemPrompt != "The password is "+knownPassword+"." {
		t.Errorf("the model was sent %q", provider.got.SystemPrompt)
	}
}

func TestSecretsOfContextAreConfirmed(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	f.call(t, "s", "read", `{}`, returned("token: "+token))
	params := `{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"includeContext":"thisServer"}`
	done := f.serve(t.Context(), f.CreateMessage, params)
	ask, _ := tasktest.AwaitAsk(t, f.events)
	if found := ask.Question.(protocol.McpSampling).Secrets; found != nil {
		t.Errorf("what the server sent has no secret, and the person is shown %+v", found)
	}
	with := protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, IncludeContext: true}
	if _, err := f.task.Answer(t.Context(), &with, "a test"); err == nil {
		t.Error("the secret in the context was sent unseen")
	}
	with.ConfirmSecrets = true
	f.answerNext(t, with)
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
}

func TestSecretsInNamesAreShown(t *testing.T) {
	link := func(member string) string {
		return `{"type":"resource_link","uri":"a:b","name":"n","` + member + `":"` + token + `"}`
	}
	for name, content := range map[string]string{
		"the name of a tool":        "",
		"the URI of a link":         `{"type":"resource_link","name":"n","uri":"a:` + token + `"}`,
		"the name of a link":        `{"type":"resource_link","uri":"a:b","name":"` + token + `"}`,
		"the title of a link":       link("title"),
		"the description of a link": link("description"),
		"the URI of a resource":     `{"type":"resource","resource":{"uri":"a:` + token + `","text":"x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, &caller{completion: model.Completion{Text: "z", Model: "c"}})
			f.DeclareSampling(t.Context(), "s")
			tool := "t"
			if content == "" {
				tool = token
			}
			done := f.serve(t.Context(), f.CreateMessage, `{"maxTokens":5,"tools":[],"messages":[{"role":"user","content":{"type":"text","text":"x"}},`+
				`{"role":"assistant","content":{"type":"tool_use","id":"a","name":"`+tool+`","input":{}}},`+
				`{"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[`+content+`]}}]}`)
			ask, _ := tasktest.AwaitAsk(t, f.events)
			if found := ask.Question.(protocol.McpSampling).Secrets; len(found) != 1 || found[0].Text != token {
				t.Errorf("the person is shown %+v", found)
			}
			f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked})
			<-done
		})
	}
}
