package auth

import (
	"net/netip"
	"time"
)

// SetPrivate has private say which addresses not everybody reaches: every server of a test is on this machine.
func (o *Options) SetPrivate(private func(netip.AddrPort) bool) { o.private = private }

// SetArrivalPatience sets how long a grant that another sidecar kept is waited for.
func (o *Options) SetArrivalPatience(d time.Duration) { o.arrivalPatience = d }
