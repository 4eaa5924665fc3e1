// Package problems has a type for each code of a problem with which the service refuses a request.
//
//	var ended *problems.CallEnded
//	if errors.As(err, &ended) {
//		fmt.Println(ended.Status, ended.Detail)
//	}
//
// A code that is not here, of a later version of the service, is a plain [Problem].
package problems

import (
	"fmt"
	"time"
)

// Problem is a refusal by the service (RFC 9457).
type Problem struct {
	// A URI that identifies the kind of problem.
	Type string `json:"type"`
	// The kind of problem, in words.
	Title string `json:"title"`
	// The status of the answer.
	Status int `json:"status"`
	// A stable word that programs can match, such as callEnded.
	Code string `json:"code"`
	// What happened this time, and what to do.
	Detail string `json:"detail"`
	// The places in the input that are at fault.
	Errors []Place `json:"errors,omitempty"`
	// The call that cannot be read; only with callDamaged.
	Call *DamagedCall `json:"call,omitempty"`
	// How long to wait before the next try, if the answer says so.
	RetryAfter time.Duration `json:"-"`
}

// Place is a wrong place in the input: in the body, in the query or in the header section.
type Place struct {
	// A JSON Pointer (RFC 6901) into the body of the request; empty for the whole of it.
	Pointer *string `json:"pointer,omitempty"`
	// The name of a parameter of the query.
	Parameter string `json:"parameter,omitempty"`
	// The name of a header field.
	Header string `json:"header,omitempty"`
	// What is wrong there, as a clause.
	Detail string `json:"detail"`
}

// DamagedCall is what can still be read of a call.
type DamagedCall struct {
	ID string `json:"id"`
	// Empty if it cannot be read.
	Target string            `json:"target,omitempty"`
	Labels map[string]string `json:"labels"`
}

// Error says which problem it is, and what to do.
func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	return fmt.Sprintf("%s (%d): %s", p.Code, p.Status, text)
}

// Refusal is what the types of all codes have: the problem.
type Refusal struct{ *Problem }

// Unwrap returns the problem, so that errors.As finds it behind the type of its code.
func (r Refusal) Unwrap() error { return r.Problem }

// Of returns the problem as the type of its code.
func Of(problem *Problem) error {
	if typed, isKnown := types[problem.Code]; isKnown {
		return typed(Refusal{problem})
	}
	return problem
}
