package redial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

var background = context.Background()

// serving is a client of a service that answers like this.
func serving(t *testing.T, answer http.HandlerFunc) *Client {
	service := httptest.NewServer(answer)
	t.Cleanup(service.Close)
	return clientOf(t, Options{URL: service.URL, Attempts: 1})
}

func clientOf(t *testing.T, options Options) *Client {
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// events answers with the event behind the last one, and leaves the stream open.
func events(response http.ResponseWriter, request *http.Request) {
	number := 1
	if last := request.Header.Get("Last-Event-ID"); last != "" {
		_, _ = fmt.Sscan(last, &number)
		number++
	}
	fmt.Fprintf(response, "id: %d\ndata: {\"type\": \"call.failed\", \"data\": %d}\n\n", number, number)
	response.(http.Flusher).Flush()
	<-request.Context().Done()
}

func TestEventsGoOnAfterTheEndOfAContext(t *testing.T) {
	stream, err := serving(t, events).Events(background, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	ended, end := context.WithCancel(background)
	end()
	for number := 1; number < 4; number++ {
		if !stream.Next(background) || string(stream.Value().Data) != fmt.Sprint(number) || stream.LastEventID() != fmt.Sprint(number) {
			t.Fatalf("event %d is %s, %v", number, stream.Value().Data, stream.Err())
		}
		if stream.Next(ended) || !errors.Is(stream.Err(), context.Canceled) {
			t.Fatalf("an ended context gives %v", stream.Err())
		}
	}
}

func TestCloseEndsANextThatWaits(t *testing.T) {
	stream, err := serving(t, events).Events(background, nil)
	if err != nil || !stream.Next(background) {
		t.Fatal(err)
	}
	next := make(chan bool)
	go func() { next <- stream.Next(background) }()
	stream.Close()
	if <-next || stream.Err() != nil || stream.Next(background) {
		t.Fatal(stream.Err())
	}
}

func TestTheEndOfAContextIsTheErrorOfARequest(t *testing.T) {
	ctx, end := context.WithCancel(background)
	client := serving(t, func(_ http.ResponseWriter, request *http.Request) {
		end()
		<-request.Context().Done()
	})
	_, err := client.Get(ctx, "call_1", nil)
	var connection *ConnectionError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &connection) || !connection.MayHaveBeenAccepted {
		t.Fatal(err)
	}
}

func TestABatchSendsTheSamePartAgainAfterAnError(t *testing.T) {
	keys, bodies := []string{}, []string{}
	client := serving(t, func(response http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		keys, bodies = append(keys, request.Header.Get("Idempotency-Key")), append(bodies, string(body))
		if len(keys) == 1 {
			response.WriteHeader(500)
			return
		}
		fmt.Fprintln(response, `{"line": 1, "status": 202, "id": "call_1"}`)
	})
	items := client.Batch(Calls(CallDescriptor{URL: "https://a.example"}), nil)
	var unexpected *UnexpectedAnswer
	if items.Next(background) || !errors.As(items.Err(), &unexpected) {
		t.Fatal(items.Err())
	}
	rest, err := items.All(background)
	if err != nil || len(rest) != 1 || rest[0].ID != "call_1" || keys[0] != keys[1] || bodies[0] != bodies[1] {
		t.Fatal(rest, err, keys, bodies)
	}
}

func TestTheErrorOfASourceIsThatOfTheBatch(t *testing.T) {
	failed := errors.New("no more rows")
	client := serving(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	items := client.Batch(func() (CallDescriptor, error) { return CallDescriptor{}, failed }, nil)
	if items.Next(background) || items.Err() != failed {
		t.Fatal(items.Err())
	}
}

func TestARequestToAServiceThatIsNotTrustedIsNeverSent(t *testing.T) {
	service := httptest.NewTLSServer(http.NotFoundHandler())
	defer service.Close()
	_, err := clientOf(t, Options{URL: service.URL, Attempts: 1}).Submit(background, CallDescriptor{}, nil)
	var connection *ConnectionError
	if !errors.As(err, &connection) || connection.MayHaveBeenAccepted {
		t.Fatal(err)
	}
	// With a client of one's own, it is trusted.
	_, err = clientOf(t, Options{URL: service.URL, Attempts: 1, HTTPClient: service.Client()}).Submit(background, CallDescriptor{}, nil)
	var unexpected *UnexpectedAnswer
	if !errors.As(err, &unexpected) || unexpected.Status != 404 {
		t.Fatal(err)
	}
}

func TestAPasswordIsShownNowhere(t *testing.T) {
	for _, address := range []string{"http://ada:secret@127.0.0.1:1/redial/", "ftp://ada:secret@a.example", "http://ada:secret@/"} {
		client, err := New(Options{URL: address, Attempts: 1})
		shown := fmt.Sprint(client, err)
		if err == nil {
			_, err = client.Get(background, "call_1", nil)
			shown += client.String() + err.Error()
		}
		if err == nil || strings.Contains(shown, "secret") {
			t.Errorf("%s: %s", address, shown)
		}
	}
}
