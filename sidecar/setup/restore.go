package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assent/sidecar/base/atomicfile"
	"assent/sidecar/base/reason"
	"assent/sidecar/setup/hostfile"
	"assent/sidecar/setup/importer"
	"assent/sidecar/setup/vault"
)

// How says how a file was restored.
type How string

// How files are restored.
const (
	// PutBack: the file has its earlier bytes.
	PutBack How = "put back"
	// Removed: the file is removed, because Apply had made it.
	Removed How = "removed"
	// Merged: the file had changed since Apply. Those changes stay, and the entries of Assent are gone.
	Merged How = "merged"
	// Untouched: the file had its earlier bytes already.
	Untouched How = "untouched"
)

// Restored is a file that Restore restored.
type Restored struct {
	Path string `json:"path"`
	How  How    `json:"how"`
	// Notes are sentences about entries that Restore left as they are.
	Notes []string `json:"notes,omitempty"`
}

// Undone says what Restore did.
type Undone struct {
	Files []Restored `json:"files"`
	// Problems are files that Restore could not restore. A later Restore tries them again.
	Problems []Problem `json:"problems,omitempty"`
}

// Restore undoes all runs of Apply, the last one first. A file that it cannot restore stays in the journal.
func Restore(o Options) (undone *Undone, err error) {
	undone = &Undone{}
	if _, err := os.Stat(o.runsDir()); isNotThere(err) {
		return undone, nil
	}
	unlock, err := o.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	runs, err := o.runs()
	if err != nil {
		return nil, err
	}
	kept := vault.Open(o.Folder)
	failed := map[string]bool{} // files by path, and "" for the person's own and the secrets
	for _, r := range runs {
		for _, c := range slices.Backward(r.Files) {
			if c.Done || failed[c.Path] {
				continue
			}
			restored, err := o.restoreFile(kept, r, c)
			if err != nil {
				failed[c.Path] = true
				undone.Problems = append(undone.Problems, Problem{c.Path, fmt.Sprintf("It is not restored: %s. Then run assent restore again.", reason.Of(err))})
				continue
			}
			c.Done = true
			undone.Files = append(undone.Files, restored)
			if err := r.save(); err != nil {
				return undone, err
			}
		}
		if slices.ContainsFunc(r.Files, func(c *change) bool { return !c.Done }) {
			continue // a host still needs the servers
		}
		if err := r.end(o, kept, undone); err != nil {
			undone.Problems = append(undone.Problems, Problem{o.UserFile, fmt.Sprintf("It is not restored: %s. Then run assent restore again.", reason.Of(err))})
			return undone, nil
		}
	}
	if len(undone.Problems) == 0 {
		if slices.ContainsFunc(runs, func(r *run) bool { return r.Sealed }) {
			err = kept.Clear()
		}
	}
	return undone, err
}

// restoreFile restores a host's file.
func (o Options) restoreFile(kept *vault.Vault, r *run, c *change) (Restored, error) {
	return r.restore(kept, c, maxFile, func(f *atomicfile.File, before []byte) (text []byte, notes []string, err error) {
		if c.Plugin {
			return nil, []string{"It had been changed since, but all of it was Assent's."}, nil
		}
		if c.Hook != "" {
			return withoutHook(c, f.Data)
		}
		all := o.Places.Files()
		i := slices.IndexFunc(all, func(pl importer.Place) bool { return pl.Path == c.Path || samePath(pl.Path, c.Path) })
		syntax := syntaxOf(c.Path)
		if i >= 0 {
			syntax = all[i].Syntax()
		}
		now, err := hostfile.Parse(syntax, f.Data)
		if err != nil {
			return nil, nil, fmt.Errorf("it cannot be read: %w. Repair it", err)
		}
		was, err := hostfile.Parse(syntax, before)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range slices.Backward(c.Entries) {
			entry, err := now.Entry(e.At, e.Name)
			switch start, routed := routedTo(entry.Value); {
			case errors.Is(err, hostfile.ErrNoEntry):
				notes = append(notes, fmt.Sprintf("The server %q had been removed from it, and stays so.", e.Name))
				continue
			case err != nil:
				return nil, nil, fmt.Errorf("%w. Repair it", err)
			case !routed || start.Server != e.Server:
				notes = append(notes, fmt.Sprintf("The server %q had been changed in it, and stays so.", e.Name))
				continue
			}
			if e.Added {
				err = now.Remove(e.At, e.Name)
			} else {
				err = now.Restore(e.At, e.Name, importer.Launch(), was)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		return now.Bytes(), notes, nil
	})
}

// samePath reports whether two paths lead to the same file, through links.
func samePath(a, b string) bool {
	real, err := filepath.EvalSymlinks(a)
	return err == nil && real == b
}

// syntaxOf guesses a file's syntax from its name, for a file of a program that Assent no longer knows.
func syntaxOf(path string) hostfile.Syntax {
	switch filepath.Ext(path) {
	case ".toml":
		return hostfile.TOML
	case ".yaml", ".yml":
		return hostfile.YAML
	}
	return hostfile.JSON
}

// restore gives a file its earlier bytes if it did not change since Apply, and else the result of merge.
func (r *run) restore(kept *vault.Vault, c *change, limit int64, merge func(f *atomicfile.File, before []byte) ([]byte, []string, error)) (Restored, error) {
	restored := Restored{Path: c.Path}
	f, err := atomicfile.Read(c.Path, limit)
	if err != nil {
		return restored, err
	}
	before, err := r.copyOf(kept, c)
	if err != nil {
		return restored, err
	}
	switch now := hash(f.Data); {
	case f.Exists == (c.Copy != "") && (!f.Exists || now == c.Before):
		restored.How = Untouched
	case f.Exists && now == c.After && c.Copy == "":
		restored.How = Removed
		if err := f.Remove(); err != nil {
			return restored, err
		}
	case !f.Exists || now == c.After:
		restored.How = PutBack
		if !f.Exists {
			restored.Notes = []string{"It had been removed."}
		}
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return restored, err
		}
		if err := f.Replace(before); err != nil {
			return restored, err
		}
	default:
		restored.How = Merged
		text, notes, err := merge(f, before)
		if err != nil {
			return restored, err
		}
		restored.Notes = notes
		if text == nil && c.Copy == "" {
			restored.How, err = Removed, f.Remove()
		} else if string(text) != string(f.Data) {
			err = f.Replace(text)
		}
		if err != nil {
			return restored, err
		}
	}
	if c.Copy == "" && !f.Exists && c.MadeDir != "" {
		for dir := filepath.Dir(c.Path); strings.HasPrefix(dir, c.MadeDir); dir = filepath.Dir(dir) {
			if os.Remove(dir) != nil {
				break // the host has put a file into it
			}
		}
	}
	return restored, nil
}

// end restores the person's own file, forgets the secrets, and removes the run.
func (r *run) end(o Options, kept *vault.Vault, undone *Undone) error {
	if r.User != nil && !r.User.Done {
		restored, err := r.restore(kept, r.User, maxUserFile, r.mergeUser)
		if err != nil {
			return err
		}
		r.User.Done = true
		undone.Files = append(undone.Files, restored)
		if err := r.save(); err != nil {
			return err
		}
	}
	if len(r.Secrets) > 0 {
		f, err := atomicfile.Read(o.UserFile, maxUserFile)
		if err != nil {
			return err
		}
		forget := slices.DeleteFunc(slices.Clone(r.Secrets), func(name string) bool {
			return strings.Contains(string(f.Data), "${secret:"+name+"}")
		})
		if err := kept.Delete(forget); err != nil {
			return err
		}
	}
	return os.RemoveAll(r.dir)
}

// mergeUser removes the servers of a run from the person's own file. It returns nil if nothing is left in it.
func (r *run) mergeUser(f *atomicfile.File, before []byte) (text []byte, notes []string, err error) {
	doc, err := hostfile.Parse(hostfile.JSON, f.Data)
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be read: %w. Repair it", err)
	}
	at := hostfile.Path{"servers"}
	for name, written := range r.Added {
		entry, err := doc.Entry(at, name)
		switch {
		case errors.Is(err, hostfile.ErrNoEntry):
			continue
		case err != nil:
			return nil, nil, err
		case canonical(entry.Value) != canonical(written):
			notes = append(notes, fmt.Sprintf("The server %q had been changed in it, and stays.", name))
			continue
		}
		if err := doc.Remove(at, name); err != nil {
			return nil, nil, err
		}
	}
	var whole map[string]map[string]json.RawMessage
	if before == nil && json.Unmarshal(doc.Bytes(), &whole) == nil && len(whole) == 1 && len(whole["servers"]) == 0 {
		return nil, notes, nil
	}
	return doc.Bytes(), notes, nil
}
