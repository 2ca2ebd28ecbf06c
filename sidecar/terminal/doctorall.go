package terminal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/config"
	"assent/sidecar/config/managedfiles"
)

// newestProtocol is the newest version of MCP that Assent speaks.
const newestProtocol = "2026-07-28"

// Host is a program that was added to use the servers of a folder over HTTP.
type Host struct {
	Name string `json:"name"`
	// Server is the only server that the host uses. Empty means all.
	Server string `json:"server,omitempty"`
	// Folder is the workspace folder of the servers, and Configuration configures them.
	Folder        string                 `json:"folder"`
	Configuration protocol.Configuration `json:"-"`
}

// HostFile is a host's own configuration file, and how the host reaches the MCP servers in it.
type HostFile struct {
	Host string `json:"host"`
	Path string `json:"path"`
	// Through are the servers that the host uses through Assent, by their names in Assent. An empty name means all.
	Through []string `json:"throughAssent,omitempty"`
	// Missing is the program that the file names as Assent, if that program does not exist.
	Missing string `json:"missing,omitempty"`
	// Direct are the servers that the host uses without Assent.
	Direct []string `json:"direct,omitempty"`
}

// checkup is the output of "assent doctor" without a server and with --output json.
type checkup struct {
	Well     bool                         `json:"well"`
	Servers  []*protocol.ServerInspection `json:"servers,omitempty"`
	Problems []protocol.ConfigProblem     `json:"problems,omitempty"`
	Hosts    []hostCheck                  `json:"hosts,omitempty"`
	// HostFiles are the files of hosts on this machine.
	HostFiles []hostFileCheck `json:"hostFiles,omitempty"`
	// HostFilesProblem is why the hosts' files are not known.
	HostFilesProblem string `json:"hostFilesProblem,omitempty"`
	// Policies are the organisation's files on this machine, and PoliciesUnseen says which others Assent cannot see.
	Policies       []managedfiles.Report `json:"policies,omitempty"`
	PoliciesUnseen string                `json:"policiesUnseen,omitempty"`
	// HostsProblem is why the hosts are not known.
	HostsProblem string `json:"hostsProblem,omitempty"`
}

type hostCheck struct {
	Host
	Problem string `json:"problem,omitempty"`
}

type hostFileCheck struct {
	HostFile
	Problem string `json:"problem,omitempty"`
}

// doctorAll starts each server, and prints a line for each server, each problem of the configuration and each host. It
// returns an error if there is any problem.
func (s *session) doctorAll(ctx context.Context) error {
	list, err := s.sidecar.ListServers(ctx)
	if err != nil {
		return err
	}
	all := checkup{Problems: list.Problems, Servers: make([]*protocol.ServerInspection, len(list.Servers))}
	errs := make([]error, len(list.Servers))
	var starting sync.WaitGroup
	for i, server := range list.Servers {
		starting.Go(func() {
			params := &protocol.ServerParams{ServerName: server.Name}
			_, _ = s.sidecar.StartServer(ctx, params) // the inspection says why it failed
			all.Servers[i], errs[i] = s.sidecar.InspectServer(ctx, params)
		})
	}
	starting.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	all.Hosts, all.HostsProblem = s.checkHosts(ctx)
	if s.o.Policy != nil {
		all.Policies, all.PoliciesUnseen = s.o.Policy.Reports(), managedfiles.Unseen
	}
	if s.o.HostFiles != nil {
		files, problems, err := s.o.HostFiles()
		if err != nil {
			all.HostFilesProblem = upperFirst(reason.Of(err)) + "."
		}
		all.Problems = append(all.Problems, problems...)
		all.HostFiles = checkFiles(files, list.Servers)
	}

	t := table{columns: []column{{header: "what"}, {header: "state"}, {header: "MCP"}, {header: "findings"}}, whole: true}
	down, found := 0, len(all.Problems)
	for _, i := range all.Servers {
		if i.Server.State != protocol.ServerRunning {
			down++
		}
		found += len(i.Warnings)
		version := ""
		if i.Handshake != nil && i.Server.State == protocol.ServerRunning {
			version = i.Handshake.ProtocolVersion
		}
		t.rows = append(t.rows, []string{i.Server.Name, stateWord(i), version, strings.Join(findings(i), " ")})
	}
	for _, p := range all.Problems {
		p.Source = s.near(p.Source)
		t.rows = append(t.rows, []string{placeOf(p), "problem", "", upperFirst(p.Message) + "."})
	}
	for _, h := range all.Hosts {
		state, what := "host", "It uses all servers of "+h.Folder+"."
		if h.Server != "" {
			what = fmt.Sprintf("It uses the server %q of %s.", h.Server, h.Folder)
		}
		if h.Problem != "" {
			state, what, found = "problem", h.Problem, found+1
		}
		t.rows = append(t.rows, []string{"host " + h.Name, state, "", what})
	}
	for _, f := range all.HostFiles {
		state, what := "host", f.reach(s.near(f.Path))
		if f.Problem != "" {
			state, what, found = "problem", f.Problem+" "+what, found+1
		}
		t.rows = append(t.rows, []string{"host " + f.Host, state, "", what})
	}
	if all.HostFilesProblem != "" {
		found++
		t.rows = append(t.rows, []string{"files of hosts", "problem", "", all.HostFilesProblem})
	}
	for _, p := range all.Policies {
		state, what := "policy", p.Words()
		if p.Problem != "" {
			state, found = "problem", found+1
		}
		t.rows = append(t.rows, []string{p.Path, state, "", what})
	}
	if len(t.rows) == 0 && !s.line.json {
		s.note("%s", s.noServers(all.Problems))
	}
	if all.PoliciesUnseen != "" {
		what, words := "other policies", all.PoliciesUnseen
		if len(all.Policies) == 0 {
			what, words = "policies", "This machine has no file of an organisation. "+words
		}
		t.rows = append(t.rows, []string{what, "not seen", "", words})
	}
	if all.HostsProblem != "" {
		found++
		t.rows = append(t.rows, []string{"hosts", "problem", "", all.HostsProblem})
	}
	all.Well = down+found == 0
	if err := s.list(all, t, s.noServers(all.Problems)); err != nil {
		return err
	}
	if all.Well {
		if s.stdout.isTerminal && !s.line.json && len(t.rows) > 0 {
			s.note("There is nothing to correct.")
		}
		return nil
	}
	var bad []string
	if down > 0 {
		bad = append(bad, fmt.Sprintf("%d of %d servers cannot be used: assent doctor NAME says more of one", down, len(all.Servers)))
	}
	if found > 0 {
		bad = append(bad, "things to correct: "+fmt.Sprint(found))
	}
	return Exit(ExitFailed, errors.New(strings.Join(bad, "; ")))
}

// stateWord names the state of a server.
func stateWord(i *protocol.ServerInspection) string {
	switch {
	case i.Verdict != nil && i.Verdict.Kind == protocol.VerdictLogin:
		return "not signed in"
	case i.Verdict != nil && i.Verdict.Kind == protocol.VerdictUnconfirmed:
		return "not confirmed"
	case i.Server.Blocked != "":
		return "blocked"
	}
	return string(i.Server.State)
}

// findings returns sentences about a server: why it does not run, the mistakes in its configuration, and that it is
// old.
func findings(i *protocol.ServerInspection) []string {
	var all []string
	if v := i.Verdict; v != nil {
		all = append(all, v.Text)
		if v.WayOut != "" && !strings.Contains(v.WayOut, "the last lines of its log") { // only the report on one server has them
			all = append(all, v.WayOut)
		}
	}
	all = append(all, i.Warnings...)
	if h := i.Handshake; h != nil && h.ProtocolVersion != "" && h.ProtocolVersion < newestProtocol && i.Server.State == protocol.ServerRunning {
		all = append(all, fmt.Sprintf("The newest version is %s.", newestProtocol))
	}
	return all
}

// checkHosts returns the hosts, each with the reason why it cannot use its servers, or why the hosts are not known.
func (s *session) checkHosts(ctx context.Context) ([]hostCheck, string) {
	if s.o.Hosts == nil || s.line.standalone {
		return nil, ""
	}
	hosts, err := s.o.Hosts(ctx)
	if err != nil {
		return nil, "The hosts are not known: " + err.Error()
	}
	var all []hostCheck
	for _, h := range hosts {
		check := hostCheck{Host: h}
		servers := config.Load(h.Configuration, config.UserFile()).Servers
		named := slices.ContainsFunc(servers, func(c config.Server) bool { return c.Name == h.Server })
		if _, err := os.Stat(h.Folder); errors.Is(err, fs.ErrNotExist) {
			check.Problem = fmt.Sprintf("Its folder %s is not there any more: assent hosts remove %s takes it back.", h.Folder, word(h.Name))
		} else if h.Server != "" && !named {
			check.Problem = fmt.Sprintf("It uses the server %q of %s, which is not configured there any more.", h.Server, h.Folder)
		} else if len(servers) == 0 {
			check.Problem = fmt.Sprintf("No server is configured in %s.", h.Folder)
		}
		all = append(all, check)
	}
	return all, ""
}

// checkFiles compares the files of hosts with the servers of this folder, which include those of the person's own
// mcp.json.
func checkFiles(files []HostFile, servers []protocol.Server) []hostFileCheck {
	var all []hostFileCheck
	for _, f := range files {
		check := hostFileCheck{HostFile: f}
		var unknown []string
		for _, name := range f.Through {
			if name != "" && !slices.ContainsFunc(servers, func(s protocol.Server) bool { return s.Name == name }) {
				unknown = append(unknown, fmt.Sprintf("%q", name))
			}
		}
		switch {
		case f.Missing != "":
			check.Problem = fmt.Sprintf("It starts the program %q, which is not there: run assent restore and assent setup, or correct the file.", f.Missing)
		case len(unknown) > 0:
			check.Problem = fmt.Sprintf("Assent has no server %s here: add it to your own mcp.json, or run assent restore.", strings.Join(unknown, ", "))
		}
		all = append(all, check)
	}
	return all
}

// reach returns how a host reaches its servers.
func (f *HostFile) reach(path string) string {
	var ways []string
	switch {
	case slices.Contains(f.Through, ""):
		ways = append(ways, "It uses all servers through Assent.")
	case len(f.Through) > 0:
		ways = append(ways, "It uses through Assent: "+strings.Join(f.Through, ", ")+".")
	}
	if len(f.Direct) > 0 {
		ways = append(ways, "It uses directly, not through Assent: "+strings.Join(f.Direct, ", ")+".")
	}
	return strings.Join(append(ways, "Its file is "+path+"."), " ")
}

func upperFirst(text string) string {
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}
