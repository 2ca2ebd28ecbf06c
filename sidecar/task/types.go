package task

import "assent/sidecar/task/ask"

// The types of [ask.Asks], for code that has a [Task].
type (
	Question = ask.Question
	Granted  = ask.Granted
	Check    = ask.Check
	Answer   = ask.Answer
	Ended    = ask.Ended
)
