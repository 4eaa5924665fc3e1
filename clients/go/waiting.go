package redial

import (
	"errors"
	"time"
)

const longestHold, longestPause = 20 * time.Second, time.Second

// hasEnded is whether a call in this state has ended.
func hasEnded(state CallState) bool {
	return state == CallStateSucceeded || state == CallStateFailed || state == CallStateCancelled
}

// waiting is how to wait for the end of a call by long polls. Decisions only.
type waiting struct {
	timeout time.Duration
	longest time.Duration
	asked   time.Time
	// When the timeout has passed; zero if there is none.
	deadline time.Time
}

func newWaiting(timeout time.Duration, now time.Time) *waiting {
	w := &waiting{timeout: timeout, longest: longestHold, asked: now}
	if timeout > 0 {
		w.deadline = now.Add(timeout)
	}
	return w
}

func (w *waiting) left(now time.Time) time.Duration {
	if w.deadline.IsZero() {
		return forever
	}
	return w.deadline.Sub(now)
}

// hold is how long the service may hold the next answer back.
func (w *waiting) hold(now time.Time) time.Duration {
	w.asked = now
	return most(0, least(w.longest, w.left(now)))
}

// canAskForLess is whether the service limits waits to less; then the next poll asks for less.
func (w *waiting) canAskForLess(err error) bool {
	var problem *Problem
	if !errors.As(err, &problem) || w.longest < 10*time.Millisecond {
		return false
	}
	for _, place := range problem.Errors {
		if place.Parameter == "wait" {
			w.longest /= 2
			return true
		}
	}
	return false
}

// pause is how long to sleep before the next poll, because the service may answer at once when too many wait.
func (w *waiting) pause(call *Call, now time.Time) (time.Duration, error) {
	left := w.left(now)
	if left <= 0 {
		return 0, &CallUnfinished{Call: call, Timeout: w.timeout}
	}
	return least(left, most(0, least(longestPause, w.longest)-now.Sub(w.asked))), nil
}

func least(a, b time.Duration) time.Duration {
	if a < b {
		return a
	}
	return b
}

func most(a, b time.Duration) time.Duration {
	if a > b {
		return a
	}
	return b
}
