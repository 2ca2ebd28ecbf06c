package protocol

import "encoding/json"

// JournalRecord is one entry of the journal: what happened to a request, a call or a grant, and when.
// Texts that look like secrets are left out. It is also a line of an exported journal.
type JournalRecord struct {
	// Seq counts the records of a store from 1, without gaps.
	Seq  int64       `json:"seq"`
	At   int64       `json:"at"`
	Kind JournalKind `json:"kind"`
	// TaskID, AskID and ServerName are absent if the record concerns none.
	TaskID     string `json:"taskId,omitempty"`
	AskID      string `json:"askId,omitempty"`
	ServerName string `json:"serverName,omitempty"`
	// Body is an object. Its members depend on the kind; docs/journal.md lists them.
	Body json.RawMessage `json:"body"`
	// Hash, in hexadecimal, is the SHA-256 of the record and of the one before it.
	Hash string `json:"hash"`
}

// JournalKind is what a record is about.
type JournalKind string

// The kinds.
const (
	// JournalCallStarted: a person or a model called a server, or a conversation adopted an MCP
	// task.
	JournalCallStarted JournalKind = "callStarted"
	// JournalCallTaskChanged: the MCP task of a call has a new status.
	JournalCallTaskChanged JournalKind = "callTaskChanged"
	// JournalCallEnded: a call ended. JournalResultRemoved: the content of a result was removed
	// later.
	JournalCallEnded     JournalKind = "callEnded"
	JournalResultRemoved JournalKind = "resultRemoved"
	// JournalAskOpened: the person was asked. It has the whole question.
	JournalAskOpened   JournalKind = "askOpened"
	JournalAskExtended JournalKind = "askExtended"
	// JournalAskSettled: an ask was settled. It has the decision, its origin, and the person's
	// edits.
	JournalAskSettled JournalKind = "askSettled"
	// JournalAskUndelivered: the server did not get the answer to a settled ask, or got it after all.
	JournalAskUndelivered JournalKind = "askUndelivered"
	// JournalSamplingMoved: an approved request went to another model, or to the person for review.
	JournalSamplingMoved JournalKind = "samplingMoved"
	// JournalSamplingEnded: a sampling request ended. It has the server's result, and the usage.
	JournalSamplingEnded JournalKind = "samplingEnded"
	JournalGrantCreated  JournalKind = "grantCreated"
	JournalGrantEnded    JournalKind = "grantEnded"
	// JournalRequestDenied: requests of a server were refused without asking the person. There is at most
	// one record per minute and server, with their count.
	JournalRequestDenied JournalKind = "requestDenied"
	// JournalRequestInvalid: a server asked a question that cannot be shown. There are at most ten records per minute and
	// server.
	JournalRequestInvalid JournalKind = "requestInvalid"
	// JournalRequestUnattributed: an unattributed request ended before a person assigned it, or because they
	// dismissed it. An assigned request has a [JournalAskOpened] with [Origin.PlacedBy].
	JournalRequestUnattributed JournalKind = "requestUnattributed"
	// JournalToolRuleCreated and JournalToolRuleRemoved: the person created or removed a rule about a tool.
	JournalToolRuleCreated JournalKind = "toolRuleCreated"
	JournalToolRuleRemoved JournalKind = "toolRuleRemoved"
	// JournalAskFirstChanged: the person added or removed a rule before what the hosts of agents ask them.
	JournalAskFirstChanged JournalKind = "askFirstChanged"
	// JournalServerDecided: the person decided whether a server may run as a file of the workspace configures it.
	JournalServerDecided JournalKind = "serverDecided"
	// JournalServerBlocked: the organisation's policy did not let a server be used.
	JournalServerBlocked JournalKind = "serverBlocked"
	// JournalTaskDeleted and JournalTaskRestored: the person deleted or restored a task. The journal's records
	// of the task stay.
	JournalTaskDeleted  JournalKind = "taskDeleted"
	JournalTaskRestored JournalKind = "taskRestored"
	// JournalRecordsRemoved: the retention setting removed the oldest records. The newest record of this kind says
	// where the journal begins.
	JournalRecordsRemoved JournalKind = "recordsRemoved"
)

// JournalSettings are the settings for the journal.
type JournalSettings struct {
	// KeepDays is how many days a record is kept; 0 means for ever. Without these settings it is 90.
	KeepDays int `json:"keepDays"`
}

// ListJournalParams selects records. An absent member does not restrict the selection.
type ListJournalParams struct {
	ServerName string      `json:"serverName,omitempty"`
	TaskID     string      `json:"taskId,omitempty"`
	Kind       JournalKind `json:"kind,omitempty"`
	// Since selects records from that time on.
	Since int64 `json:"since,omitempty"`
	// Before selects records with a smaller number, to page backwards.
	Before int64 `json:"before,omitempty"`
	// Limit bounds how many records are returned, the newest first; 0 means 200, and the maximum is 1000.
	// Fewer are returned if they are long.
	Limit int `json:"limit,omitempty"`
}

// ListJournalResult holds a part of the journal.
type ListJournalResult struct {
	// Records are in ascending order of their numbers.
	Records []JournalRecord `json:"records,omitempty"`
	// Lines describe the records for the person, in the same order and the sidecar's time zone.
	Lines []string `json:"lines,omitempty"`
	// Earlier: there are earlier records in the selection.
	Earlier bool `json:"earlier,omitempty"`
}
