package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"

	"assent/sidecar/base/jsonscan"
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

// minServer is how much of a server's name a shortened name has at least.
const minServer = 6

// hashedName returns a name that ends with a hash. It changes no name that ends with the hash already. A name that is too
// long loses the end of the server's part first: the tool's part says what the tool does.
func hashedName(q qualified, name string) string {
	sum := sha256.Sum256([]byte(q.server + "\x00" + q.name))
	hash := "_" + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:10]))[:hashLength]
	if strings.HasSuffix(name, hash) {
		return name
	}
	server, tool := plain(q.server), plain(q.name)
	rest := maxName - len(hash) - len("__")
	server = server[:min(len(server), max(minServer, rest-len(tool)))]
	return server + "__" + tool[:min(len(tool), rest-len(server))] + hash
}

// restOf reports whether a joined name may be of a server, and returns the tool's part if the server's part is whole.
func restOf(server, name string) (rest string, may bool) {
	server = plain(server)
	if rest, isWhole := strings.CutPrefix(name, server+"__"); isWhole {
		return rest, true
	}
	for length := min(minServer, len(server)); length < len(server); length++ {
		if len(name) == maxName && strings.HasPrefix(name, server[:length]+"__") {
			return "", true
		}
	}
	return "", false
}

// renamed returns a tool or prompt with its joined name. If that does not show the server's and its own name whole, and it has
// no title, the title does.
func renamed(item json.RawMessage, q qualified, name string) json.RawMessage {
	item = jsonscan.With(item, "name", jsonscan.Quote(name))
	if name == q.server+"__"+q.name || jsonscan.Text(item, "title") != "" || jsonscan.Text(jsonscan.Member(item, "annotations"), "title") != "" {
		return item
	}
	return jsonscan.With(item, "title", jsonscan.Quote(q.server+": "+q.name))
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
