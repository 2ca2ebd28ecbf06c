package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assent/protocol"
)

// resourcesCommand is "assent resources".
func resourcesCommand(o Options) *cobra.Command {
	list := command{
		use: "resources SERVER", short: "list the resources of a server, or read one", words: serverWord,
		long: "resources lists the resources of a server and the templates of their URIs, and reads one.",
		example: `  assent resources demo
  assent resources read demo memo://note
  assent resources list demo --output json`,
		run: atOnce(func(ctx context.Context, s *session) error { return s.listResources(ctx) }),
	}
	parent := list.build(o)
	list.use, list.short, list.long, list.example = "list SERVER", "list the resources of a server", "", "  assent resources list demo"
	parent.AddCommand(list.build(o), command{
		use: "read SERVER URI", short: "read a resource", words: toolWords, item: "URI",
		long:    "read prints a resource. Its server may ask you something first, as during a call.",
		example: "  assent resources read demo memo://note\n  assent resources read demo memo://note --output json\n  assent resources read memo://note -- npx -y some-server",
		flags:   asking,
		run: func(ctx context.Context, s *session, _ []string) error {
			return s.keep(s.callOf(ctx, func(context.Context) (protocol.CallRequest, error) {
				return protocol.ReadResourceRequest{URI: s.line.tool}, nil
			}))
		},
	}.build(o))
	return parent
}

// promptsCommand is "assent prompts".
func promptsCommand(o Options) *cobra.Command {
	list := command{
		use: "prompts SERVER", short: "list the prompts of a server, or get one", words: serverWord,
		long: "prompts lists the prompts of a server, and fills one in.",
		example: `  assent prompts demo
  assent prompts get demo greet --arg name=Ada
  assent prompts list demo --output json`,
		run: atOnce(func(ctx context.Context, s *session) error { return s.listPrompts(ctx) }),
	}
	parent := list.build(o)
	list.use, list.short, list.long, list.example = "list SERVER", "list the prompts of a server", "", "  assent prompts list demo"
	parent.AddCommand(list.build(o), command{
		use: "get SERVER PROMPT", short: "fill in a prompt", words: toolWords, item: "PROMPT",
		long:    "get fills in a prompt with arguments, which are texts, and prints its messages, each after its role.",
		example: "  assent prompts get demo greet --arg name=Ada\n  assent prompts get demo greet --output json",
		flags: func(flags *pflag.FlagSet, l *commandLine) {
			asking(flags, l)
			flags.Var(arguments{l}, "arg", "an argument of the prompt")
		},
		run: func(ctx context.Context, s *session, _ []string) error { return s.keep(s.callOf(ctx, s.promptRequest)) },
	}.build(o))
	return parent
}

// promptRequest returns the request for the prompt of the command line. The person fills in missing arguments.
func (s *session) promptRequest(ctx context.Context) (protocol.CallRequest, error) {
	list, err := s.sidecar.ListPrompts(ctx, s.server())
	if err != nil {
		return nil, s.explained(ctx, s.line.server, err)
	}
	var names []string
	for _, p := range list.Prompts {
		if p.Name != s.line.tool {
			names = append(names, p.Name)
			continue
		}
		given := map[string]json.RawMessage{}
		for _, a := range s.line.arguments {
			if given[a.name], err = json.Marshal(a.value); err != nil {
				return nil, err
			}
		}
		object, err := json.Marshal(given)
		if err != nil {
			return nil, err
		}
		wanted := wanted{name: "prompt " + p.Name, list: "prompts", do: "Get the prompt"}
		var known []string
		for _, a := range p.Arguments {
			known = append(known, a.Name)
			wanted.fields = append(wanted.fields, protocol.StringField{FieldHead: protocol.FieldHead{
				Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required,
			}})
			delete(given, a.Name)
		}
		for name := range given {
			return nil, usagef("the prompt %s has no argument %q%s", p.Name, name, hint(name, known))
		}
		if object, err = s.complete(ctx, wanted, object); err != nil {
			return nil, err
		}
		request := protocol.GetPromptRequest{PromptName: p.Name}
		err = json.Unmarshal(object, &request.Arguments)
		return request, err
	}
	return nil, usagef("the server %q has no prompt %q%s", s.line.server, s.line.tool, hint(s.line.tool, names))
}

// promptText returns a prompt's messages for reading.
func promptText(r protocol.PromptResult) string {
	var text strings.Builder
	for _, m := range r.Messages {
		text.WriteString(fmt.Sprintf("%s: %s\n", m.Role, blockText(m.Content)))
	}
	return text.String()
}
