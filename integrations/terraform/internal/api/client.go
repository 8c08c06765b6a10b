// Package api has the requests of Drawbridge's API that the provider sends.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	attemptTimeout = 10 * time.Second
	maxBodyBytes   = 4 << 20
	maxPause       = 5 * time.Second
)

// Client sends requests to one server. Credentials go to its origin only: redirects are not followed. It uses no proxy: the
// server would observe the proxy's address.
type Client struct {
	// URL is without a slash at the end and without /api/v1.
	URL    string
	client *http.Client
}

// NewClient returns a client of the server at this address, which may end with /api/v1.
func NewClient(address string) (*Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" || parsed.User != nil {
		return nil, errors.New("must be an address like https://drawbridge.example.com")
	}
	path := strings.TrimSuffix(strings.TrimSuffix(parsed.Path, "/"), "/api/v1")
	return &Client{URL: parsed.Scheme + "://" + parsed.Host + path, client: over("tcp")}, nil
}

// over returns a client of one family of addresses (tcp4, tcp6) or of both.
func over(network string) *http.Client {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: &http.Transport{DialContext: dial, ForceAttemptHTTP2: true}, CheckRedirect: stay}
}

// IsUnprotected says whether what is sent to this address can be read on the way.
func IsUnprotected(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && parsed.Scheme == "http" && parsed.Hostname() != "localhost" && !net.ParseIP(parsed.Hostname()).IsLoopback()
}

// Request is one operation. Authorization and IdempotencyKey are headers; Into receives the body of a success, nil drops it.
type Request struct {
	Method, Path, Authorization, IdempotencyKey string
	Body, Into                                  any
	// Wait is how long the server may wait before it answers.
	Wait time.Duration
	// Once: without an answer it is not sent again, as it may have had an effect.
	Once bool
}

// Error is an answer that is no success. Code is "" when it is not Drawbridge that answers.
type Error struct {
	Status        int
	Code, Message string
	// Fields has a message for each invalid field, which follows the field's name in a sentence.
	Fields map[string]string
	// IsRepeated: an attempt before, which had no answer, may have done what is refused now.
	IsRepeated bool
	retryAfter time.Duration
}

func (e *Error) Error() string { return e.Message }

// IsTemporary says whether the same request may succeed later.
func (e *Error) IsTemporary() bool { return e.Status == http.StatusTooManyRequests || e.Status >= 500 }

// Send sends a request until it has an answer of use or the context ends. It returns *Error for an answer that is none.
func (c *Client) Send(ctx context.Context, r Request) error {
	isRepeated := false
	for pause := maxPause / 16; ; pause = min(2*pause, maxPause) {
		err := c.attempt(ctx, r)
		mayRepeat, wait := !r.Once, pause
		if refusal, ok := errors.AsType[*Error](err); ok {
			refusal.IsRepeated = isRepeated
			// a request that is one too many has had no effect
			mayRepeat = refusal.IsTemporary() && (mayRepeat || refusal.Status == http.StatusTooManyRequests)
			wait = max(wait, refusal.retryAfter)
		} else {
			isRepeated = true
		}
		deadline, isLimited := ctx.Deadline()
		if err == nil || !mayRepeat || isLimited && time.Until(deadline) < wait {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// attempt sends a request once. What may have an effect is not cut off when the run is cancelled: its answer tells what to end.
func (c *Client) attempt(ctx context.Context, r Request) error {
	limit := attemptTimeout + r.Wait
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	if r.Method != http.MethodGet && ctx.Err() == nil {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body := &bytes.Buffer{}
	if r.Body != nil {
		if err := json.NewEncoder(body).Encode(r.Body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, c.URL+r.Path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Authorization": r.Authorization, "Idempotency-Key": r.IdempotencyKey} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("%s cannot be reached: %w", c.URL, errors.Unwrap(err))
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBodyBytes))
	if err != nil {
		return fmt.Errorf("%s has not answered: %w", c.URL, err)
	}
	isSuccess := response.StatusCode >= 200 && response.StatusCode < 300
	if isSuccess && (r.Into == nil || json.Unmarshal(text, r.Into) == nil) {
		return nil
	}
	return c.refusal(response, text)
}

// refusal reads an answer that is no success. A page of something else has no message.
func (c *Client) refusal(response *http.Response, text []byte) error {
	var body struct {
		Message, Error   string
		ValidationErrors map[string]string
	}
	if json.Unmarshal(text, &body) != nil || body.Message == "" {
		body.Error, body.Message = "", fmt.Sprintf("%s answers with HTTP %d, and not as Drawbridge does", c.URL, response.StatusCode)
		if location := response.Header.Get("Location"); location != "" {
			body.Message += ": it redirects to " + location
		}
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return &Error{
		Status: response.StatusCode, Code: body.Error, Message: body.Message, Fields: body.ValidationErrors,
		retryAfter: time.Duration(seconds) * time.Second,
	}
}

// DetectAddresses returns the addresses that the server observes over IPv4 and IPv6; "" where there is none.
func (c *Client) DetectAddresses(ctx context.Context, at Discovery) (ipv4, ipv6 string) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout/2)
	defer cancel()
	observe := func(address, network, version string) (ip string) {
		client := &Client{URL: strings.TrimSuffix(cmp.Or(address, c.URL), "/"), client: over(network)}
		defer client.client.CloseIdleConnections()
		var found DetectedAddress
		if client.attempt(ctx, Request{Method: http.MethodGet, Path: "/api/v1/detect-ip", Into: &found}) != nil || found.Version != version {
			return ""
		}
		return found.IP
	}
	var both sync.WaitGroup
	both.Go(func() { ipv4 = observe(at.IPv4URL, "tcp4", "IPv4") })
	both.Go(func() { ipv6 = observe(at.IPv6URL, "tcp6", "IPv6") })
	both.Wait()
	return ipv4, ipv6
}
