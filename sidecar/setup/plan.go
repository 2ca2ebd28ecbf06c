// Package setup moves the servers of other programs ("hosts") into the person's own mcp.json, and has the hosts start
// "assent gateway" in their place. It can undo that.
//
// [Find] reads and plans. It writes nothing. [Plan.Apply] carries the plan out: first it keeps a copy of each file, then it
// adds the servers, and then it changes the hosts' files one by one, each in one step. A file that changed since Find stays
// as it is. [Restore] undoes all runs of Apply. A file that did not change since Apply gets its earlier bytes. From a file that
// did, Restore removes only the entries of Apply. Apply and Restore lock the folder against each other, also in other
// processes. The package does not use a terminal.
package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assent/sidecar/base/atomicfile"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/reason"
	"assent/sidecar/base/secret"
	"assent/sidecar/config"
	"assent/sidecar/config/managedfiles"
	"assent/sidecar/config/orgpolicy"
	"assent/sidecar/setup/hostfile"
	"assent/sidecar/setup/importer"
	"assent/sidecar/setup/vault"
)

// maxFile bounds a host's file, in bytes: Claude Code keeps much else in its own.
const maxFile = 32 << 20

// maxUserFile bounds the person's own file, in bytes; package config reads no larger one.
const maxUserFile = 4 << 20

// maxName bounds a server's name, in bytes.
const maxName = 200

// Options say which servers to move, and between which files.
type Options struct {
	// Places has the hosts' files. Find also reads the project files in its folders.
	Places importer.Places
	// Folder is Assent's own folder, for the journal and the sealed secrets.
	Folder string
	// UserFile is the person's own mcp.json.
	UserFile string
	// Command is how a host starts Assent.
	Command string
	// Installed reports whether a program can be started by this name. It may be nil.
	Installed func(command string) bool
	// Hosts and Servers are the names of the chosen ones. Empty means all.
	Hosts, Servers []string
	// WithoutHosts and WithoutServers are the names of those that stay as they are.
	WithoutHosts, WithoutServers []string
	// Projects changes files in project folders too. Other people may share those, by version control.
	Projects bool
	// Policy are the organisation's files. It may be nil.
	Policy *managedfiles.Files
	// Share adds each server to all installed hosts, not only to those that have it.
	Share bool
}

// Plan has the servers that Find found, and the changes that Apply would make.
type Plan struct {
	// Hosts are the names of the installed hosts.
	Hosts   []string  `json:"hosts"`
	Servers []*Server `json:"servers"`
	// Files are the paths of the hosts' files that would change.
	Files    []string  `json:"files"`
	Problems []Problem `json:"problems,omitempty"`
	// Unreadable are the files of chosen hosts of which no server is known. Problems has them too.
	Unreadable []Problem `json:"unreadable,omitempty"`

	options Options
	// known are the servers of the person's own file by name.
	known map[string]known
	// inputs are those of the person's own file and of the servers that move, by id.
	inputs map[string]input
	// made are the entries in hosts' files that earlier runs made, by path.
	made   map[string][]entryEdit
	user   *atomicfile.File
	edits  []*fileEdit
	copies []*Copy // all, in the order of the files
}

// Server is a server as Assent has or would have it.
type Server struct {
	// Name is its name in Assent. It differs from the name in a host's file if two different servers have that name.
	Name string `json:"name"`
	// Runs is the server's command or URL, without secrets.
	Runs string `json:"runs"`
	// Copies are the server's entries in hosts' files.
	Copies []*Copy `json:"configured"`
	// Hosts are the names of the hosts that would use it through Assent.
	Hosts []string `json:"hosts,omitempty"`
	// Differs names the members that differ from those of the first server with the same name.
	Differs []string `json:"differs,omitempty"`
	// Secrets are the places of likely secrets in clear text, such as "env GITHUB_TOKEN".
	Secrets []string `json:"secrets,omitempty"`
	// Warnings say how the server will differ from the one in the host.
	Warnings []string `json:"warnings,omitempty"`
	// Known says that Assent has the server already.
	Known bool `json:"known,omitempty"`

	server importer.Server
	// exact is the entry for comparing, with its inputs, and same is that without the folder of a host.
	exact, same string
	secrets     []importer.Secret
	moves       bool
}

// known is a server of the person's own file. Exact is as in a Server.
type known struct{ entry, exact string }

// input is an input, in the form for comparing, with the path of a file that has it.
type input struct{ text, path string }

// Copy is an entry in a host's file.
type Copy struct {
	Host string `json:"host"`
	// HostID is the host's name on a command line.
	HostID string `json:"hostId"`
	Path   string `json:"path"`
	Name   string `json:"name"`
	// Folder is the entry's project, empty if the entry applies to all projects.
	Folder string `json:"folder,omitempty"`
	// Project says that the file is in a project folder.
	Project bool `json:"project,omitempty"`
	// Routed says that the entry starts Assent already, and Changes that Apply makes it do so.
	Routed  bool `json:"routed,omitempty"`
	Changes bool `json:"changes,omitempty"`

	at     hostfile.Path
	value  json.RawMessage
	routed gatewayStart
	// other is a host that reads the same file, and has another server there by its own rules.
	other string
	// merged is another file of the host, with another entry of the name. The host makes one server of the two.
	merged string
}

// gatewayStart is how an entry starts Assent.
type gatewayStart struct {
	Program string
	Args    []string
	Server  string // empty for all
}

// Problem is a file, or an entry in it, that is left alone.
type Problem struct {
	Path string `json:"path"`
	// Message is a sentence, with the way out.
	Message string `json:"message"`
}

// fileEdit is the change of a file.
type fileEdit struct {
	place importer.Place
	file  *atomicfile.File
	doc   *hostfile.File
	done  []entryEdit
}

// entryEdit is an entry of Assent's in a host's file. The journal has it.
type entryEdit struct {
	At hostfile.Path `json:"at"`
	// Name is the name of the entry, and Server the name of the server in Assent.
	Name   string `json:"name"`
	Server string `json:"server"`
	// Added says that there was no such entry before.
	Added bool `json:"added,omitempty"`
}

// Find reads the files and plans the changes. It fails only if it cannot read Assent's own files.
func Find(o Options) (*Plan, error) {
	p := &Plan{options: o}
	var err error
	if p.user, err = atomicfile.Read(o.UserFile, maxUserFile); err != nil {
		return nil, err
	}
	if err := p.readKnown(); err != nil {
		return nil, err
	}
	if p.made, err = o.made(); err != nil {
		return nil, err
	}
	for _, place := range o.Places.Files() {
		p.read(place)
	}
	p.merge()
	p.name()
	p.choose()
	for _, s := range p.Servers {
		if !s.moves { // then nothing will differ
			s.Warnings = nil
		}
	}
	if err := p.chosenExist(); err != nil {
		return nil, err
	}
	return p, nil
}

// readKnown reads the servers of the person's own file.
func (p *Plan) readKnown() error {
	p.known, p.inputs = map[string]known{}, map[string]input{}
	f, err := hostfile.Parse(hostfile.JSON, p.user.Data)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w. Repair it first", p.user.Path, err)
	}
	entries, err := f.Entries(hostfile.Path{"servers"})
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w. Repair it first", p.user.Path, err)
	}
	var inputs []json.RawMessage
	_ = json.Unmarshal(f.Value("inputs"), &inputs) // others than a list have none
	p.keepInputs(inputs, p.user.Path)
	kept := vault.Open(p.options.Folder)
	for _, e := range entries {
		text := keptVariable().ReplaceAllStringFunc(string(e.Value), func(match string) string {
			secret, err := kept.Get(match[len("${secret:") : len(match)-1])
			if err != nil {
				return match // the variable stays: the entry then counts as another server, which is harmless
			}
			raw, err := json.Marshal(secret)
			if err != nil {
				return match
			}
			return string(raw[1 : len(raw)-1])
		})
		var asked []string
		for _, match := range inputVariable().FindAllStringSubmatch(text, -1) {
			asked = append(asked, p.inputs[match[1]].text)
		}
		p.known[e.Name] = known{canonical(json.RawMessage(text)), withInputs(json.RawMessage(text), asked)}
	}
	return nil
}

// keepInputs notes which inputs the person's own file will have. The last one of an id counts.
func (p *Plan) keepInputs(inputs []json.RawMessage, path string) {
	for _, raw := range inputs {
		p.inputs[inputID(raw)] = input{canonical(raw), path}
	}
}

func inputID(raw json.RawMessage) string {
	var in struct{ ID string }
	_ = json.Unmarshal(raw, &in) // other values have no id
	return in.ID
}

// otherInput returns the id of an input of a server if the person's own file will have another one of that id, and where that
// one is from.
func (p *Plan) otherInput(s *Server) (id, path string) {
	for _, raw := range s.server.Inputs() {
		if other, ok := p.inputs[inputID(raw)]; ok && other.text != canonical(raw) {
			return inputID(raw), other.path
		}
	}
	return "", ""
}

var inputVariable = lazyregexp.New(`\$\{input:([^}]*)\}`)

// withInputs is canonical for an entry with the inputs that it asks for.
func withInputs(raw json.RawMessage, inputs []string) string {
	var members map[string]any
	if len(inputs) == 0 || json.Unmarshal(raw, &members) != nil || members == nil {
		return canonical(raw)
	}
	slices.Sort(inputs)
	members["inputs"] = slices.Compact(inputs)
	out, err := json.Marshal(members)
	if err != nil {
		return canonical(raw)
	}
	return string(out)
}

var keptVariable = lazyregexp.New(`\$\{secret:[^}]*\}`)

// canonical returns the text of an entry of mcp.json. Equal entries have equal texts.
func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

// anywhere returns a canonical entry without the folder of a host: it may start there or in another.
func anywhere(exact string) string {
	return strings.Replace(exact, `"cwd":"${workspaceFolder}",`, "", 1)
}

func (p *Plan) problem(path, format string, args ...any) {
	p.Problems = append(p.Problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (p *Plan) unreadable(place importer.Place, err error) {
	if p.wants(place.Host(), place.ID()) {
		p.Unreadable = append(p.Unreadable, Problem{Path: place.Path, Message: "It cannot be read: " + reason.Of(err)})
	}
}

// read reads the servers of a place.
func (p *Plan) read(place importer.Place) {
	file, err := atomicfile.Read(place.Path, maxFile)
	if err != nil {
		p.problem(place.Path, "It is left alone: %s.", reason.Of(err))
		p.unreadable(place, err)
		return
	}
	installed := place.Adds && (file.Exists || p.installed(place))
	if (installed || file.Exists && place.Folder == "") && !slices.Contains(p.Hosts, place.Host()) && (installed || hasServers(place, file.Data)) {
		p.Hosts = append(p.Hosts, place.Host())
	}
	if !file.Exists && !installed {
		return
	}
	doc, err := place.Parse(file.Data)
	if err != nil {
		if place.IsAboutServers(bytes.ReplaceAll(file.Data, []byte{0}, nil)) {
			if advice, _ := config.SingleBackslashes(file.Data, 0); advice != "" {
				err = fmt.Errorf("%w (%s)", err, advice)
			}
			p.problem(place.Path, "It is left alone, because it cannot be read: %s. Repair it, and run this again.", err)
			p.unreadable(place, err)
		}
		return
	}
	found, err := place.Servers(doc)
	if err != nil {
		p.problem(place.Path, "It is left alone, because its servers cannot be read: %s. Repair it, and run this again.", err)
		p.unreadable(place, err)
		return
	}
	if p.isRead(place, file, found) {
		return
	}
	p.edits = append(p.edits, &fileEdit{place: place, file: file, doc: doc})
	for _, f := range found {
		c := &Copy{
			Host: place.Host(), HostID: place.ID(), Path: place.Path, Name: f.Name, Folder: f.Folder, Project: place.Folder != "",
			at: f.At, value: f.Value,
		}
		if place.Folder != "" {
			c.Folder = place.Folder
		}
		p.copies = append(p.copies, c)
		if start, ok := routedTo(f.Value); ok {
			c.Routed, c.routed = true, start
			if start.Server == "" {
				continue // all servers: nothing to say about one
			}
			has := p.known[start.Server].exact
			p.add(&Server{Name: start.Server, exact: has, same: anywhere(has)}, c)
			continue
		}
		if len(f.Name) > maxName {
			p.problem(place.Path, "The server %.40q is left alone: its name is too long.", f.Name)
			continue
		}
		if f.Err != nil {
			p.problem(place.Path, "The server %q is left alone: it %s.", f.Name, reason.Of(f.Err))
			continue
		}
		if f.Server.Fails != "" {
			p.problem(place.Path, "The server %q is left alone, because it would not work the same. %s", f.Name, f.Server.Fails)
			continue
		}
		var asked []string
		for _, raw := range f.Server.Inputs() {
			asked = append(asked, canonical(raw))
		}
		exact := withInputs(f.Server.Entry, asked)
		p.add(&Server{
			Name: f.Name, server: f.Server, exact: exact, same: anywhere(exact), secrets: importer.Secrets(f.Server.Entry),
			Warnings: slices.DeleteFunc(f.Server.Warnings, func(text string) bool { return strings.Contains(text, "secret in plain text") }), // Secrets says it
		}, c)
	}
}

// isRead reports whether a file was read before, as that of another place: one of the two is a link. A server that the hosts of
// both places understand in different ways has to stay.
func (p *Plan) isRead(place importer.Place, file *atomicfile.File, found []importer.Found) bool {
	i := slices.IndexFunc(p.edits, func(e *fileEdit) bool { return file.Exists && e.file.Path == file.Path })
	if i < 0 {
		return false
	}
	first := p.edits[i]
	if len(found) > 0 {
		p.problem(place.Path, "It is the same file as %s, so what changes there changes here.", first.place.Path)
	}
	others, err := first.place.Servers(first.doc)
	for _, f := range others {
		same := err == nil && slices.ContainsFunc(found, func(other importer.Found) bool {
			return other.Name == f.Name && slices.Equal(other.At, f.At) && other.Err == nil && other.Server.Fails == "" &&
				bytes.Equal(other.Server.Entry, f.Server.Entry)
		})
		for _, c := range p.copies {
			if c.Path == first.place.Path && c.Name == f.Name && slices.Equal(c.at, f.At) && !c.Routed && !same {
				c.other = place.Host()
			}
		}
	}
	return true
}

// hasServers reports whether a file probably configures servers.
func hasServers(place importer.Place, data []byte) bool {
	doc, err := place.Parse(data)
	if err != nil {
		return false
	}
	found, err := place.Servers(doc)
	return err == nil && len(found) > 0
}

// installed reports whether the host's own folder or its program is on this machine.
func (p *Plan) installed(place importer.Place) bool {
	dir := filepath.Dir(place.Path)
	if info, err := os.Stat(dir); err == nil && info.IsDir() && dir != filepath.Clean(p.options.Places.Home) {
		return true
	}
	return place.Command() != "" && p.options.Installed != nil && p.options.Installed(place.Command())
}

// add adds a copy to its server, and makes that server if it is the first copy.
func (p *Plan) add(s *Server, c *Copy) {
	i := slices.IndexFunc(p.Servers, func(other *Server) bool {
		return other.Name == s.Name && (other.same == s.same || other.same == "" || s.same == "")
	})
	if i < 0 {
		p.Servers = append(p.Servers, s)
		i = len(p.Servers) - 1
	} else if p.Servers[i].server.Entry == nil && s.server.Entry != nil {
		s.Copies = p.Servers[i].Copies
		p.Servers[i] = s
	} else if s.server.Entry != nil && s.exact != p.Servers[i].exact {
		p.Servers[i].meet(s)
	}
	p.Servers[i].Copies = append(p.Servers[i].Copies, c)
}

// meet makes one server of two that differ only in whether they start in the folder of their host. In the person's home
// folder, it starts for all hosts without a question about that folder.
func (s *Server) meet(other *Server) {
	if len(other.exact) < len(s.exact) {
		s.server, s.exact, s.Warnings = other.server, other.exact, other.Warnings
	}
	s.Warnings = addOnce(s.Warnings, "It starts in your home folder for all of its hosts, because some of them do not ask whether you trust a folder.")
}

// merge finds the entries of which a host makes one server. Neither can move: the host would mix what is left of them.
func (p *Plan) merge() {
	for i, s := range p.Servers {
		for _, other := range p.Servers[:i] {
			for _, a := range s.Copies {
				for _, b := range other.Copies {
					isOne := a.HostID == b.HostID && a.Path != b.Path && a.Name == b.Name && slices.Equal(a.at, b.at)
					if isOne && (a.Folder == b.Folder || a.Folder == "" || b.Folder == "") && p.edit(a).place.Merges() {
						a.merged, b.merged = b.Path, a.Path
					}
				}
			}
		}
	}
}

// edit returns the change of the file of an entry.
func (p *Plan) edit(c *Copy) *fileEdit {
	return p.edits[slices.IndexFunc(p.edits, func(e *fileEdit) bool { return e.place.Path == c.Path })]
}

// name gives different servers different names, and sets what differs.
func (p *Plan) name() {
	taken := map[string]bool{}
	first := map[string]*Server{}
	for _, s := range p.Servers {
		name, exact := s.Name, s.exact
		for n := 1; taken[s.Name] || p.known[s.Name].exact != "" && p.known[s.Name].exact != exact && exact != ""; n++ {
			s.Name = name + "-" + s.Copies[0].HostID
			if n > 1 {
				s.Name += "-" + strconv.Itoa(n)
			}
		}
		taken[s.Name] = true
		_, s.Known = p.known[s.Name]
		if other := first[name]; other != nil {
			s.Differs = differences(json.RawMessage(other.same), json.RawMessage(s.same))
		} else {
			first[name] = s
		}
		s.Runs = runs(p.entry(s), importer.Secrets(p.entry(s)))
		for _, found := range s.secrets {
			at := found.At
			if at[0] == "args" {
				if i, err := strconv.Atoi(at[1]); err == nil {
					at = []string{"argument", strconv.Itoa(i + 1)}
				}
			} else if len(at) > 1 {
				at = []string{at[0], secret.Shown(at[1])}
			}
			s.Secrets = append(s.Secrets, strings.Join(at, " "))
		}
	}
}

// differences returns the names of the members that differ.
func differences(a, b json.RawMessage) []string {
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return nil
	}
	var names []string
	for _, name := range []string{"type", "command", "args", "env", "envFile", "cwd", "url", "headers", "oauth", "inputs"} {
		first, errA := json.Marshal(x[name])
		second, errB := json.Marshal(y[name])
		if errA == nil && errB == nil && !bytes.Equal(first, second) {
			names = append(names, name)
		}
	}
	return names
}

// runs returns a server's command or URL, without secrets.
func runs(raw json.RawMessage, secrets []importer.Secret) string {
	var e struct {
		Command, URL string
		Args         []string
	}
	if json.Unmarshal(raw, &e) != nil {
		return ""
	}
	for _, s := range secrets {
		switch s.At[0] {
		case "args":
			if i, err := strconv.Atoi(s.At[1]); err == nil && i < len(e.Args) {
				e.Args[i] = "***"
			}
		case "url":
			for _, f := range slices.Backward(secret.New().InValue("", e.URL)) {
				e.URL = e.URL[:f.Start] + "***" + e.URL[f.End:]
			}
		}
	}
	if e.URL != "" {
		return e.URL
	}
	return strings.Join(append([]string{e.Command}, e.Args...), " ")
}

// choose plans the edits.
func (p *Plan) choose() {
	o := p.options
	if err := o.Policy.Forbids(orgpolicy.Setup); err != nil {
		for _, c := range p.copies {
			p.problem(c.Path, "The server %q is left alone, because setup may change nothing. %v.", c.Name, err)
		}
		return
	}
	if err := o.Policy.Forbids(orgpolicy.SetupShare); o.Share && err != nil {
		p.problem(o.UserFile, "No server is shared with other programs. %v.", err)
		o.Share = false
	}
	for _, s := range p.Servers {
		for _, c := range s.Copies {
			if c.Routed {
				s.uses(c.Host)
			}
		}
		if len(o.Servers) > 0 && !slices.Contains(o.Servers, s.Name) && !slices.Contains(o.Servers, s.Copies[0].Name) ||
			slices.Contains(o.WithoutServers, s.Name) {
			continue
		}
		if id, path := p.otherInput(s); id != "" {
			for _, c := range s.Copies {
				p.problem(c.Path, "The server %q is left alone: its input %q is another than the one of that id in %s. Rename one of the two.", c.Name, id, path)
			}
			continue
		}
		for _, c := range s.Copies {
			if c.Project && !o.Projects || !p.wants(c.Host, c.HostID) {
				continue
			}
			if c.other != "" {
				p.problem(c.Path, "The server %q is left alone: %s has the same file, and would have another server there.", c.Name, c.other)
				continue
			}
			if c.merged != "" && !c.Routed {
				p.problem(c.Path, "The server %q is left alone: %s has it too, and %s makes one server of the two. Write it in one of the files.", c.Name, c.merged, c.Host)
				continue
			}
			e := p.edit(c)
			if c.Routed && !p.isOld(e, s, c) || p.isBlocked(e, c.Name, s) {
				continue
			}
			if p.change(e, entryEdit{At: c.at, Name: c.Name, Server: s.Name}, e.place.Starts(c.Name, p.start(e, s), c.value)) {
				c.Changes, s.moves = true, true
				s.uses(c.Host)
			}
		}
		if o.Share {
			p.share(s)
		}
		if s.moves {
			p.keepInputs(s.server.Inputs(), s.Copies[0].Path)
		}
	}
	for _, e := range p.edits {
		if len(e.done) > 0 {
			p.Files = append(p.Files, e.place.Path)
		}
	}
}

func (s *Server) uses(host string) {
	if !slices.Contains(s.Hosts, host) {
		s.Hosts = append(s.Hosts, host)
	}
}

// isOn reports whether the host of an entry uses it.
func (c *Copy) isOn() bool {
	var e struct {
		Enabled  *bool
		Disabled bool
	}
	_ = json.Unmarshal(c.value, &e) // a value of another type says nothing
	return !e.Disabled && (e.Enabled == nil || *e.Enabled)
}

// share adds a server to the hosts that do not have it.
func (p *Plan) share(s *Server) {
	i := slices.IndexFunc(s.Copies, func(c *Copy) bool { return c.Folder == "" })
	if i < 0 || s.same == "" && !s.Known {
		return // it belongs to a project
	}
	name := s.Name
	for _, e := range p.edits {
		if !e.place.Adds || !p.wants(e.place.Host(), e.place.ID()) || slices.Contains(s.Hosts, e.place.Host()) {
			continue
		}
		has := slices.ContainsFunc(p.Servers, func(other *Server) bool {
			return slices.ContainsFunc(other.Copies, func(c *Copy) bool { return c.Host == e.place.Host() && c.Name == name && c.Folder == "" })
		})
		if !has && !slices.ContainsFunc(s.Copies, func(c *Copy) bool { return c.Folder == "" && c.isOn() }) { // it would be on there
			p.problem(s.Copies[i].Path, "The server %q is not shared: it is switched off in %s.", s.Copies[i].Name, s.Copies[i].Host)
			return
		}
		at := e.place.Main()
		if !has && !p.isBlocked(e, name, s) && p.change(e, entryEdit{At: at, Name: name, Server: s.Name, Added: true}, e.place.Starts(name, p.start(e, s), nil)) {
			s.moves = true
			s.uses(e.place.Host())
		}
	}
}

// change makes an edit in the plan, and reports whether it can be made.
func (p *Plan) change(e *fileEdit, entry entryEdit, members []hostfile.Member) bool {
	err := e.file.Writable()
	switch {
	case err != nil:
	case e.place.Replaces(entry.Server):
		err = fmt.Errorf("%s would take a part of its name for a variable: rename it", e.place.Host())
	case e.place.Replaces(p.options.Command):
		err = fmt.Errorf("%s would take a part of the path %s for a variable: move the program", e.place.Host(), p.options.Command)
	case entry.Added:
		err = e.doc.Add(entry.At, entry.Name, members)
	default:
		err = e.doc.Route(entry.At, entry.Name, importer.Launch(), members)
	}
	if err != nil {
		p.problem(e.place.Path, "The server %q is left alone: %s.", entry.Name, reason.Of(err))
		return false
	}
	e.done = append(e.done, entry)
	return true
}

// isBlocked reports whether the organisation, or the person's own settings of Claude Code, do not let a host use a server, or start
// Assent for it. The problem says so.
func (p *Plan) isBlocked(e *fileEdit, name string, s *Server) bool {
	policy, host := p.options.Policy, e.place.ID()
	if policy == nil {
		return false
	}
	if err := policy.CheckDefinition(name, p.entry(s), host); err != nil {
		p.problem(e.place.Path, "The server %q is left alone. %s.", name, err)
		return true
	}
	if err := policy.CheckDefinition(name, p.sealed(s), host); err != nil {
		p.problem(e.place.Path, "The server %q is left alone, because its secret would be sealed, and then no list of the organisation has it. %s.", name, err)
		return true
	}
	start := p.start(e, s)
	blocked := policy.CheckEntry(host, name, append([]string{start.Command}, start.Args...))
	if blocked == nil {
		return false
	}
	wayOut := ""
	if blocked.Missing != "" {
		who := "an administrator adds to that file"
		if blocked.IsOwn {
			who = "add to the list there"
		}
		wayOut = fmt.Sprintf(" To let it, %s: %s", who, blocked.Missing)
	}
	p.problem(e.place.Path, "The server %q is left alone, because %s may not start Assent for it. %s.%s", name, e.place.Host(), blocked, wayOut)
	return true
}

// sealed returns a server's entry without the secrets that Apply may seal.
func (p *Plan) sealed(s *Server) json.RawMessage {
	server := s.server
	for _, found := range s.secrets {
		without, err := server.With(found, "${secret:"+secretName(append([]string{s.Name}, found.At...))+"}")
		if err != nil {
			return p.entry(s)
		}
		server = without
	}
	if server.Entry == nil {
		return p.entry(s)
	}
	return server.Entry
}

func (p *Plan) wants(host, id string) bool {
	if slices.Contains(p.options.WithoutHosts, host) {
		return false
	}
	return len(p.options.Hosts) == 0 || slices.ContainsFunc(p.options.Hosts, func(want string) bool {
		return strings.EqualFold(want, host) || want == id
	})
}

// chosenExist returns an error if no host or server has a chosen name.
func (p *Plan) chosenExist() error {
	for _, want := range p.options.Hosts {
		if !slices.ContainsFunc(p.options.Places.Files(), func(pl importer.Place) bool { return strings.EqualFold(want, pl.Host()) || want == pl.ID() }) {
			var ids []string
			for _, pl := range p.options.Places.Files() {
				if !slices.Contains(ids, pl.ID()) {
					ids = append(ids, pl.ID())
				}
			}
			return fmt.Errorf("there is no host %q: there are %s", want, strings.Join(ids, ", "))
		}
	}
	for _, want := range p.options.Servers {
		if !slices.ContainsFunc(p.Servers, func(s *Server) bool { return s.Name == want || s.Copies[0].Name == want }) {
			return fmt.Errorf("no host has a server %q: without --server, all are shown", want)
		}
	}
	return nil
}

// HasSecrets reports whether a server that moves has a secret in clear text.
func (p *Plan) HasSecrets() bool {
	return slices.ContainsFunc(p.Servers, func(s *Server) bool { return s.moves && !s.Known && len(s.secrets) > 0 })
}

// isOld reports whether setup made an entry that it would now make otherwise, or if its program has moved since.
func (p *Plan) isOld(e *fileEdit, s *Server, c *Copy) bool {
	isMade := slices.ContainsFunc(p.made[e.file.Path], func(made entryEdit) bool {
		return made.Name == c.Name && slices.Equal(made.At, c.at) && made.Server == c.routed.Server
	})
	return isMade && (!slices.Equal(c.routed.Args, p.start(e, s).Args) || !p.isThere(c.routed.Program))
}

// start is how a host's file starts Assent for a server: for the person's own one, also where a project has another of that
// name.
func (p *Plan) start(e *fileEdit, s *Server) importer.Start {
	args := []string{"gateway", "--own", "--host", e.place.ID()}
	if strings.HasPrefix(s.Name, "-") {
		args = append(args, "--")
	}
	return importer.Start{Command: p.options.Command, Args: append(args, s.Name), Entry: p.entry(s)}
}

// entry returns a server's entry: that from a host, or the one that the person's own file has.
func (p *Plan) entry(s *Server) json.RawMessage {
	if s.server.Entry != nil {
		return s.server.Entry
	}
	return json.RawMessage(p.known[s.Name].entry)
}

// routedTo returns how an entry starts Assent, or false if it does not.
func routedTo(raw json.RawMessage) (gatewayStart, bool) {
	var e struct {
		Command   json.RawMessage `json:"command"`
		Cmd       string          `json:"cmd"`
		Args      []string        `json:"args"`
		Transport json.RawMessage `json:"transport"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return gatewayStart{}, false
	}
	if len(e.Transport) > 0 && e.Transport[0] == '{' {
		return routedTo(e.Transport)
	}
	command, args := e.Cmd, e.Args
	var list []string
	var object struct {
		Path string
		Args []string
	}
	switch {
	case json.Unmarshal(e.Command, &list) == nil && len(list) > 0:
		command, args = list[0], list[1:]
	case len(e.Command) > 0 && e.Command[0] == '{' && json.Unmarshal(e.Command, &object) == nil:
		command, args = object.Path, object.Args
	case len(e.Command) > 0:
		if json.Unmarshal(e.Command, &command) != nil {
			return gatewayStart{}, false
		}
	}
	of, is := config.GatewayArgs(command, args)
	if !is {
		return gatewayStart{}, false
	}
	return gatewayStart{Program: command, Args: args, Server: serverIn(of)}, true
}

// serverIn returns the server among the arguments of "assent gateway", empty if there is none.
func serverIn(args []string) string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--" && i+1 < len(args):
			return args[i+1]
		case !strings.HasPrefix(arg, "-"):
			return arg
		case !strings.Contains(arg, "=") && !slices.Contains([]string{"--own", "--trust", "--as-is", "--quiet"}, arg):
			i++ // the flag's value
		}
	}
	return ""
}

// isNotThere reports whether an error says that there is no file.
func isNotThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }
