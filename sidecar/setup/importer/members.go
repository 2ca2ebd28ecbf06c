package importer

import (
	"slices"
	"strings"

	"assent/sidecar/setup/hostfile"
)

// Treatment says what setup does with a member of a server's entry.
type Treatment string

// The treatments.
const (
	// Carried: the member moves into the person's own mcp.json.
	Carried Treatment = "moves to Assent"
	// Kept: the host goes on to use the member, beside the command that starts Assent.
	Kept Treatment = "stays in the host's entry"
	// Irrelevant: the member stays, and says nothing to the host or the server.
	Irrelevant Treatment = "stays, for people"
	// Alone: the server is left alone, unless the member is off: null, false, 0 or empty.
	Alone Treatment = "the server is left alone"
)

// Member is a row of the table of members. A server with a member in no row is left alone, too.
type Member struct {
	// Hosts are the ids of the hosts that have the member. "*" stands for all.
	Hosts []string
	// Name is the member's name. That of a member within another one has a dot.
	Name string
	// Meaning says its purpose. For Alone it ends a sentence about the server that begins with "It".
	Meaning   string
	Treatment Treatment
}

// Members returns the table.
func Members() []Member { return members }

func row(hosts, names string, does Treatment, meaning string) []Member {
	var rows []Member
	for name := range strings.FieldsSeq(names) {
		rows = append(rows, Member{strings.Fields(hosts), name, meaning, does})
	}
	return rows
}

var members = slices.Concat(
	row("*", "type", Carried, "how the server is reached"),
	row("claude-desktop claude-code cursor cline roo-code windsurf vscode codex copilot-cli gemini-cli qwen-code opencode kilo amp zed kiro junie continue", "command", Carried, "the program"),
	row("claude-desktop claude-code cursor cline roo-code windsurf vscode codex copilot-cli gemini-cli qwen-code kilo amp zed kiro junie goose continue", "args", Carried, "its arguments"),
	row("claude-desktop claude-code cursor cline roo-code windsurf vscode codex copilot-cli gemini-cli qwen-code kilo amp zed kiro junie continue", "env", Carried, "its environment"),
	row("goose", "cmd", Carried, "the program"),
	row("goose", "envs", Carried, "its environment"),
	row("opencode kilo", "environment", Carried, "its environment"),
	row("vscode cursor", "envFile", Carried, "a file with more of its environment"),
	row("cline roo-code vscode codex copilot-cli gemini-cli qwen-code opencode kilo continue", "cwd", Carried, "the folder that it starts in"),
	row("claude-desktop claude-code cursor cline roo-code windsurf vscode codex copilot-cli gemini-cli qwen-code opencode kilo amp zed kiro junie continue", "url", Carried, "its address"),
	row("goose", "uri", Carried, "its address"),
	row("gemini-cli qwen-code", "httpUrl", Carried, "its address"),
	row("windsurf", "serverUrl", Carried, "its address"),
	row("claude-desktop claude-code cursor cline roo-code windsurf vscode copilot-cli gemini-cli qwen-code opencode kilo amp zed kiro junie goose", "headers", Carried, "headers of each request"),
	row("codex", "http_headers", Carried, "headers of each request"),
	row("codex", "env_http_headers bearer_token_env_var", Carried, "headers with the values of variables"),
	row("continue", "requestOptions.headers", Carried, "headers of each request"),
	row("cline", "transport", Carried, "an object with all of the above"),
	row("cline", "transportType", Carried, "how the server is reached"),

	row("claude-code", "oauth.clientId oauth.callbackPort oauth.scopes", Carried, "logging in"),
	row("vscode", "oauth.clientId oauth.clientSecret", Carried, "logging in"),
	row("gemini-cli qwen-code", "oauth.enabled oauth.clientId oauth.clientSecret oauth.scopes oauth.issuer", Carried, "logging in"),
	row("opencode kilo", "oauth.clientId oauth.clientSecret oauth.scope", Carried, "logging in"),
	row("zed", "oauth.client_id oauth.client_secret", Carried, "logging in"),
	row("cursor", "auth.CLIENT_ID auth.CLIENT_SECRET auth.scopes", Carried, "logging in"),
	row("codex", "oauth.client_id oauth.client_secret oauth.callback_port scopes", Carried, "logging in"),
	row("copilot-cli", "oauthClientId oauthScopes", Carried, "logging in"),

	row("codex", "env_vars", Kept, "variables that Codex passes on"),
	row("*", "enabled disabled", Kept, "whether the host uses the server"),
	row("*", "timeout", Kept, "how long the host waits"),
	row("codex", "startup_timeout_sec startup_timeout_ms startup_readiness tool_timeout_sec", Kept, "how long the host waits"),
	row("qwen-code", "discoveryTimeoutMs", Kept, "how long the host waits"),
	row("continue", "connectionTimeout", Kept, "how long the host waits"),
	row("codex", "required supports_parallel_tool_calls", Kept, "how the host uses the server"),
	row("claude-code", "alwaysLoad bareElicitationCapability discoveryCache role", Kept, "how the host uses the server"),
	row("qwen-code", "alwaysLoadTools versionNegotiation", Kept, "how the host uses the server"),
	row("copilot-cli", "isDefaultServer deferTools disableToolCache disableSecretMasking safeForTelemetry slowConnectionThresholdMs", Kept, "how the host uses the server"),
	row("*", "tools enabledTools disabledTools includeTools excludeTools", Kept, "which tools the host offers"),
	row("codex", "enabled_tools disabled_tools omit_tools_from", Kept, "which tools the host offers"),
	row("goose", "available_tools", Kept, "which tools the host offers"),
	row("copilot-cli", "filterMapping", Kept, "how the host shows results"),
	row("*", "autoApprove alwaysAllow trust", Kept, "which tools run without a question"),
	row("codex", "default_tools_approval_mode", Kept, "which tools run without a question"),
	row("vscode", "dev.watch", Kept, "which files restart the server"),
	row("zed", "source", Kept, "who wrote the entry"),

	row("*", "name title description icon version note notes comment comments _comment // _meta", Irrelevant, "words about the server"),
	row("vscode", "gallery", Irrelevant, "where the entry comes from"),
	row("claude-code copilot-cli", "displayName", Irrelevant, "words about the server"),
	row("copilot-cli", "source sourcePath configWarnings", Irrelevant, "where the entry comes from"),
	row("qwen-code", "scope", Irrelevant, "where the entry comes from"),
	row("goose", "display_name bundled", Irrelevant, "words about the server"),
	row("continue", "serverName faviconUrl sourceFile", Irrelevant, "words about the server"),

	row("claude-code", "headersHelper", Alone, "gets headers from a program of its own, which Assent does not run"),
	row("codex", "http_headers_helper", Alone, "gets headers from a program of its own, which Assent does not run"),
	row("claude-code", "tools toolPermissions orgMaxPermission request_timeout_ms", Alone, "is limited in a way that the host has only for a server with a URL"),
	row("claude-code", "oauth.xaa", Alone, "logs in as only the host can"),
	row("claude-code", "oauth.authServerMetadataUrl", Alone, "names the metadata of its authorization server, which Assent looks for itself"),
	row("codex", "oauth_resource", Alone, "logs in for another resource than its URL"),
	row("codex", "auth", Alone, "logs in as only the host can"),
	row("codex", "bearer_token", Alone, "has its token in a member that Codex itself refuses"),
	row("codex", "oauth.callback_url", Alone, "logs in with a redirect URI that Assent does not have"),
	row("codex", "oauth.token_endpoint_auth_method oauth.authorization_server_issuer", Alone, "logs in as only the host can"),
	row("codex", "environment_id experimental_environment", Alone, "starts in an environment that only the host has"),
	row("copilot-cli", "oauthPublicClient", Alone, "logs in as a client with a secret that only the host may have"),
	row("copilot-cli", "auth oidc oauthGrantType", Alone, "logs in as only the host can"),
	row("copilot-cli", "headersRefreshTtlMs", Alone, "gets headers that only the host can renew"),
	row("copilot-cli", "events notifications", Alone, "exchanges notifications with the host that Assent does not pass on"),
	row("copilot-cli", "sourcePlugin sourcePluginVersion sourcePluginSpec", Alone, "belongs to an extension of the host"),
	row("gemini-cli qwen-code", "authProviderType targetAudience targetServiceAccount", Alone, "logs in as only the host can"),
	row("gemini-cli qwen-code", "oauth.authorizationUrl oauth.tokenUrl oauth.audiences oauth.redirectUri oauth.tokenParamName oauth.registrationUrl", Alone, "logs in as only the host can"),
	row("opencode kilo", "oauth.redirectUri oauth.callbackPort", Alone, "logs in with a redirect URI that Assent does not have"),
	row("gemini-cli qwen-code", "tcp", Alone, "is reached in a way that Assent does not have"),
	row("gemini-cli qwen-code", "extension", Alone, "belongs to an extension of the host"),
	row("qwen-code", "extensionName agentPluginV1", Alone, "belongs to an extension of the host"),
	row("zed", "settings", Alone, "belongs to an extension of the host"),
	row("zed", "remote", Alone, "starts on another machine"),
	row("goose", "socket", Alone, "is reached in a way that Assent does not have"),
	row("goose", "env_keys", Alone, "has values in the host's own keychain"),
	row("kiro", "oauth oauthScopes", Alone, "logs in as only the host can"),
	row("vscode", "sandboxEnabled sandbox", Alone, "runs in a sandbox, which Assent does not have"),
	row("vscode", "oauth.enterpriseManaged", Alone, "logs in as only the host can"),
	row("vscode", "dev.debug", Alone, "runs under the host's debugger"),
	row("roo-code kilo", "watchPaths", Alone, "starts again when a file changes, which Assent does not do"),
	row("continue", "requestOptions.timeout requestOptions.verifySsl requestOptions.caBundlePath requestOptions.proxy requestOptions.noProxy requestOptions.clientCertificate requestOptions.extraBodyProperties", Alone, "sends requests in a way that Assent does not have"),
	row("continue", "apiKey", Alone, "logs in as only the host can"),
)

// find returns the row of a member of a host, or nil. A row of the host alone counts before one of all hosts.
func find(host, name string) *Member {
	for _, hosts := range []string{host, "*"} {
		if i := slices.IndexFunc(members, func(m Member) bool { return m.Name == name && slices.Contains(m.Hosts, hosts) }); i >= 0 {
			return &members[i]
		}
	}
	return nil
}

// launch are the members that setup takes out of an entry, of all hosts. No host keeps one of them.
var launch = func() hostfile.Launch {
	names := hostfile.Launch{"env_vars"} // which gets more names
	for _, m := range members {
		name, _, _ := strings.Cut(m.Name, ".")
		isKept := slices.ContainsFunc(members, func(other Member) bool {
			return other.Name == name && (other.Treatment == Kept || other.Treatment == Irrelevant)
		})
		if (m.Treatment == Carried || m.Treatment == Alone) && !isKept && name != "dev" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}()

// hasInner reports whether members within a member have rows of their own.
func hasInner(host, name string) bool {
	return slices.ContainsFunc(members, func(m Member) bool { return strings.HasPrefix(m.Name, name+".") && slices.Contains(m.Hosts, host) })
}
