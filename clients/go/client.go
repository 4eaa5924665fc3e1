package redial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

// How much later than asked for an answer may come.
const lateAnswer = 5 * time.Second

// How long it may take to connect.
const longestDial = 10 * time.Second

// Options say how to reach a service. Each has a default.
type Options struct {
	// Where the service is; by default the environment's REDIAL_SERVER, or http://127.0.0.1:8080.
	URL string
	// The API key; by default the environment's REDIAL_API_KEY, if it is set.
	APIKey string
	// The namespace to act in, for a key that may choose one.
	Namespace string
	// How long the service may be silent; by default 30 seconds.
	Timeout time.Duration
	// How often a request is sent, the first time included; by default 5.
	Attempts int
	// The longest Retry-After that is waited for; by default a minute. After a longer one the refusal is returned.
	MaxRetryAfter time.Duration
	// A client of your own, for proxies, certificates and the like. Its Timeout does not count, and redirects are not followed.
	HTTPClient *http.Client
}

// Client is a client of a Redial service. Several goroutines can use it at a time.
//
// It sends its own requests again after errors of the connection and after 429, 503 and 507, as far as that is safe: requests
// that read or replace, cancellations, and submissions and replays, because each has an idempotency key. The others, such as
// Retry, are sent again only if the service certainly did nothing.
//
// The errors are a [Problem] if the service refuses, a [ConnectionError] if no answer came, and an [UnexpectedAnswer] if
// something else answers; or that of the context. Find them with [errors.As].
type Client struct {
	url     string
	service string
	header  http.Header
	timeout time.Duration
	limits  retryLimits
	http    *http.Client
}

var webURL = regexp.MustCompile(`(?i)^https?://`)

// New returns a client. It connects with the first request.
func New(options Options) (*Client, error) {
	address := first(options.URL, os.Getenv("REDIAL_SERVER"), "http://127.0.0.1:8080")
	parsed, err := url.Parse(address)
	if err != nil || !webURL.MatchString(address) || parsed.Host == "" {
		// The URL may have a password in it.
		return nil, errors.New("the URL of a service begins with http:// or https:// and a host, unlike the one that was given")
	}
	c := &Client{
		url: address, service: parsed.Scheme + "://" + parsed.Host + strings.TrimRight(parsed.Path, "/"), header: http.Header{},
		timeout: options.Timeout, limits: retryLimits{options.Attempts, options.MaxRetryAfter},
	}
	if key := strings.TrimSpace(first(options.APIKey, os.Getenv("REDIAL_API_KEY"))); key != "" {
		// An error of the connection would show the key.
		if err := requirePrintable("the API key", key); err != nil {
			return nil, err
		}
		c.header.Set("Authorization", "Bearer "+key)
	}
	if options.Namespace != "" {
		if err := requirePrintable("the namespace", options.Namespace); err != nil {
			return nil, err
		}
		c.header.Set("Redial-Namespace", options.Namespace)
	}
	if c.timeout <= 0 {
		c.timeout = 30 * time.Second
	}
	if c.limits.attempts <= 0 {
		c.limits.attempts = 5
	}
	if c.limits.maxRetryAfter <= 0 {
		c.limits.maxRetryAfter = time.Minute
	}
	c.http = &http.Client{Transport: transportOf(c.timeout)}
	if options.HTTPClient != nil {
		own := *options.HTTPClient
		c.http = &own
	}
	c.http.Timeout = 0
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// transportOf is a transport that keeps more connections than Go's own does for one host: each Wait needs one.
func transportOf(timeout time.Duration) *http.Transport {
	dial := longestDial
	if timeout < dial {
		dial = timeout
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dial, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2: true, MaxIdleConns: 100, MaxIdleConnsPerHost: 100, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: dial,
	}
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// String is the URL of the service, without a name and a password.
func (c *Client) String() string { return c.service }

// SubmitOptions: what [Client.Submit] takes besides; nil for none.
type SubmitOptions struct {
	// The same key and call submitted again within a day return the first call, and run it again if it has failed or was
	// cancelled. By default a new one, so that retries of this request submit one call.
	IdempotencyKey IdempotencyKey
	// Return only when the call has ended, or after this time.
	Wait time.Duration
}

// Submit submits a call, which is on the service's disk when this returns.
func (c *Client) Submit(ctx context.Context, call CallDescriptor, options *SubmitOptions) (*Call, error) {
	if options == nil {
		options = &SubmitOptions{}
	}
	return answered[Call](ctx, c, submission(call, options.IdempotencyKey, options.Wait))
}

// GetOptions: what [Client.Get] takes besides; nil for none.
type GetOptions struct {
	// Also the request of the call, if the API key has the scope payloads.
	WithRequest bool
}

// Get returns a call in its current state.
func (c *Client) Get(ctx context.Context, callID string, options *GetOptions) (*Call, error) {
	if options == nil {
		options = &GetOptions{}
	}
	return answered[Call](ctx, c, reading(callID, 0, options.WithRequest))
}

// WaitOptions: what [Client.Wait] takes besides; nil for none.
type WaitOptions struct {
	// The longest time to wait; 0 for no limit besides that of the context.
	Timeout time.Duration
}

// Wait waits for the end of a call, by long polls. A failed call is a result, too, and not an error. If the call has not ended
// within the timeout, the error is a [CallUnfinished]. The end of the context does not end the call.
func (c *Client) Wait(ctx context.Context, callID string, options *WaitOptions) (*Call, error) {
	if options == nil {
		options = &WaitOptions{}
	}
	waiting := newWaiting(options.Timeout, time.Now())
	for {
		call, err := answeredUntil[Call](ctx, c, reading(callID, waiting.hold(time.Now()), false), waiting.deadline)
		if err != nil {
			if !waiting.canAskForLess(err) {
				return nil, err
			}
			continue
		}
		if hasEnded(call.State) {
			return call, nil
		}
		pause, err := waiting.pause(call, time.Now())
		if err != nil {
			return nil, err
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// AttemptsOptions: what [Client.Attempts] takes besides; nil for none.
type AttemptsOptions struct {
	// Also the bodies of the responses.
	WithBody bool
}

// Attempts returns the attempts of a call with their responses, oldest first.
func (c *Client) Attempts(ctx context.Context, callID string, options *AttemptsOptions) ([]AttemptWithResponse, error) {
	request := asking("GET", callPath(callID)+"/attempts")
	if options != nil && options.WithBody {
		request.ask("include", "body")
	}
	return pages[AttemptWithResponse](c, request, 0).All(ctx)
}

// Cancel cancels a call. If it has ended already, the problem is callEnded.
func (c *Client) Cancel(ctx context.Context, callID string) (*Call, error) {
	return answered[Call](ctx, c, asking("POST", callPath(callID)+"/cancel"))
}

// RetryOptions: what [Client.Retry] takes besides; nil for none.
type RetryOptions struct {
	// Who wants it.
	By string `json:"by,omitempty"`
	// Why.
	Reason string `json:"reason,omitempty"`
}

// Retry runs a call now, or again if it has ended. Who wants it, and why, is recorded.
func (c *Client) Retry(ctx context.Context, callID string, options *RetryOptions) (*Call, error) {
	if options == nil {
		options = &RetryOptions{}
	}
	request := asking("POST", callPath(callID)+"/retry")
	request.give(options)
	request.isRepeatable = false
	return answered[Call](ctx, c, request)
}

// ListOptions are conditions of a list; all must hold. Nil for none.
type ListOptions struct {
	State         []CallState
	Target        string
	Labels        map[string]string
	CreatedAfter  time.Time
	CreatedBefore time.Time
	// Accepted at least so long ago.
	OlderThan Duration
	// At least so many attempts have begun.
	Attempts int
	// Waiting calls that wait for this.
	WaitingOn WaitReason
	// Waiting calls whose next attempt may begin before this time.
	NextAttemptBefore Moment
	// A status, or a range such as 500-599, of the last attempt.
	Status        string
	Outcome       Outcome
	FailureReason FailureReason
	// Failed calls of the issue with this id.
	Issue          string
	URL            string
	IdempotencyKey string
	Kind           CallKind
	// How many calls a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// List returns the calls that meet all conditions, newest first.
func (c *Client) List(options *ListOptions) *Iterator[CallSummary] {
	if options == nil {
		options = &ListOptions{}
	}
	request := asking("GET", "/v1/calls")
	request.ask("state", options.State)
	request.ask("target", options.Target)
	request.ask("label", options.Labels)
	request.ask("createdAfter", options.CreatedAfter)
	request.ask("createdBefore", options.CreatedBefore)
	request.ask("olderThan", options.OlderThan)
	request.ask("attempts", options.Attempts)
	request.ask("waitingOn", options.WaitingOn)
	request.ask("nextAttemptBefore", options.NextAttemptBefore)
	request.ask("status", options.Status)
	request.ask("outcome", options.Outcome)
	request.ask("failureReason", options.FailureReason)
	request.ask("issue", options.Issue)
	request.ask("url", options.URL)
	request.ask("idempotencyKey", options.IdempotencyKey)
	request.ask("kind", options.Kind)
	return pages[CallSummary](c, request, options.PageSize)
}

// RequestOptions: what [Client.Request] takes besides; nil for none.
type RequestOptions struct {
	// Parameters of the query.
	Params map[string]string
	// What is sent as JSON; nil for no body.
	JSON any
}

// Request makes any request of the API by its path, such as GET /v1/instances, and returns the JSON of its answer, if any.
//
// A GET is sent again after errors, anything else only if the service certainly did nothing.
func (c *Client) Request(ctx context.Context, method, path string, options *RequestOptions) (json.RawMessage, error) {
	if options == nil {
		options = &RequestOptions{}
	}
	request := asking(method, path)
	for name, value := range options.Params {
		request.query = append(request.query, [2]string{name, value})
	}
	if options.JSON != nil {
		request.give(options.JSON)
	}
	request.isRepeatable = method == "GET" || method == "HEAD"
	answer, err := c.send(ctx, request, time.Time{})
	if err != nil || len(answer.body) == 0 {
		return nil, err
	}
	if !json.Valid(answer.body) {
		return nil, unexpected(answer.status, answer.body)
	}
	return answer.body, nil
}

// answer is an answer of the service.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request until it is answered with a success, must not be sent again, or its time has run out.
func (c *Client) send(ctx context.Context, request *request, until time.Time) (*answer, error) {
	if request.err != nil {
		return nil, request.err
	}
	retrying := &retrying{limits: c.limits, request: request, service: c.service}
	for {
		most := c.timeout + request.hold
		if late := left(until) + lateAnswer; late < most {
			most = late
		}
		answer, err := c.exchange(ctx, request, most)
		var wait time.Duration
		switch {
		case err != nil && ctx.Err() != nil:
			// The caller wants no more, so there is no other attempt.
			return nil, retrying.connectionError(ctx.Err())
		case err != nil:
			wait, err = retrying.afterError(err, left(until))
		case answer.status >= 200 && answer.status < 300:
			return answer, nil
		default:
			wait, err = retrying.afterAnswer(answer, left(until))
		}
		if err != nil {
			return nil, err
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, fmt.Errorf("%w; before that: %v", err, retrying.last)
		}
	}
}

// exchange sends a request once. The answer may take long, as long as something comes.
func (c *Client) exchange(ctx context.Context, request *request, silence time.Duration) (*answer, error) {
	patience := newPatience(ctx, silence)
	defer patience.end()
	response, err := c.begin(patience, request)
	if err != nil {
		return nil, err
	}
	return answerOf(patience, response)
}

// answerOf reads the body of an answer.
func answerOf(patience *patience, response *http.Response) (*answer, error) {
	defer response.Body.Close()
	body, err := io.ReadAll(patience.heardFrom(response.Body))
	if err != nil {
		return nil, patience.because(err)
	}
	return &answer{response.StatusCode, response.Header, body}, nil
}

// begin sends a request, and returns when the header section of the answer is there.
func (c *Client) begin(patience *patience, request *request) (*http.Response, error) {
	var body io.Reader
	if request.body != nil {
		body = strings.NewReader(string(request.body))
	}
	sent, err := http.NewRequestWithContext(patience.ctx, request.method, joined(c.url, request.path, request.query), body)
	if err != nil {
		return nil, err
	}
	sent.Close = request.isStream
	for name, values := range c.header {
		sent.Header[name] = values
	}
	for name, values := range request.header {
		sent.Header[name] = values
	}
	response, err := c.http.Do(sent)
	if err != nil {
		// It has the URL, with a password in it.
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return nil, patience.because(err)
	}
	patience.heard()
	return response, nil
}
