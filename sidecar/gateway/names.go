package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// maxName is how long a name is at most that a host gets from a gateway of all servers. Hosts put the gateway's own name
// in front, and the shortest limit of a known host is 55 characters for both.
const maxName = 46

// qualified names a tool or a prompt of one of several servers.
type qualified struct{ server, name string }

// joinedNames returns a name for each tool of several servers: the server's, two underscores, and its own, of
// [A-Za-z0-9_] alone. A name that would be too long or ambiguous ends with a hash of both. The names do not depend on the
// order, and the name of one tool depends on the others only if they would be the same.
func joinedNames(all []qualified) map[qualified]string {
	names := make(map[qualified]string, len(all))
	for _, q := range all {
		if name := plain(q.server) + "__" + plain(q.name); len(name) <= maxName {
			names[q] = name
		} else {
			names[q] = hashedName(q, name)
		}
	}
	// A server can give its tool the name that another server's has with its hash. Such a name is hashed, too.
	for isUnique := false; !isUnique; {
		isUnique = true
		uses := map[string]int{}
		for _, name := range names {
			uses[name]++
		}
		for q, name := range names {
			if hashed := hashedName(q, name); uses[name] > 1 && name != hashed {
				names[q], isUnique = hashed, false
			}
		}
	}
	return names
}

// hashLength is the length of a hash in a name: long enough that no server finds a name with another's hash.
const hashLength = 13

// hashedName returns a name that ends with a hash. It changes no name that ends with the hash already.
func hashedName(q qualified, name string) string {
	sum := sha256.Sum256([]byte(q.server + "\x00" + q.name))
	hash := "_" + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:10]))[:hashLength]
	if strings.HasSuffix(name, hash) {
		return name
	}
	return name[:min(len(name), maxName-len(hash))] + hash
}

// plain returns a name with an underscore for each character that some host does not take.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, name)
}
