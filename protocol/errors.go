package protocol

import "fmt"

// ErrorCode is a JSON-RPC error code of this wire.
type ErrorCode int64

// The codes. Those above -32100 are JSON-RPC's and LSP's own.
const (
	CodeParseError           ErrorCode = -32700
	CodeInvalidRequest       ErrorCode = -32600
	CodeMethodNotFound       ErrorCode = -32601
	CodeInvalidParams        ErrorCode = -32602
	CodeInternalError        ErrorCode = -32603
	CodeServerNotInitialized ErrorCode = -32002
	CodeRequestCancelled     ErrorCode = -32800
	// CodeVersionMismatch: the two sides speak different versions of this wire.
	CodeVersionMismatch ErrorCode = -32100
	// CodeUnknownTask: no task has this id.
	CodeUnknownTask ErrorCode = -32101
	// CodeTaskClosed: the task can only be read.
	CodeTaskClosed ErrorCode = -32102
	// CodeUnknownAsk: the task never had an ask with this id, or nothing with it waits to be placed.
	CodeUnknownAsk ErrorCode = -32103
	// CodeAskSettled: somebody or something was first. Data is the [Outcome].
	CodeAskSettled ErrorCode = -32104
	// CodeInvalidAnswer: the answer violates the ask's rules; the ask is still open. Data is
	// [InvalidAnswerData].
	CodeInvalidAnswer ErrorCode = -32105
	// CodeUnknownServer: no MCP server has this name.
	CodeUnknownServer ErrorCode = -32106
	// CodeServerFailed: the MCP server cannot be reached; the message says why.
	CodeServerFailed ErrorCode = -32107
	// CodeUnavailable: the front end lost its sidecar for now. Hosts say it, the sidecar never.
	CodeUnavailable ErrorCode = -32108
	// CodeTaskBusy: something goes on in the task, and has to end first; the message names it.
	CodeTaskBusy ErrorCode = -32110
	// CodeUnknownMcpTask: no MCP task has this id, or an id that begins so.
	CodeUnknownMcpTask ErrorCode = -32111
)

// InvalidAnswerData says what is wrong with an answer.
type InvalidAnswerData struct {
	Problems []FieldProblem `json:"problems,omitempty"`
}

// FieldProblem is what is wrong with one field.
type FieldProblem struct {
	// Name is the field's; empty where the answer as a whole is wrong.
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
	// Keyword is the rule of the [Field] that its value breaks. A front end that translates its texts shows its own for it;
	// without a keyword there is the message alone.
	Keyword Keyword `json:"keyword,omitempty"`
}

// Keyword is a keyword of JSON Schema that a value can break.
type Keyword string

// The keywords.
const (
	// KeywordRequired: the value is absent.
	KeywordRequired Keyword = "required"
	// KeywordType: the value is of another type, or has a fraction and must be whole.
	KeywordType      Keyword = "type"
	KeywordMinLength Keyword = "minLength"
	KeywordMaxLength Keyword = "maxLength"
	KeywordFormat    Keyword = "format"
	KeywordPattern   Keyword = "pattern"
	KeywordMinimum   Keyword = "minimum"
	KeywordMaximum   Keyword = "maximum"
	// KeywordEnum: the value is none of the options.
	KeywordEnum     Keyword = "enum"
	KeywordMinItems Keyword = "minItems"
	KeywordMaxItems Keyword = "maxItems"
)

// Error is a JSON-RPC error. Message is a sentence for the person; whatever a developer needs
// besides is in the sidecar's log.
type Error struct {
	Code    ErrorCode
	Message string
	Data    any
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Errorf makes an [Error] without data.
func Errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
