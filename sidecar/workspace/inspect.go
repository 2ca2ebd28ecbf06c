package workspace

import (
	"context"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/secret"
)

// InspectServer implements [protocol.Sidecar].
func (w *Workspace) InspectServer(ctx context.Context, params *protocol.ServerParams) (*protocol.ServerInspection, error) {
	result, err := w.hub.Inspect(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	if err := w.nameTasks(result); err != nil {
		// The rest of the inspection is worth showing without the conversations.
		w.opts.Log.Warn().Err(err).Msg("the conversations of a server's connections are not known")
	}
	if result.Server.Blocked = w.blockedWords(w.organisation.files.Look(), params.ServerName); result.Server.Blocked != "" {
		result.Verdict = &protocol.ServerVerdict{
			Kind: protocol.VerdictBlocked, Text: result.Server.Blocked,
			WayOut: "Ask the administrators of this machine: they can change that file, and Assent reads it at once.",
		}
	}
	w.redact(result)
	return result, nil
}

// StartServer implements [protocol.Sidecar].
func (w *Workspace) StartServer(ctx context.Context, params *protocol.ServerParams) (*protocol.Server, error) {
	info, err := w.hub.Start(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// nameTasks adds the titles of the conversations, and how many asks are open in them. It does not open the store for a
// server without connections and calls.
func (w *Workspace) nameTasks(result *protocol.ServerInspection) error {
	if len(result.Connections)+len(result.Calls) == 0 {
		return nil
	}
	tasks, err := w.tasks.List()
	if err != nil {
		return err
	}
	titles := map[string]string{}
	for _, t := range tasks {
		titles[t.ID] = t.Title
	}
	open, _, err := w.tasks.OpenAsks()
	if err != nil {
		return err
	}
	asks := map[string]int64{}
	for _, a := range open {
		if a.Origin.ServerName == result.Server.Name {
			asks[a.TaskID]++
			asks[""]++ // a connection of no task is everybody's
		}
	}
	for i := range result.Connections {
		c := &result.Connections[i]
		c.Title, c.OpenAsks = titles[c.TaskID], asks[c.TaskID]
	}
	for i := range result.Calls {
		result.Calls[i].Title = titles[result.Calls[i].TaskID]
	}
	return nil
}

// redacted returns a text without what looks like a secret, and without the secrets that Assent holds.
func (w *Workspace) redacted(text string) string {
	return secret.Redact(text, w.secrets.scanner.Scan(text, w.secrets.known()))
}

// redact removes from an inspection what looks like a secret, and the secrets that Assent holds.
func (w *Workspace) redact(result *protocol.ServerInspection) {
	held := w.secrets.known()
	clean := func(texts ...*string) {
		for _, text := range texts {
			*text = secret.Redact(*text, w.secrets.scanner.Scan(*text, held))
		}
	}
	cleanAll := func(lists ...[]string) {
		for _, list := range lists {
			for i := range list {
				clean(&list[i])
			}
		}
	}
	if e := result.Endpoint; e != nil {
		result.Server.Command = e.URL
		clean(&e.URL)
	}
	result.Server.Command = strings.Join(maskArgs(strings.Split(result.Server.Command, " ")), " ")
	clean(&result.Server.Command, &result.Server.Reason)
	cleanAll(result.Server.Stderr, result.Warnings)
	if l := result.Launch; l != nil {
		l.Args = maskArgs(l.Args)
		clean(&l.Path, &l.Cwd, &l.Problem)
		cleanAll(l.Args, l.NearMisses)
	}
	if h := result.Handshake; h != nil {
		clean(&h.Instructions)
	}
	if v := result.Verdict; v != nil {
		clean(&v.Text, &v.WayOut)
	}
	if f := result.LastFailure; f != nil {
		clean(&f.Reason)
		cleanAll(f.Stderr, f.Stdout)
	}
	for i := range result.Log {
		clean(&result.Log[i].Text)
	}
}

// mask replaces a secret. The name before it says of which kind it was.
const mask = "…"

// maskArgs masks the values of arguments with names of secrets: --api-key VALUE, TOKEN=VALUE,
// "Authorization: VALUE". A variable stays, because its value is not in the text.
func maskArgs(args []string) []string {
	var masked []string
	follows := false
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if before, after, colon := strings.Cut(arg, ":"); colon && (!ok || len(before) < len(name)) {
			name, value, ok = before, " "+strings.TrimSpace(after), true
		}
		isName := len(name) < 60 && secret.Named(name)
		switch {
		case follows && !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "${"):
			arg = mask
		case ok && isName && strings.TrimSpace(value) != "" && !strings.Contains(value, "${"):
			arg = arg[:len(name)+1] + mask
		}
		follows = !ok && isName && strings.HasPrefix(name, "-")
		masked = append(masked, arg)
	}
	return masked
}
