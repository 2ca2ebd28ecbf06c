package auth

import "net/netip"

// SetPrivate has private say which addresses not everybody reaches: every server of a test is on this machine.
func (o *Options) SetPrivate(private func(netip.AddrPort) bool) { o.private = private }
