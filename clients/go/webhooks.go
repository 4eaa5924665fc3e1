package redial

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookVerifier verifies webhooks of Redial, as Standard Webhooks defines (https://www.standardwebhooks.com).
type WebhookVerifier struct {
	// How far the time of a webhook may be from now; 5 minutes in a new verifier.
	Tolerance time.Duration
	// The clock; by default time.Now.
	Now func() time.Time

	keys [][]byte
}

// NewWebhookVerifier takes the secret, whsec_…, or several, one of which must have signed: while a secret is rotated, the new and
// the old one.
func NewWebhookVerifier(secrets ...string) (*WebhookVerifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("give at least one secret")
	}
	verifier := &WebhookVerifier{Tolerance: 5 * time.Minute, Now: time.Now}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(secret), "whsec_"))
		if err != nil || len(key) == 0 {
			// The secret itself is not shown.
			return nil, errors.New("a webhook secret is whsec_ and base 64")
		}
		verifier.keys = append(verifier.keys, key)
	}
	return verifier, nil
}

// Verify returns the content of a webhook for the callback of a call. It can arrive more than once, with the same webhook-id.
//
// The body is that which arrived; JSON that was decoded and encoded again does not verify. The error is a
// [WebhookVerificationError] if no secret has signed it, or if it is too old or too new.
func (v *WebhookVerifier) Verify(body []byte, header http.Header) (*WebhookPayload, error) {
	return verified[WebhookPayload](v, body, header)
}

// VerifyEvent is the same for a webhook endpoint, which gets events of all calls and targets.
func (v *WebhookVerifier) VerifyEvent(body []byte, header http.Header) (*Event, error) {
	return verified[Event](v, body, header)
}

func verified[T any](v *WebhookVerifier, body []byte, header http.Header) (*T, error) {
	if err := v.check(body, header); err != nil {
		return nil, err
	}
	content := new(T)
	return content, json.Unmarshal(body, content)
}

func (v *WebhookVerifier) check(body []byte, header http.Header) error {
	fields := map[string]string{}
	for _, name := range []string{"id", "timestamp", "signature"} {
		values := header.Values("Webhook-" + name)
		if len(values) == 0 {
			return &WebhookVerificationError{"the header field webhook-" + name + " is missing"}
		}
		fields[name] = strings.Join(values, " ")
	}
	moment, err := strconv.ParseUint(fields["timestamp"], 10, 40)
	if err != nil {
		return &WebhookVerificationError{"webhook-timestamp is not a number of seconds"}
	}
	age, what := v.Now().Sub(time.Unix(int64(moment), 0)), "old"
	if age < 0 {
		age, what = -age, "new"
	}
	if age > v.Tolerance {
		return &WebhookVerificationError{fmt.Sprintf("the webhook is too %s: %.0f s", what, age.Seconds())}
	}
	for _, key := range v.keys {
		code := hmac.New(sha256.New, key)
		code.Write([]byte(fields["id"] + "." + fields["timestamp"] + "."))
		code.Write(body)
		wanted := code.Sum(nil)
		for _, entry := range strings.Fields(fields["signature"]) {
			// Signatures of other versions are skipped.
			signature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(entry, "v1,"))
			if strings.HasPrefix(entry, "v1,") && err == nil && hmac.Equal(signature, wanted) {
				return nil
			}
		}
	}
	return &WebhookVerificationError{"no secret has signed this webhook"}
}
