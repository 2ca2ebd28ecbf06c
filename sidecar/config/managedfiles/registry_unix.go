//go:build unix

package managedfiles

import "assent/sidecar/config/orgpolicy"

// registered returns nothing: only Windows has a registry.
func registered() []orgpolicy.File { return nil }
