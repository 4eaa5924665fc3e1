package redial

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"redial-client/problems"
)

// retryLimits say how often the client sends a request, and the longest Retry-After that it waits for.
type retryLimits struct {
	attempts      int
	maxRetryAfter time.Duration
}

const firstWait, longestWait = 250 * time.Millisecond, 8 * time.Second

// These answers mean that the service did nothing, except with one of the codes below.
var refusals = map[int]bool{429: true, 503: true, 507: true}
var uncertain = map[string]bool{"outcomeUnknown": true, "leaseLost": true, "leaderUnreachable": true}

// A proxy gives these when it has lost the service, and 429 and 503 when it lets nobody through.
var fromProxies = map[int]bool{429: true, 502: true, 503: true, 504: true}

// retrying is the attempts of one request: each method returns the wait before the next one, or the error to end with.
// Nothing is sent and nothing sleeps here.
type retrying struct {
	limits  retryLimits
	request *request
	// Where the request goes, for the error that says that no answer came.
	service             string
	failures            int
	mayHaveBeenAccepted bool
	last                error
}

// afterError is the wait after an attempt without an answer. A wait longer than what the caller has left is not begun.
func (r *retrying) afterError(err error, left time.Duration) (time.Duration, error) {
	final := r.connectionError(err)
	r.mayHaveBeenAccepted = final.MayHaveBeenAccepted
	if !neverSent(err) && !r.request.isRepeatable {
		return 0, final
	}
	return r.wait(final, left, 0)
}

func (r *retrying) connectionError(cause error) *ConnectionError {
	text := fmt.Sprintf("no answer from %s to %s %s: %v", r.service, r.request.method, r.request.path, cause)
	return &ConnectionError{MayHaveBeenAccepted: r.mayHaveBeenAccepted || !neverSent(cause), Cause: cause, text: text}
}

// afterAnswer is the wait after an attempt that was answered with something else than a success.
func (r *retrying) afterAnswer(answer *answer, left time.Duration) (time.Duration, error) {
	problem, isProblem := problemIn(answer)
	if isProblem {
		return r.afterProblem(problem, left)
	}
	err := unexpected(answer.status, answer.body)
	r.mayHaveBeenAccepted = true
	if fromProxies[answer.status] && r.request.isRepeatable {
		return r.wait(err, left, seconds(answer.header.Get("Retry-After")))
	}
	return 0, err
}

// afterProblem is the wait after a refusal by the service.
func (r *retrying) afterProblem(problem *Problem, left time.Duration) (time.Duration, error) {
	err := problems.Of(problem)
	if !refusals[problem.Status] || uncertain[problem.Code] && !r.request.isRepeatable {
		return 0, err
	}
	return r.wait(err, left, problem.RetryAfter)
}

// progressed counts the attempts from the start again.
func (r *retrying) progressed() { r.failures = 0 }

func (r *retrying) wait(final error, left, asked time.Duration) (time.Duration, error) {
	r.last = final
	r.failures++
	if r.failures >= r.limits.attempts || asked > r.limits.maxRetryAfter {
		return 0, final
	}
	// Those who were refused together do not come back together.
	wait := time.Duration(float64(asked) * (1 + chance()/4))
	if own := backoff(r.failures - 1); own > wait {
		wait = own
	}
	if wait > left {
		return 0, final
	}
	return wait, nil
}

// backoff is the wait before a retry, counted from 0: exponential, with jitter of a half.
func backoff(retry int) time.Duration {
	base := math.Min(float64(longestWait), float64(firstWait)*math.Pow(2, float64(retry)))
	return time.Duration(base * (0.5 + chance()/2))
}

// Go 1.19 gives each program the same numbers unless they have a seed, and clients that start together must not wait alike.
var random = struct {
	sync.Mutex
	*rand.Rand
}{Rand: rand.New(rand.NewSource(time.Now().UnixNano()))}

func chance() float64 {
	random.Lock()
	defer random.Unlock()
	return random.Float64()
}

// neverSent is whether an error came before the request was sent: there was no connection, or no trust.
func neverSent(err error) bool {
	var operation *net.OpError
	var name *net.DNSError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &operation) && operation.Op == "dial" || errors.As(err, &name) || errors.As(err, &authority) ||
		errors.As(err, &host) || errors.As(err, &invalid)
}

// isPassing is whether it can help to ask again later, after all attempts ended with this error.
func isPassing(err error) bool {
	var problem *Problem
	var connection *ConnectionError
	var other *UnexpectedAnswer
	switch {
	case errors.As(err, &problem):
		return refusals[problem.Status]
	case errors.As(err, &other):
		return fromProxies[other.Status]
	}
	return errors.As(err, &connection)
}

// problemIn is the problem in an answer that has one.
func problemIn(answer *answer) (*Problem, bool) {
	if !strings.HasPrefix(answer.header.Get("Content-Type"), "application/problem+json") {
		return nil, false
	}
	problem := &Problem{}
	if json.Unmarshal(answer.body, problem) != nil {
		// It is not what it says.
		return nil, false
	}
	problem.Status, problem.RetryAfter = answer.status, seconds(answer.header.Get("Retry-After"))
	return problem, true
}

// seconds is a Retry-After; the service gives it in seconds.
func seconds(field string) time.Duration {
	number, err := strconv.ParseUint(field, 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(number) * time.Second
}
