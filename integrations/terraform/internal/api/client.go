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
	minPause       = 300 * time.Millisecond
	maxPause       = 5 * time.Second
)

// Client sends requests to one server. Credentials go to its origin only: redirects are not followed. It uses no proxy: the
// server would observe the proxy's address.
type Client struct {
	// URL is without a slash at the end and without /api/v1.
	URL string
	// IsUnprotected: what is sent can be read on the way.
	IsUnprotected bool
	http          *http.Client
}

// NewClient returns a client of the server at this address, which may end with /api/v1.
func NewClient(address string) (*Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" || parsed.User != nil {
		return nil, errors.New("must be an address like https://drawbridge.example.com")
	}
	path := strings.TrimSuffix(strings.TrimSuffix(parsed.Path, "/"), "/api/v1")
	isLocal := parsed.Hostname() == "localhost" || net.ParseIP(parsed.Hostname()).IsLoopback()
	return &Client{parsed.Scheme + "://" + parsed.Host + path, parsed.Scheme == "http" && !isLocal, over("tcp")}, nil
}

// over returns a client of one family of addresses (tcp4, tcp6) or of both.
func over(network string) *http.Client {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: &http.Transport{DialContext: dial}, CheckRedirect: stay}
}

// Request is one operation. Authorization and IdempotencyKey are headers; Into receives the body of a success, nil drops it.
type Request struct {
	Method, Path, Authorization, IdempotencyKey string
	Body, Into                                  any
	// Wait is how long the server may wait before it answers, in whole seconds.
	Wait time.Duration
	// Once: without an answer it is not sent again, as it may have had an effect.
	Once bool
}

// Error is an answer that is no success. Code is "" when it is not Drawbridge that answers.
type Error struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`
	Message string
	// Fields has a message for each invalid field, which follows the field's name in a sentence.
	Fields map[string]string `json:"validationErrors"`
	// IsRepeated: an attempt before, which had no answer, may have done what is refused now.
	IsRepeated bool `json:"-"`
	retryAfter time.Duration
}

func (e *Error) Error() string { return e.Message }

// IsTemporary says whether the same request may succeed later.
func (e *Error) IsTemporary() bool { return e.Status == http.StatusTooManyRequests || e.Status >= 500 }

// Send sends a request until its answer is no temporary failure, or until the deadline of the context, which has one. It returns
// *Error for a refusal.
func (c *Client) Send(ctx context.Context, r Request) error {
	isRepeated := false
	for pause := minPause; ; pause = min(2*pause, maxPause) {
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
		if deadline, _ := ctx.Deadline(); err == nil || !mayRepeat || time.Until(deadline) < wait {
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
	deadline, _ := ctx.Deadline()
	if r.Method != http.MethodGet && ctx.Err() == nil {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, min(attemptTimeout+r.Wait, time.Until(deadline)))
	defer cancel()
	if r.Wait > 0 {
		r.Path += fmt.Sprintf("?waitSeconds=%d", max(1, int(r.Wait.Seconds())))
	}
	body := &bytes.Buffer{}
	if r.Body != nil {
		_ = json.NewEncoder(body).Encode(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, c.URL+r.Path, body)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Authorization": r.Authorization, "Idempotency-Key": r.IdempotencyKey} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := c.http.Do(request)
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
	refusal := &Error{}
	if json.Unmarshal(text, refusal) != nil || refusal.Message == "" {
		*refusal = Error{Message: fmt.Sprintf("%s answers with HTTP %d, and not as Drawbridge does", c.URL, response.StatusCode)}
		if location := response.Header.Get("Location"); location != "" {
			refusal.Message += ": it redirects to " + location
		}
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	refusal.Status, refusal.retryAfter = response.StatusCode, time.Duration(seconds)*time.Second
	return refusal
}

// DetectAddresses returns the addresses that the server observes over IPv4 and IPv6; "" where there is none.
func (c *Client) DetectAddresses(ctx context.Context, at Discovery) (ipv4, ipv6 string) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout/2)
	defer cancel()
	observe := func(address, network string, into *string) func() {
		return func() {
			client := &Client{URL: strings.TrimSuffix(cmp.Or(address, c.URL), "/"), http: over(network)}
			defer client.http.CloseIdleConnections()
			var found DetectedAddress
			err := client.attempt(ctx, Request{Method: http.MethodGet, Path: "/api/v1/detect-ip", Into: &found})
			if err == nil && strings.TrimPrefix(found.Version, "IPv") == strings.TrimPrefix(network, "tcp") {
				*into = found.IP
			}
		}
	}
	var both sync.WaitGroup
	both.Go(observe(at.IPv4URL, "tcp4", &ipv4))
	both.Go(observe(at.IPv6URL, "tcp6", &ipv6))
	both.Wait()
	return ipv4, ipv6
}
