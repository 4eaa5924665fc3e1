package redial

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// request is a request to the service. A mistake in what was given for it is its error, and nothing is sent then.
type request struct {
	method string
	path   string
	query  [][2]string
	body   []byte
	header http.Header
	// Whether it may be sent again although the service may have done it already.
	isRepeatable bool
	// Whether its answer is a stream. It has a connection of its own: Go sends a request again at once when one
	// that was used before is lost.
	isStream bool
	// For how long the service may hold its answer back.
	hold time.Duration
	err  error
}

func asking(method, path string) *request {
	return &request{method: method, path: path, header: http.Header{}, isRepeatable: true}
}

func quoted(part string) string { return url.PathEscape(part) }

func callPath(id string) string { return "/v1/calls/" + quoted(id) }

// ask adds a parameter to the query, unless it has its zero value.
func (r *request) ask(name string, value any) {
	switch value := value.(type) {
	case time.Time:
		if !value.IsZero() {
			r.query = append(r.query, [2]string{name, timestamp(value)})
		}
		return
	case map[string]string:
		r.askLabels(name, value)
		return
	}
	given := reflect.ValueOf(value)
	if given.Kind() == reflect.Ptr && !given.IsNil() {
		r.query = append(r.query, [2]string{name, fmt.Sprint(given.Elem().Interface())})
	} else if given.Kind() == reflect.Slice && given.Len() > 0 {
		words := make([]string, given.Len())
		for number := range words {
			words[number] = given.Index(number).String()
		}
		r.query = append(r.query, [2]string{name, strings.Join(words, ",")})
	} else if given.Kind() != reflect.Slice && !given.IsZero() {
		r.query = append(r.query, [2]string{name, fmt.Sprint(value)})
	}
}

func (r *request) askLabels(name string, labels map[string]string) {
	names := make([]string, 0, len(labels))
	for label := range labels {
		// The service would read another label.
		if strings.Contains(label, "=") {
			r.fail(fmt.Errorf("the label %q has a = in its name, as no label of a call has", label))
		}
		names = append(names, label)
	}
	sort.Strings(names)
	for _, label := range names {
		r.query = append(r.query, [2]string{name, label + "=" + labels[label]})
	}
}

// give sets the body.
func (r *request) give(value any) {
	body, err := encoded(value)
	if err != nil {
		r.fail(err)
	}
	r.body = body
	r.field("Content-Type", "application/json")
}

func (r *request) field(name, value string) {
	if value != "" {
		r.header.Set(name, value)
	}
}

// identify gives a submission its key, or a new one.
func (r *request) identify(key IdempotencyKey) {
	field, err := keyField(key)
	if err != nil {
		r.fail(err)
	}
	r.field("Idempotency-Key", field)
}

// holdFor lets the service hold its answer back until the call has ended.
func (r *request) holdFor(wait time.Duration) {
	if wait > 0 {
		r.hold = wait
		r.field("Prefer", fmt.Sprintf("wait=%.0f", math.Max(1, math.Round(wait.Seconds()))))
	}
}

func (r *request) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func submission(call CallDescriptor, key IdempotencyKey, wait time.Duration) *request {
	request := asking("POST", "/v1/calls")
	request.give(call)
	request.identify(key)
	request.holdFor(wait)
	return request
}

func reading(id string, hold time.Duration, withRequest bool) *request {
	request := asking("GET", callPath(id))
	if hold > 0 {
		request.hold = hold
		request.ask("wait", strconv.FormatFloat(math.Max(1, math.Round(hold.Seconds()*1000)), 'f', 0, 64)+"ms")
	}
	if withRequest {
		request.ask("include", "request")
	}
	return request
}

var bareKey = regexp.MustCompile(`^[!#-+\--~]{1,255}$`)
var printableKey = regexp.MustCompile(`^[ -~]{1,255}$`)
var printable = regexp.MustCompile(`^[ -~]+$`)

// keyField is a key as the value of a header field: as it is, or as a quoted string (RFC 8941).
func keyField(key IdempotencyKey) (string, error) {
	if !key.isGiven {
		return newKey()
	}
	if bareKey.MatchString(key.text) {
		return key.text, nil
	}
	if !printableKey.MatchString(key.text) {
		return "", fmt.Errorf("an idempotency key has 1 to 255 printable ASCII characters, unlike %q", key.text)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key.text) + `"`, nil
}

// newKey is a new idempotency key, with 128 random bits.
func newKey() (string, error) {
	bytes := make([]byte, 16)
	_, err := rand.Read(bytes)
	return hex.EncodeToString(bytes), err
}

// requirePrintable refuses what no header field can have, without showing it.
func requirePrintable(what, text string) error {
	if !printable.MatchString(text) {
		return errors.New(what + " has characters that are not printable ASCII")
	}
	return nil
}

// joined is a URL of the service, which may have a path before the service's own paths.
func joined(base, path string, query [][2]string) string {
	parts := make([]string, len(query))
	for number, parameter := range query {
		parts[number] = escaped(parameter[0]) + "=" + escaped(parameter[1])
	}
	// Without the slash, a path such as "@host" would send the key to another host.
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if len(parts) > 0 {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		path += mark + strings.Join(parts, "&")
	}
	return strings.TrimRight(base, "/") + path
}

// escaped is a part of a query. A space is %20, not +.
func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// answered sends a request, and reads its answer.
func answered[T any](ctx context.Context, c *Client, request *request) (*T, error) {
	return answeredUntil[T](ctx, c, request, time.Time{})
}

func answeredUntil[T any](ctx context.Context, c *Client, request *request, until time.Time) (*T, error) {
	answer, err := c.send(ctx, request, until)
	if err != nil {
		return nil, err
	}
	value := new(T)
	if err := json.Unmarshal(answer.body, value); err != nil {
		return nil, unexpected(answer.status, answer.body)
	}
	return value, nil
}

// listed reads an answer that is a list.
func listed[T any](ctx context.Context, c *Client, request *request) ([]T, error) {
	list, err := answered[struct{ Data []T }](ctx, c, request)
	if err != nil {
		return nil, err
	}
	return list.Data, nil
}

// nothing sends a request whose answer has no content.
func (c *Client) nothing(ctx context.Context, request *request) error {
	_, err := c.send(ctx, request, time.Time{})
	return err
}
