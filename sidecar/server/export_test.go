package server

import "assent/sidecar/secret"

// Held is what the scan of a prompt looks for.
func (s *Server) Held() []secret.Held { return s.held() }
