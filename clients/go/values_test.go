package redial

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	for text, want := range map[Duration]time.Duration{
		"1h30m": 90 * time.Minute, "594.053ms": 594053 * time.Microsecond, "7d": 168 * time.Hour, "2w1us": 336*time.Hour + 1000,
		"0s": 0,
	} {
		if found, err := text.Parse(); err != nil || found != want {
			t.Errorf("%s is %v, %v", text, found, err)
		}
	}
	for _, text := range []Duration{"", "PT5M", "5", "h", "1h x", "-1s"} {
		if found, err := text.Parse(); err == nil {
			t.Errorf("%q is %v", text, found)
		}
	}
	for duration, want := range map[time.Duration]Duration{
		time.Hour: "3600s", 1500 * time.Millisecond: "1500ms", 1001 * time.Microsecond: "1001us", 999: "0us", 0: "0s", -1: "0s",
	} {
		if found := Span(duration); found != want {
			t.Errorf("%v is %s", duration, found)
		}
	}
}

func TestNullAndNothingAreTwoThings(t *testing.T) {
	patch := TargetPatch{MaxInFlight: Null[int](), SlowStart: Value(Duration("1m"))}
	text, err := encoded(patch)
	if want := `{"maxInFlight":null,"slowStart":"1m"}`; err != nil || string(text) != want {
		t.Fatalf("%s, %v", text, err)
	}
	var read TargetPatch
	if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, patch) {
		t.Fatalf("%+v, %v", read, err)
	}
}

func TestWhatIsSentIsWhatWasGiven(t *testing.T) {
	changes := ReplayChanges{JSON: Value[any](map[string]string{"a": "<&>"}), Headers: Value(Headers{"A": {"1"}, "B": {"2", "3"}})}
	text, err := encoded(changes)
	if want := `{"headers":{"A":"1","B":["2","3"]},"json":{"a":"<&>"}}`; err != nil || string(text) != want {
		t.Fatalf("%s, %v", text, err)
	}
	policy := Policy{RetryOn: &PolicyRetryOn{Statuses: &Statuses{}}}
	for given, want := range map[any]string{
		PolicyNamed("patient@3"): `"patient@3"`, PolicyOf(policy): `{"retryOn":{"statuses":[]}}`,
	} {
		text, err := encoded(given)
		if err != nil || string(text) != want {
			t.Fatalf("%s, %v", text, err)
		}
		read := &PolicyOrName{}
		if err := json.Unmarshal(text, read); err != nil || !reflect.DeepEqual(read, given) {
			t.Fatalf("%+v, %v", read, err)
		}
	}
}

func TestUnionsAreRead(t *testing.T) {
	var found struct {
		Statuses Statuses
		One, Two CallStates
	}
	text := `{"statuses": [429, "500-599"], "one": "failed", "two": ["failed", "later"]}`
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(found.Statuses, Statuses{"429", "500-599"}) || len(found.One) != 1 || found.Two[1] != "later" {
		t.Fatalf("%+v", found)
	}
}

func TestTheDataOfAnEventIsWhatItIsAbout(t *testing.T) {
	about := func(kind EventType, data string) *Event { return &Event{Type: kind, Data: json.RawMessage(data)} }
	call, err := about(EventTypeCallFailed, `{"id": "call_1", "state": "failed"}`).Call()
	if err != nil || call.ID != "call_1" || call.State != CallStateFailed {
		t.Fatal(call, err)
	}
	target, err := about(EventTypeTargetControlled, `{"key": "billing", "paused": true}`).Target()
	if err != nil || target.Key != "billing" || !*target.Paused {
		t.Fatal(target, err)
	}
	endpoint, err := about(EventTypeEndpointDisabled, `{"id": "hook_1", "disabledReason": "gone"}`).WebhookEndpoint()
	if err != nil || endpoint.DisabledReason != WebhookEndpointDisabledReasonGone {
		t.Fatal(endpoint, err)
	}
	if call, err := about(EventTypeReset, `{"reason": "tooOld"}`).Call(); err == nil {
		t.Fatal(call)
	}
}

func TestMoments(t *testing.T) {
	if found := At(time.Date(2026, 1, 2, 3, 4, 5, 60_000_000, time.FixedZone("", 3600))); found != "2026-01-02T02:04:05.060Z" {
		t.Fatal(found)
	}
	if found := In(10 * time.Minute); found != "600s" {
		t.Fatal(found)
	}
}
