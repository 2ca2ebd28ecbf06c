package config

import (
	"slices"
	"strings"
)

// influences are the variables that change what a program runs or loads, or where it gets that from, in capitals. A star
// stands for any text at that end. They are those of loaders, shells, interpreters, package managers, build tools, and of
// programs that servers start.
var influences = []string{
	// The system and its loader.
	"PATH", "PATHEXT", "COMSPEC", "SYSTEMROOT", "WINDIR", "LD_*", "DYLD_*", "_RLD*", "GLIBC_TUNABLES", "GCONV_PATH", "MALLOC_*",
	// The folder in which programs look for their settings.
	"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "XDG_*",
	// Shells, and the programs that they start.
	"SHELL", "ENV", "BASH_*", "BASHOPTS", "SHELLOPTS", "ZDOTDIR", "FPATH", "IFS", "PS4", "PROMPT_COMMAND", "PSMODULEPATH",
	"EDITOR", "VISUAL", "*PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "*ASKPASS",
	// Node.js and its neighbours.
	"NODE_*", "NPM_CONFIG_*", "NPM_*", "YARN_*", "PNPM_*", "COREPACK_*", "BUN_*", "DENO_*", "TS_NODE_*", "TSX_*", "ELECTRON_*",
	// Python.
	"PYTHON*", "UV_*", "PIP_*", "PIPX_*", "PIPENV_*", "POETRY_*", "PDM_*", "HATCH_*", "CONDA_*", "MAMBA_*", "VIRTUAL_ENV",
	// Other languages.
	"PERL5*", "PERL_*", "RUBY*", "GEM_*", "BUNDLE_*", "PHPRC", "PHP_*", "COMPOSER_*", "LUA_*", "R_*", "JULIA_*", "GUILE_*", "TCL*",
	"ERL_*", "ELIXIR_*", "MIX_*", "HEX_*", "GHC*", "OCAML*", "CAML_*", "SBCL_*", "SWIFT_*", "DART_*", "PUB_*",
	"JAVA_*", "_JAVA_*", "JDK_*", "CLASSPATH", "MAVEN_*", "MVN_*", "GRADLE_*", "JBANG_*", "KOTLIN_*", "SBT_*",
	"DOTNET_*", "CORECLR_*", "COR_*", "COMPLUS_*", "NUGET_*", "MSBUILD*",
	"GOFLAGS", "GOPROXY", "GOROOT", "GOPATH", "GOBIN", "GOENV", "GOTOOLCHAIN", "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GONOPROXY",
	"GOPRIVATE", "GOINSECURE", "GOVCS", "GOAUTH", "GOWORK", "GOMODCACHE", "GOCACHE", "GOCACHEPROG", "CGO_*", "CC", "CXX", "MAKEFLAGS",
	"CARGO_*", "RUST*", "DENORT_*", "WASMTIME_*",
	// Version managers.
	"NVM_*", "FNM_*", "VOLTA_*", "ASDF_*", "MISE_*", "PYENV_*", "RBENV_*", "SDKMAN_*", "NIX_*", "HOMEBREW_*", "DIRENV_*",
	// Containers, clusters and clouds. Their settings name commands and hosts.
	"DOCKER_*", "CONTAINER_*", "CONTAINERS_*", "PODMAN_*", "BUILDKIT_*", "COMPOSE_*", "KUBECONFIG", "KUBE_*", "HELM_*",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "CLOUDSDK_*", "AZURE_CONFIG_DIR", "AZURE_EXTENSION_DIR", "TF_*",
	// Version control, remote shells and databases.
	"GIT_*", "SSH_*", "HG*", "SVN_*", "RSYNC_*", "PSQLRC", "PGSERVICEFILE", "PGSYSCONFDIR", "ODBC*", "MYSQL_HOME",
	// Networks: the proxies of downloads, and the certificates that count.
	"*_PROXY", "SSL_*", "OPENSSL_*", "*_CA_BUNDLE", "*_CA_CERTS", "CURL_*", "WGETRC", "HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN",
	// Plug-ins of libraries, and programs that others start.
	"GTK_*", "GIO_*", "GST_*", "QT_*", "QML*", "VK_*", "PUPPETEER_*", "PLAYWRIGHT_*", "CHROME_*", "CHROMIUM_*",
	// What programs of all kinds call their options and the files that they run.
	"*_OPTIONS", "*_OPTS", "*_PRELOAD", "*_EXECUTABLE", "*_EXECUTABLE_PATH", "*_PLUGIN_PATH",
}

// plain are variables that [influences] would name, and that change only what a program writes.
var plain = []string{
	"NODE_ENV", "NODE_NO_WARNINGS", "NODE_DISABLE_COLORS", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE",
	"PYTHONHASHSEED", "PYTHONLEGACYWINDOWSSTDIO", "NPM_CONFIG_LOGLEVEL", "NPM_CONFIG_UPDATE_NOTIFIER", "DOTNET_NOLOGO", "DOTNET_CLI_TELEMETRY_OPTOUT",
	"RUST_LOG", "RUST_BACKTRACE", "NO_PROXY",
}

// influence reports whether a variable of this name changes what runs. The case does not count: some programs read their
// variables in any.
func influence(name string) bool {
	name = strings.ToUpper(name)
	return !slices.Contains(plain, name) && slices.ContainsFunc(influences, func(pattern string) bool {
		if end, ok := strings.CutPrefix(pattern, "*"); ok {
			return strings.HasSuffix(name, end)
		}
		if begin, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(name, begin)
		}
		return name == pattern
	})
}
