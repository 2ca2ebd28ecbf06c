package journal

import "assent/protocol"

// words are the texts for the person about each outcome. docs/outcomes.md has the texts for servers.
// A test compares both, and the panel's texts, with the constants of the protocol.
var words = map[protocol.OutcomeReason]string{
	protocol.OutcomeAnswered:             "answered",
	protocol.OutcomeDeclined:             "declined",
	protocol.OutcomeDismissed:            "dismissed without an answer",
	protocol.OutcomeRegenerated:          "sent back for another answer",
	protocol.OutcomeGranted:              "approved by a grant, or by an answer that was set before",
	protocol.OutcomeTimedOut:             "not answered in time",
	protocol.OutcomeServerStoppedWaiting: "ended: the server stopped waiting",
	protocol.OutcomeCallEnded:            "ended: its call ended first",
	protocol.OutcomeServerLost:           "ended: the connection to the server was lost",
	protocol.OutcomeCompleted:            "ended: the server said that it is complete",
	protocol.OutcomeRestarted:            "ended: Assent stopped while it was open",
	protocol.OutcomeAnsweredInHost:       "ended: it was answered in the host",
	protocol.OutcomeHostStoppedWaiting:   "ended: the host stopped waiting",
	protocol.OutcomeNoFrontEnd:           "refused: no front end can show it",
	protocol.OutcomeDenied:               "refused: it goes beyond your limits",
}

// Words returns the text for the person about an outcome.
func Words(reason protocol.OutcomeReason) string {
	if w, ok := words[reason]; ok {
		return w
	}
	return string(reason)
}
