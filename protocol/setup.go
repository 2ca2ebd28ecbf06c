package protocol

// SetupChoice says what setup leaves alone, and how far it goes. The zero value is all servers in the hosts that have
// them.
type SetupChoice struct {
	// WithoutHosts and WithoutServers are the names of those that stay as they are.
	WithoutHosts   []string `json:"withoutHosts,omitempty"`
	WithoutServers []string `json:"withoutServers,omitempty"`
	// Share gives each server to all chosen hosts, not only to those that have it.
	Share bool `json:"share,omitempty"`
}

// PlanSetupParams asks for a plan.
type PlanSetupParams struct {
	Choice SetupChoice `json:"choice"`
}

// SetupPlan is what [Sidecar.ApplySetup] would do.
type SetupPlan struct {
	// ID changes with everything that the plan says.
	ID string `json:"id"`
	// UserFile is the path of the person's own mcp.json, to which the servers move.
	UserFile string `json:"userFile"`
	// Hosts are the names of all programs on this machine that use MCP servers.
	Hosts []string `json:"hosts,omitempty"`
	// Sought are the names of the programs that Assent looks for; absent if it found one.
	Sought  []string      `json:"sought,omitempty"`
	Servers []SetupServer `json:"servers,omitempty"`
	// Files are the paths of the hosts' files that would change.
	Files []string `json:"files,omitempty"`
	// Problems are the files, and the entries in them, that are left alone.
	Problems []SetupProblem `json:"problems,omitempty"`
	// Secrets says where the likely secrets of the servers that move would go; empty if there are none.
	Secrets SecretPlace `json:"secrets,omitempty"`
	// Restorable reports that [Sidecar.RestoreSetup] has something to undo.
	Restorable bool `json:"restorable,omitempty"`
}

// SecretPlace says where the key is that seals the moved secrets.
type SecretPlace string

// The values of SecretPlace.
const (
	SecretsInKeychain SecretPlace = "keychain"
	SecretsInFile     SecretPlace = "file"
)

// SetupServer is a server as Assent has or would have it.
type SetupServer struct {
	// Name is its name in Assent. It is not the name in a host's file if two different servers have that one.
	Name string `json:"name"`
	// Runs is the server's command or URL, without secrets, and cut if it is long.
	Runs string `json:"runs"`
	// Copies has at least one.
	Copies []SetupCopy `json:"copies,omitempty"`
	// Hosts are the names of the hosts that would use it through Assent.
	Hosts []string `json:"hosts,omitempty"`
	// Differs names the members that differ from those of the first server of the same name.
	Differs []string `json:"differs,omitempty"`
	// Secrets are the places of likely secrets in clear text, such as "env GITHUB_TOKEN".
	Secrets []string `json:"secrets,omitempty"`
	// Warnings are sentences about what the server will not do as it does in the host.
	Warnings []string `json:"warnings,omitempty"`
	// Fixed reports that there is nothing to choose: no file of the person's own has the server, or all use Assent
	// already.
	Fixed bool `json:"fixed,omitempty"`
}

// SetupCopy is a server's entry in a host's file.
type SetupCopy struct {
	Host string `json:"host"`
	Path string `json:"path"`
	Name string `json:"name"`
	// Folder is the entry's project; empty if the entry is for all.
	Folder string `json:"folder,omitempty"`
	// Routed reports that the entry starts Assent already, and Changes that the plan makes it do so.
	Routed  bool `json:"routed,omitempty"`
	Changes bool `json:"changes,omitempty"`
}

// SetupProblem is a file, or an entry in it, that is left alone.
type SetupProblem struct {
	Path string `json:"path"`
	// Message is a sentence for the person, with the way out.
	Message string `json:"message"`
}

// ApplySetupParams names a plan that the person has seen.
type ApplySetupParams struct {
	Choice SetupChoice `json:"choice"`
	// PlanID is the [SetupPlan.ID] of the plan for the choice.
	PlanID string `json:"planId"`
	// MoveSecrets moves secrets to the place of the plan. Without it, they are in clear text in the person's own file.
	MoveSecrets bool `json:"moveSecrets,omitempty"`
}

// ApplySetupResult says what was changed.
type ApplySetupResult struct {
	// Added are the names of the servers that were added to the person's own file.
	Added []string `json:"added,omitempty"`
	// Secrets is how many secrets were moved.
	Secrets int `json:"secrets,omitempty"`
	// Files are the paths of the changed files of hosts.
	Files    []string       `json:"files,omitempty"`
	Problems []SetupProblem `json:"problems,omitempty"`
}

// RestoreSetupResult says what was restored.
type RestoreSetupResult struct {
	Files []RestoredFile `json:"files,omitempty"`
	// Problems are the files that could not be restored. The next restore tries them again.
	Problems []SetupProblem `json:"problems,omitempty"`
}

// RestoredFile is a file that setup had changed.
type RestoredFile struct {
	Path string       `json:"path"`
	How  FileRestored `json:"how"`
	// Notes are sentences about entries that stay as they are.
	Notes []string `json:"notes,omitempty"`
}

// FileRestored says how a file was restored.
type FileRestored string

// The values of FileRestored.
const (
	// FilePutBack: it has its earlier bytes.
	FilePutBack FileRestored = "put back"
	// FileRemoved: it was not there before.
	FileRemoved FileRestored = "removed"
	// FileMerged: it was changed after setup. Those changes stay, and the entries of Assent are gone.
	FileMerged FileRestored = "merged"
	// FileUntouched: it had its earlier bytes already.
	FileUntouched FileRestored = "untouched"
)
