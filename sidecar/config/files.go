package config

import (
	"context"
	"path/filepath"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/realpath"
)

// envFileMember is the member of a server that names a file with variables.
const envFileMember = "envFile"

// file is a file that a server's definition names.
type file struct {
	// member is the member that names it; those of the login without "oauth".
	member string
	// real is its full path, without links. If the path has an input, it is as it is written.
	real string
	// outside reports whether it lies outside the workspace folder, or is not known to lie in it.
	outside bool
}

// files returns the files that the definition has read, in a fixed order. It opens none.
func (s Server) files(ctx context.Context, e Environment) []file {
	named := []struct{ member, written string }{{envFileMember, s.EnvFile}}
	if s.Transport != protocol.TransportStdio {
		o := s.OAuth
		named = []struct{ member, written string }{
			{"privateKeyFile", o.PrivateKeyFile},
			{"assertionFile", o.AssertionFile},
			{"identityProvider.idTokenFile", o.IdentityProvider.IDTokenFile},
		}
	}
	var files []file
	for _, f := range named {
		if f.written == "" {
			continue
		}
		path, err := s.expand(ctx, e, f.written)
		if err != nil || hasInput(f.written) {
			files = append(files, file{f.member, f.written, !s.Own})
			continue
		}
		path = s.file(e, path)
		files = append(files, file{f.member, realpath.Of(path), !s.Own && !s.holds(path)})
	}
	return files
}

// holds reports whether a path leads into the server's workspace folder.
func (s Server) holds(path string) bool {
	return s.Folder != "" && within(realpath.Of(s.Folder), realpath.Of(path))
}

// RealFolder returns the path of the workspace folder without links.
func (s Server) RealFolder() string {
	if s.Folder == "" {
		return ""
	}
	return realpath.Of(s.Folder)
}

// within reports whether a path is a folder, or lies in it.
func within(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
