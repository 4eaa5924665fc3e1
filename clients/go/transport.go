package redial

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Redial keeps at most so much of the body of an answer.
const longestCapture = 1 << 20

// Transport submits requests in place of sending them, for an http.Client:
//
//	http.Client{Transport: &redial.Transport{Client: client}}
//
// A request becomes a call with its method, URL, header fields and body. If the request has the header field Idempotency-Key, that
// is the key of the submission, too: the same request again is the same call. Each other request is a call of its own. What belongs
// to a connection, such as the field Connection, is left out. The whole body is read first.
//
// The answer is a 202 of Redial, as soon as the call is on its disk: its body is the call as JSON, and its header fields
// Redial-Call-Id and Redial-Call-State say which one it is. Redial's refusals are errors, such as [Problem].
//
// With Wait, the answer is that of the target to the last attempt, with the same two header fields. A failed call has an answer,
// too: that which was not retried any more. A call that ends without one, or is cancelled, is a [CallWithoutAnswer]. Redial keeps at
// most a mebibyte of a body, and reading the rest of a longer one is an [io.ErrUnexpectedEOF]; the values of secret header fields
// are REDACTED. If the call has not ended after that time, the answer is the 202, and the call goes on.
//
// The end of the request's context ends the wait, and not the call. An http.Client follows a redirect by another request, which is
// another call, and must not have the same Idempotency-Key: let Prepare set Redirects, or set CheckRedirect.
type Transport struct {
	Client *Client
	// Wait so long for the answer of the target; 0 for not at all.
	Wait time.Duration
	// Changes a call before it is submitted, such as its policy, labels or callback.
	Prepare func(*http.Request, *CallDescriptor) error
}

// Fields of the connection or of the framing, which Redial sets itself.
var connectionFields = map[string]bool{
	"Connection": true, "Content-Length": true, "Expect": true, "Keep-Alive": true, "Proxy-Authorization": true,
	"Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true}

// RoundTrip submits a request as a call.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	call, err := callOf(request)
	if err != nil {
		return nil, err
	}
	if t.Client == nil {
		return nil, errors.New("the transport has no client to submit with; set Client")
	}
	if t.Wait > 0 {
		call.Capture = &CallDescriptorCapture{MaxBytes: Ptr(longestCapture)}
	}
	if t.Prepare != nil {
		if err := t.Prepare(request, &call); err != nil {
			return nil, err
		}
	}
	accepted, err := t.Client.Submit(request.Context(), call, &SubmitOptions{IdempotencyKey: keyOf(request)})
	if err != nil {
		return nil, err
	}
	if t.Wait <= 0 {
		return t.accepted(request, accepted)
	}
	ended, err := t.Client.Wait(request.Context(), accepted.ID, &WaitOptions{Timeout: t.Wait})
	var unfinished *CallUnfinished
	if errors.As(err, &unfinished) {
		return t.accepted(request, unfinished.Call)
	}
	if err != nil {
		return nil, fmt.Errorf("%s was submitted, and the wait for its end failed: %w", accepted.ID, err)
	}
	return answerOfTarget(request, ended)
}

// callOf is a request as a call. It closes the body of the request, as a RoundTripper must.
func callOf(request *http.Request) (CallDescriptor, error) {
	call := CallDescriptor{Method: request.Method, Headers: Headers{}}
	if call.Method == "" {
		call.Method = http.MethodGet
	}
	address := *request.URL
	// An http.Client has made a header field of it.
	address.User = nil
	address.Fragment, address.RawFragment = "", ""
	call.URL = address.String()
	for name, values := range request.Header {
		if !connectionFields[http.CanonicalHeaderKey(name)] {
			call.Headers[name] = values
		}
	}
	if request.Host != "" && request.Host != request.URL.Host {
		call.Headers["Host"] = []string{request.Host}
	}
	if request.Body == nil {
		return call, nil
	}
	defer request.Body.Close()
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return call, err
	}
	if utf8.Valid(body) && len(body) > 0 {
		call.Body = Ptr(string(body))
	} else if len(body) > 0 {
		call.BodyBase64 = Ptr(base64.StdEncoding.EncodeToString(body))
	}
	return call, nil
}

// keyOf is the key of a request, which can be a quoted string (RFC 8941).
func keyOf(request *http.Request) IdempotencyKey {
	values := request.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return IdempotencyKey{}
	}
	key := values[0]
	if len(key) >= 2 && strings.HasPrefix(key, `"`) && strings.HasSuffix(key, `"`) {
		key = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(key[1 : len(key)-1])
	}
	return Key(key)
}

// accepted is Redial's own answer.
func (t *Transport) accepted(request *http.Request, call *Call) (*http.Response, error) {
	body, err := encoded(call)
	if err != nil {
		return nil, err
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "Location": {t.Client.service + callPath(call.ID)},
		"Content-Length": {strconv.Itoa(len(body))}}
	return responseOf(request, call, http.StatusAccepted, header, body, false), nil
}

// answerOfTarget is the answer to the last attempt of a call.
func answerOfTarget(request *http.Request, call *Call) (*http.Response, error) {
	stored := call.Response
	if stored == nil || stored.Status == nil || call.State == CallStateCancelled {
		return nil, &CallWithoutAnswer{Call: call}
	}
	header := http.Header{}
	for name, values := range stored.Headers {
		header[http.CanonicalHeaderKey(name)] = values
	}
	body := []byte(stored.Body)
	if stored.Encoding == ResponseEncodingBase64 {
		var err error
		if body, err = base64.StdEncoding.DecodeString(stored.Body); err != nil {
			return nil, err
		}
	}
	return responseOf(request, call, *stored.Status, header, body, stored.Truncated), nil
}

func responseOf(request *http.Request, call *Call, status int, header http.Header, body []byte, isCut bool) *http.Response {
	header.Set("Redial-Call-Id", call.ID)
	header.Set("Redial-Call-State", string(call.State))
	response := &http.Response{
		Status: strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		Request: request,
	}
	if isCut {
		response.ContentLength = -1
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), cut{}))
	}
	return response
}

// cut is the rest of a body that was not kept.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
