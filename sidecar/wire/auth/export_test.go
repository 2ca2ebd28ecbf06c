package auth

import (
	"net/netip"
	"time"
)

// SetPrivate makes private report which addresses are no part of the internet. All servers of a test are on this machine.
func (o *Options) SetPrivate(private func(netip.AddrPort) bool) { o.private = private }

// SetArrivalTimeout bounds the wait for a grant that another sidecar kept.
func (o *Options) SetArrivalTimeout(d time.Duration) { o.arrivalTimeout = d }
