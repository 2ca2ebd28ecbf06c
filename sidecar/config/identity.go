package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"assent/protocol"
	"assent/sidecar/base/realpath"
)

// identityVersion is hashed first. Another list of members gets another one.
const identityVersion = "assent server 1"

// Identity returns the SHA-256, in hexadecimal, of the server's whole definition: the transport, the command, each
// argument, the folder, the environment with what the envFile sets, the URL, the headers, the login, and how
// Assent is to speak with the server. The name, the source, and how long a call may take are not in it.
//
// Each text counts as it is written, and with its variables put in. An input counts as it is written only, because its
// value is not known before the start. If the path of the envFile has an input, what that file sets does not count.
func (s Server) Identity(ctx context.Context, e Environment) string {
	e = e.quiet()
	return s.hash(ctx, e, func(text string) string {
		value, err := s.expand(ctx, e, text)
		if err != nil {
			return err.Error() // it does not start
		}
		return value
	})
}

// Definition is as [Server.Identity], without the values of the person's own environment: a definition that refers to
// one by ${env:NAME} stays the same when that value changes. It also has what a file of the workspace could change behind
// the definition: where links lead, and a program that lies in the workspace. An envFile outside the workspace is the
// person's own, so its contents do not count. It is not opened.
func (s Server) Definition(ctx context.Context, e Environment) string {
	e = e.quiet()
	e.unopened = true
	var members [][]string
	for _, f := range s.files(ctx, e) {
		members = append(members, []string{"file", f.member, f.real})
	}
	if path, err := s.program(ctx, e); err == nil && s.ofFolder(path) {
		members = append(members, []string{"program", path})
		if leads := realpath.Of(path); leads != path {
			members = append(members, []string{"program leads to", leads})
		}
	}
	return s.hash(ctx, e, func(text string) string { return s.shown(ctx, e, text) }, members...)
}

// quiet returns an environment that neither asks the person nor reports values.
func (e Environment) quiet() Environment {
	e.Note = nil
	e.Ask = func(context.Context, Server, Input) (string, error) { return "", nil }
	e.Secret = func(string) (string, error) { return "", nil }
	return e
}

func (s Server) hash(ctx context.Context, e Environment, resolve func(text string) string, members ...[]string) string {
	member := func(name string, texts ...string) {
		m := []string{name}
		for _, text := range texts {
			m = append(m, text, resolve(text))
		}
		members = append(members, m)
	}
	member(identityVersion)
	members = append(members, []string{"transport", string(s.Transport)})
	member("command", s.Command)
	member("args", s.Args...)
	if s.Transport == protocol.TransportStdio {
		folder := s.Folder
		if s.Own {
			folder = "" // the home folder, wherever that is
		}
		members = append(members, []string{"folder", folder})
	}
	member("cwd", s.Cwd)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if value := s.Env[name]; value != nil {
			member("env", name, *value)
		} else {
			members = append(members, []string{"env", name})
		}
	}
	member("envFile", s.EnvFile)
	more, err := s.envFile(ctx, e)
	if err != nil {
		members = append(members, []string{"envFile", err.Error()})
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		members = append(members, []string{"envFile", name, more[name]})
	}
	member("url", s.URL)
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		member("header", name, s.Headers[name])
	}
	o := s.OAuth
	member("oauth", o.ClientID, o.ClientSecret, o.Issuer, o.ClientMetadataURL, strconv.Itoa(o.CallbackPort))
	if later := o.members(); later != nil {
		member("grant", later...)
	}
	members = append(members, append([]string{"scopes"}, o.Scopes...))
	members = append(members, []string{"speaks", s.ProtocolVersion, strconv.FormatBool(s.Shared)})
	// Quoted, so that two different lists never have the same text, for any bytes.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", members))
	return hex.EncodeToString(sum[:])
}
