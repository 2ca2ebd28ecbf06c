package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assent/sidecar/base/reason"
	"assent/sidecar/setup/importer"
	"assent/sidecar/setup/vault"
)

// Secrets says what happens to secrets in clear text.
type Secrets string

// The values of Secrets.
const (
	// ToKeychain seals them. The key is in the system's keychain.
	ToKeychain Secrets = "keychain"
	// ToFile seals them. The key is in a file.
	ToFile Secrets = "file"
	// Stay writes them in clear text into the person's own mcp.json.
	Stay Secrets = "stay"
)

// Result says what Apply changed.
type Result struct {
	// UserFile is the person's own mcp.json, and Added the names of the servers that were added to it.
	UserFile string   `json:"userFile"`
	Added    []string `json:"added"`
	// Secrets is how many secrets were moved.
	Secrets int `json:"secrets"`
	// Files are the paths of the hosts' files that were changed.
	Files    []string  `json:"files"`
	Problems []Problem `json:"problems,omitempty"`
}

// Apply carries the plan out. It has changed no host's file if it returns an error.
func (p *Plan) Apply(secrets Secrets) (result *Result, err error) {
	o := p.options
	if ofNPX().MatchString(o.Command) {
		return nil, errors.New("nothing was changed: this program is in npm's cache, and hosts could not start it when npm has emptied that. Run npm install --global @assent/cli, and then assent setup")
	}
	unlock, err := o.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	result = &Result{UserFile: o.UserFile}
	if len(p.Files) == 0 {
		return result, nil
	}
	kept := vault.Open(o.Folder)
	r, err := o.newRun()
	if err != nil {
		return nil, err
	}
	undone := func(err error) (*Result, error) {
		return nil, errors.Join(fmt.Errorf("nothing was changed: %w", err), os.RemoveAll(r.dir))
	}
	if r.Sealed = secrets != Stay && p.HasSecrets(); r.Sealed {
		place := vault.KeyFile
		if secrets == ToKeychain {
			place = vault.Keychain
		}
		if err := kept.Prepare(place); err != nil {
			return undone(err)
		}
	}
	text, values, err := p.userText(r, result, r.Sealed)
	if err != nil {
		return undone(err)
	}
	if text != nil {
		if r.User, err = r.keep(kept, p.user, text, nil); err != nil {
			return undone(err)
		}
		if r.User.Copy != "" {
			if err := os.Rename(filepath.Join(r.dir, r.User.Copy), filepath.Join(r.dir, "user.copy")); err != nil {
				return undone(err)
			}
			r.User.Copy = "user.copy"
		}
	}
	for _, e := range p.edits {
		if len(e.done) == 0 {
			continue
		}
		c, err := r.keep(kept, e.file, e.doc.Bytes(), e.done)
		if err != nil {
			return undone(err)
		}
		r.Files = append(r.Files, c)
	}
	if err := r.save(); err != nil {
		return undone(err)
	}
	// From here on, Restore knows what to do.
	if len(values) > 0 {
		if err := kept.Set(values); err != nil {
			return undone(err)
		}
		result.Secrets = len(values)
	}
	if text != nil {
		err := os.MkdirAll(filepath.Dir(p.user.Path), 0o700)
		if err == nil {
			err = p.user.Replace(text)
		}
		if err != nil {
			return undone(errors.Join(err, kept.Delete(r.Secrets)))
		}
	}
	var left []*change
	i := 0
	for _, e := range p.edits {
		if len(e.done) == 0 {
			continue
		}
		err := os.MkdirAll(filepath.Dir(e.file.Path), 0o755)
		if err == nil {
			err = e.file.Replace(e.doc.Bytes())
		}
		if err != nil {
			result.Problems = append(result.Problems, Problem{e.place.Path, fmt.Sprintf("It is left alone: %s.", reason.Of(err))})
			left = append(left, r.Files[i])
		} else {
			result.Files = append(result.Files, e.place.Path)
		}
		i++
	}
	if len(result.Files) == 0 { // no host would use the added servers
		result.Added, result.Secrets = nil, 0
		return result, r.end(o, kept, &Undone{})
	}
	if len(left) > 0 {
		r.Files = slices.DeleteFunc(r.Files, func(c *change) bool { return slices.Contains(left, c) })
		err = r.save()
	}
	return result, err
}

// secretName returns the name of a secret at a place. Two places never have the same name.
func secretName(at []string) string {
	parts := slices.Clone(at)
	for i := range parts {
		parts[i] = strings.NewReplacer("%", "%25", "/", "%2F", "}", "%7D", "\n", "%0A").Replace(parts[i])
	}
	return strings.Join(parts, "/")
}

// userText returns the person's own file with the servers that move, and the secrets to seal. The file is nil if no server
// moves.
func (p *Plan) userText(r *run, result *Result, move bool) (text []byte, values map[string]string, err error) {
	values = map[string]string{}
	r.Added = map[string]json.RawMessage{}
	var servers []importer.Server
	for _, s := range p.Servers {
		if !s.moves || s.Known || s.same == "" {
			continue
		}
		server := s.server
		server.Name = s.Name
		if move {
			for _, secret := range s.secrets {
				name := secretName(append([]string{s.Name}, secret.At...))
				values[name] = secret.Value
				if server, err = server.With(secret, "${secret:"+name+"}"); err != nil {
					return nil, nil, err
				}
				r.Secrets = append(r.Secrets, name)
			}
		}
		servers = append(servers, server)
		r.Added[s.Name] = server.Entry
	}
	if len(servers) == 0 {
		return nil, nil, nil
	}
	text, result.Added, err = importer.Insert(p.user.Data, servers)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %w", p.user.Path, err)
	}
	if len(text) > maxUserFile {
		return nil, nil, fmt.Errorf("%s would have more than %d bytes", p.user.Path, maxUserFile)
	}
	if len(result.Added) != len(servers) {
		return nil, nil, fmt.Errorf("%s has a server of the same name", p.user.Path)
	}
	slices.Sort(result.Added)
	return text, values, nil
}
