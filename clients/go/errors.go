package redial

import (
	"fmt"
	"time"

	"redial-client/problems"
)

// Problem is a refusal by the service (RFC 9457). The package problems has a type for each code.
type Problem = problems.Problem

// ConnectionError says that no answer came.
type ConnectionError struct {
	// False if the request was certainly never sent.
	MayHaveBeenAccepted bool
	// The last error of the connection.
	Cause error

	text string
}

func (e *ConnectionError) Error() string { return e.text }

// Unwrap returns the last error of the connection.
func (e *ConnectionError) Unwrap() error { return e.Cause }

// UnexpectedAnswer is an answer that is not one of a Redial service: perhaps a proxy gave it, or the URL is wrong.
type UnexpectedAnswer struct {
	Status int
	// The beginning of the body.
	Body string
}

func (e *UnexpectedAnswer) Error() string {
	return fmt.Sprintf("the answer with status %d is not from a Redial service; it begins with %q", e.Status, beginning(e.Body, 100))
}

// CallUnfinished says that a call has not ended within the time to wait. The call goes on.
type CallUnfinished struct {
	// The call as it was last seen.
	Call    *Call
	Timeout time.Duration
}

func (e *CallUnfinished) Error() string {
	return fmt.Sprintf("%s is still %s after %s; it goes on", e.Call.ID, e.Call.State, e.Timeout)
}

// CallWithoutAnswer says that a call of a [Transport] has ended, and no target has answered it.
type CallWithoutAnswer struct {
	Call *Call
}

func (e *CallWithoutAnswer) Error() string {
	text := fmt.Sprintf("%s has ended as %s, without an answer of its target", e.Call.ID, e.Call.State)
	for _, why := range []string{string(e.Call.FailureReason), e.Call.LastError} {
		if why != "" {
			text += ": " + why
		}
	}
	return text
}

// WebhookVerificationError says that a webhook is not signed by any of the secrets, or is too old or too new.
type WebhookVerificationError struct {
	text string
}

func (e *WebhookVerificationError) Error() string { return e.text }

func unexpected(status int, body []byte) *UnexpectedAnswer {
	return &UnexpectedAnswer{Status: status, Body: beginning(string(body), 1000)}
}

func beginning(text string, length int) string {
	if len(text) > length {
		return text[:length]
	}
	return text
}
