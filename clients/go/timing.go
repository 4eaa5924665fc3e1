package redial

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"
)

const forever = time.Duration(math.MaxInt64 / 2)

// left is the time until a moment; without one there is no end.
func left(until time.Time) time.Duration {
	if until.IsZero() {
		return forever
	}
	if rest := time.Until(until); rest > 0 {
		return rest
	}
	return 0
}

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, wait time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// patience cancels its context after a silence.
type patience struct {
	ctx     context.Context
	cancel  context.CancelFunc
	silence time.Duration
	timer   *time.Timer
	isOver  int32
}

func newPatience(ctx context.Context, silence time.Duration) *patience {
	p := &patience{silence: silence}
	p.ctx, p.cancel = context.WithCancel(ctx)
	p.timer = time.AfterFunc(silence, func() {
		atomic.StoreInt32(&p.isOver, 1)
		p.cancel()
	})
	return p
}

// heard begins the silence again, because something came.
func (p *patience) heard() { p.timer.Reset(p.silence) }

func (p *patience) end() {
	p.timer.Stop()
	p.cancel()
}

// because is the reason of an error: the silence, if that was it.
func (p *patience) because(err error) error {
	if atomic.LoadInt32(&p.isOver) == 1 {
		return fmt.Errorf("nothing came for %s", p.silence)
	}
	return err
}

// heardFrom reads, and begins the silence again whenever something comes.
func (p *patience) heardFrom(body io.Reader) io.Reader { return heardReader{p, body} }

type heardReader struct {
	patience *patience
	body     io.Reader
}

func (r heardReader) Read(into []byte) (int, error) {
	count, err := r.body.Read(into)
	if count > 0 {
		r.patience.heard()
	}
	return count, err
}
