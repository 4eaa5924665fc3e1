// Calls the Go client as the lines of its input say: [method, arguments, options], each answered by a line.
//
//	adapter OPTIONS
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"

	redial "redial-client"
)

var ctx = context.Background()

func main() {
	options := redial.Options{}
	must(fill(reflect.ValueOf(&options).Elem(), members(os.Args[1])))
	client, err := redial.New(options)
	must(err)
	adapter := &adapter{client: client}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		answer := map[string]any{}
		if result, err := adapter.perform(line); err != nil {
			answer["error"] = shown(err)
		} else {
			answer["result"] = result
		}
		text, err := json.Marshal(answer)
		must(err)
		fmt.Println(string(text))
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func members(text string) map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	must(json.Unmarshal([]byte(text), &found))
	return found
}

type adapter struct {
	client *redial.Client
	events *redial.EventStream
}

// perform calls the method of a line.
func (a *adapter) perform(line string) (any, error) {
	var parts [3]json.RawMessage
	if err := json.Unmarshal([]byte(line), &parts); err != nil {
		return nil, err
	}
	var name string
	var arguments []json.RawMessage
	must(json.Unmarshal(parts[0], &name))
	must(json.Unmarshal(parts[1], &arguments))
	options := members(string(parts[2]))
	switch name {
	case "openEvents":
		given := &redial.EventsOptions{}
		if err := fill(reflect.ValueOf(given).Elem(), options); err != nil {
			return nil, err
		}
		events, err := a.client.Events(ctx, given)
		a.events = events
		return nil, err
	case "nextEvent":
		a.events.Next(ctx)
		return a.events.Value(), a.events.Err()
	case "closeEvents":
		a.events.Close()
		return a.events.LastEventID(), nil
	case "batch":
		var calls []redial.CallDescriptor
		given := &redial.BatchOptions{}
		if err := json.Unmarshal(arguments[0], &calls); err != nil {
			return nil, err
		}
		if err := fill(reflect.ValueOf(given).Elem(), options); err != nil {
			return nil, err
		}
		return a.client.Batch(redial.Calls(calls...), given).All(ctx)
	case "roundTrip":
		return a.roundTrip(arguments, options)
	case "verify", "verifyEvent":
		return verify(name, arguments, options)
	}
	return a.call(reflect.ValueOf(a.client).MethodByName(strings.ToUpper(name[:1])+name[1:]), arguments, options)
}

// call calls a method of the client with what it takes: the context, its arguments, and its options.
func (a *adapter) call(method reflect.Value, arguments []json.RawMessage, options map[string]json.RawMessage) (any, error) {
	given := []reflect.Value{}
	for number := 0; number < method.Type().NumIn(); number++ {
		kind := method.Type().In(number)
		if kind == reflect.TypeOf(&ctx).Elem() {
			given = append(given, reflect.ValueOf(ctx))
			continue
		}
		value := reflect.New(kind)
		if kind.Kind() == reflect.Ptr && strings.HasSuffix(kind.Elem().Name(), "Options") {
			value.Elem().Set(reflect.New(kind.Elem()))
			if err := fill(value.Elem().Elem(), options); err != nil {
				return nil, err
			}
			options = nil
		} else if len(arguments) > 0 {
			if err := json.Unmarshal(arguments[0], value.Interface()); err != nil {
				return nil, err
			}
			arguments = arguments[1:]
		}
		given = append(given, value.Elem())
	}
	if len(arguments)+len(options) > 0 {
		return nil, fmt.Errorf("too many arguments: %s and %v", arguments, options)
	}
	results := method.Call(given)
	if all := results[0].MethodByName("All"); all.IsValid() {
		results = all.Call([]reflect.Value{reflect.ValueOf(ctx)})
	}
	err, _ := results[len(results)-1].Interface().(error)
	if len(results) == 1 {
		return nil, err
	}
	return results[0].Interface(), err
}

// fill sets the fields of options. Durations are given in seconds, and one entry can stand for a list of it.
func fill(options reflect.Value, given map[string]json.RawMessage) error {
	for name, text := range given {
		field := options.FieldByNameFunc(func(one string) bool { return strings.EqualFold(one, name) })
		if !field.IsValid() {
			return fmt.Errorf("%s has no %s", options.Type(), name)
		}
		switch value := field.Addr().Interface().(type) {
		case *time.Duration:
			var number float64
			if err := json.Unmarshal(text, &number); err != nil {
				return err
			}
			*value = seconds(number)
		case *redial.IdempotencyKey:
			var key string
			if err := json.Unmarshal(text, &key); err != nil {
				return err
			}
			*value = redial.Key(key)
		default:
			if field.Kind() == reflect.Slice && text[0] != '[' {
				text = json.RawMessage("[" + string(text) + "]")
			}
			if err := json.Unmarshal(text, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// roundTrip sends a request through a Transport, and returns what an http.Client gets.
func (a *adapter) roundTrip(arguments []json.RawMessage, options map[string]json.RawMessage) (any, error) {
	var method, address string
	var given struct {
		Headers       map[string]string
		Body, Host    string
		BodyBase64    []byte
		Wait, Timeout float64
		Policy        *redial.Policy
		Redirects     *redial.Redirects
	}
	text, err := json.Marshal(options)
	must(err)
	must(json.Unmarshal(text, &given))
	must(json.Unmarshal(arguments[0], &method))
	must(json.Unmarshal(arguments[1], &address))
	transport := &redial.Transport{Client: a.client, Wait: seconds(given.Wait)}
	transport.Prepare = func(_ *http.Request, call *redial.CallDescriptor) error {
		call.Redirects = given.Redirects
		if given.Policy != nil {
			call.Policy = redial.PolicyOf(*given.Policy)
		}
		return nil
	}
	body := given.BodyBase64
	if given.Body != "" {
		body = []byte(given.Body)
	}
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Host = given.Host
	for name, value := range given.Headers {
		request.Header.Set(name, value)
	}
	client := http.Client{Transport: transport, Timeout: seconds(given.Timeout)}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	found := map[string]any{
		"status": response.StatusCode, "headers": response.Header, "body": string(content), "length": response.ContentLength}
	if err != nil {
		found["cut"] = err.Error()
	}
	return found, nil
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

func verify(name string, arguments []json.RawMessage, options map[string]json.RawMessage) (any, error) {
	secrets, body, fields, header := []string{}, "", map[string]string{}, http.Header{}
	if arguments[0][0] != '[' {
		arguments[0] = json.RawMessage("[" + string(arguments[0]) + "]")
	}
	for number, into := range []any{&secrets, &body, &fields} {
		must(json.Unmarshal(arguments[number], into))
	}
	for field, value := range fields {
		header.Set(field, value)
	}
	verifier, err := redial.NewWebhookVerifier(secrets...)
	if err != nil {
		return nil, err
	}
	if now := options["now"]; now != nil {
		var seconds int64
		must(json.Unmarshal(now, &seconds))
		verifier.Now = func() time.Time { return time.Unix(seconds, 0) }
	}
	if name == "verifyEvent" {
		return verifier.VerifyEvent([]byte(body), header)
	}
	return verifier.Verify([]byte(body), header)
}

// shown is an error with its kind and its members.
func shown(err error) map[string]any {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	class := reflect.TypeOf(err)
	for class.Kind() == reflect.Ptr {
		class = class.Elem()
	}
	found := map[string]any{"kind": class.Name(), "class": class.Name(), "message": err.Error()}
	var problem *redial.Problem
	var connection *redial.ConnectionError
	var unexpected *redial.UnexpectedAnswer
	var unfinished *redial.CallUnfinished
	switch {
	case errors.As(err, &problem):
		// A problem has the type of its code, which leads to the problem.
		if class.Name() == "Problem" {
			found["class"] = "RedialProblem"
		}
		found["kind"], found["retryAfter"] = "RedialProblem", problem.RetryAfter.Seconds()
		text, err := json.Marshal(problem)
		must(err)
		must(json.Unmarshal(text, &found))
	case errors.As(err, &connection):
		found["kind"], found["mayHaveBeenAccepted"] = "RedialConnectionError", connection.MayHaveBeenAccepted
	case errors.As(err, &unexpected):
		found["status"] = unexpected.Status
	case errors.As(err, &unfinished):
		found["call"] = unfinished.Call
	}
	return found
}
