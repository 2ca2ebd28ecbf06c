package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/setup"
	"assent/sidecar/setup/vault"
)

// maxRuns bounds a shown command, and maxWarning a sentence about a server, in runes: other people write the files of a
// workspace folder.
const (
	maxRuns    = 300
	maxWarning = 1000
)

// PlanSetup implements [protocol.Sidecar].
func (w *Workspace) PlanSetup(_ context.Context, params *protocol.PlanSetupParams) (*protocol.SetupPlan, error) {
	_, shown, err := w.planSetup(&params.Choice)
	return shown, err
}

// ApplySetup implements [protocol.Sidecar].
func (w *Workspace) ApplySetup(_ context.Context, params *protocol.ApplySetupParams) (*protocol.ApplySetupResult, error) {
	plan, shown, err := w.planSetup(&params.Choice)
	if err != nil {
		return nil, err
	}
	if shown.ID != params.PlanID {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "a file has changed since you saw this, so nothing was changed: look again")
	}
	secrets := setup.Stay
	switch {
	case !params.MoveSecrets:
	case shown.Secrets == protocol.SecretsInFile:
		secrets = setup.ToFile
	default:
		secrets = setup.ToKeychain
	}
	result, err := plan.Apply(secrets)
	if err != nil {
		return nil, err
	}
	w.reload() // the watcher sees the change too, but later
	return &protocol.ApplySetupResult{
		Added: result.Added, Secrets: result.Secrets, Files: result.Files, Problems: setupProblems(result.Problems),
	}, nil
}

// RestoreSetup implements [protocol.Sidecar].
func (w *Workspace) RestoreSetup(context.Context) (*protocol.RestoreSetupResult, error) {
	o, err := w.setupOptions()
	if err != nil {
		return nil, err
	}
	undone, err := setup.Restore(o)
	if err != nil {
		return nil, err
	}
	w.reload()
	result := &protocol.RestoreSetupResult{Problems: setupProblems(undone.Problems)}
	for _, f := range undone.Files {
		result.Files = append(result.Files, protocol.RestoredFile{Path: f.Path, How: protocol.FileRestored(f.How), Notes: f.Notes})
	}
	return result, nil
}

// setupOptions returns the options of setup for the person of this workspace.
func (w *Workspace) setupOptions() (setup.Options, error) {
	w.configured.mu.Lock()
	var folders []string
	for _, f := range config.Trusted(w.configured.merged.WorkspaceFolders) {
		folders = append(folders, f.Path)
	}
	w.configured.mu.Unlock()
	return setup.Here(w.opts.Environ, w.opts.UserFile, folders)
}

// planSetup returns a plan, and how a front end sees it. A front end cannot have the files of a workspace folder changed: it
// shows what strangers wrote, and a server of the person's own file starts everywhere without a question.
func (w *Workspace) planSetup(choice *protocol.SetupChoice) (*setup.Plan, *protocol.SetupPlan, error) {
	o, err := w.setupOptions()
	if err != nil {
		return nil, nil, err
	}
	o.WithoutHosts, o.WithoutServers, o.Share = choice.WithoutHosts, choice.WithoutServers, choice.Share
	plan, err := setup.Find(o)
	if err != nil {
		return nil, nil, err
	}
	shown := &protocol.SetupPlan{UserFile: o.UserFile, Hosts: plan.Hosts, Files: plan.Files, Problems: setupProblems(plan.Problems)}
	if len(shown.Hosts) == 0 {
		shown.Sought = o.Places.Programs()
	}
	if shown.Restorable, err = o.Restorable(); err != nil {
		return nil, nil, err
	}
	for _, s := range plan.Servers {
		shown.Servers = append(shown.Servers, setupServer(s, choice.Share))
	}
	if plan.HasSecrets() {
		shown.Secrets = protocol.SecretsInFile
		if vault.HasKeychain() {
			shown.Secrets = protocol.SecretsInKeychain
		}
	}
	whole, err := json.Marshal(shown)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(whole)
	shown.ID = hex.EncodeToString(sum[:])
	return plan, shown, nil
}

// setupServer returns a server as a front end sees it.
func setupServer(s *setup.Server, share bool) protocol.SetupServer {
	shown := protocol.SetupServer{
		Name: s.Name, Runs: cut(s.Runs, maxRuns), Hosts: s.Hosts, Differs: s.Differs, Secrets: s.Secrets,
		Fixed: true,
	}
	for _, text := range s.Warnings {
		shown.Warnings = append(shown.Warnings, cut(text, maxWarning))
	}
	for _, c := range s.Copies {
		shown.Copies = append(shown.Copies, protocol.SetupCopy{
			Host: c.Host, Path: c.Path, Name: c.Name, Folder: c.Folder, Routed: c.Routed, Changes: c.Changes,
		})
		shown.Fixed = shown.Fixed && (c.Project || c.Routed && !share)
	}
	return shown
}

func setupProblems(problems []setup.Problem) []protocol.SetupProblem {
	var shown []protocol.SetupProblem
	for _, p := range problems {
		shown = append(shown, protocol.SetupProblem{Path: p.Path, Message: cut(p.Message, maxWarning)})
	}
	return shown
}

// cut shortens a text to so many runes.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
