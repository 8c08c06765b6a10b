package access_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// product is the running product that `node test/terraform/run.cjs` starts.
type product struct {
	URL, Simulator, APIKey, AdminToken, Audience, OtherTarget string
	APIKeys                                                   []string
	Systems                                                   map[string]map[string]string
}

const (
	open    = "resource-0"
	guarded = "resource-1"
	other   = "resource-2"
)

// patience is far longer than any condition takes; with a planted bug it is short.
func patience() time.Duration {
	if os.Getenv(withBug) != "" {
		return 10 * time.Second
	}
	return 90 * time.Second
}

// firstKey differs between processes, which run beside each other.
var (
	firstKey  = rand.IntN(1000)
	keysTaken atomic.Int64
)

func running(t testing.TB) *product {
	t.Helper()
	text := os.Getenv("DRAWBRIDGE_TEST")
	if text == "" {
		t.Skip("needs the running product: npm run test:terraform")
	}
	found := &product{}
	if err := json.Unmarshal([]byte(text), found); err != nil {
		t.Fatal(err)
	}
	// requests are limited by key: the tests of a process have one each, as jobs do
	found.APIKey = found.APIKeys[(firstKey+int(keysTaken.Add(1)))%len(found.APIKeys)]
	return found
}

// withKey configures a provider that acts with the key of a service user.
func (p *product) withKey() map[string]any {
	return map[string]any{"url": p.URL, "api_key": p.APIKey}
}

// access configures access of an address, which no other test has, so that its rules are the test's own.
func access(address string, further ...any) map[string]any {
	configuration := map[string]any{"resources": []string{open}, "ipv4_address": address, "lease_seconds": 600}
	for at := 0; at < len(further); at += 2 {
		configuration[further[at].(string)] = further[at+1]
	}
	return configuration
}

var people atomic.Int64

func ask[T any](t testing.TB, method, address, token string, body any) (answer T) {
	t.Helper()
	sent := &bytes.Buffer{}
	if body != nil {
		_ = json.NewEncoder(sent).Encode(body)
	}
	request, err := http.NewRequest(method, address, sent)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
		// a test asks as often as many people do
		request.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.100.%d", people.Add(1)%250))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	read, _ := io.ReadAll(response.Body)
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s", method, address, response.StatusCode, read)
	}
	if len(read) > 0 {
		if err := json.Unmarshal(read, &answer); err != nil {
			t.Fatal(err)
		}
	}
	return answer
}

// admin sends a request of an administrator.
func admin[T any](t testing.TB, p *product, method, path string, body any) T {
	t.Helper()
	return ask[T](t, method, p.URL+"/api/v1"+path, p.AdminToken, body)
}

// rules counts the rules of addresses in the simulated cloud, which is the truth.
func (p *product) rules(t testing.TB, addresses ...string) int {
	t.Helper()
	count := 0
	for _, rule := range ask[[]struct{ Address string }](t, http.MethodGet, p.Simulator+"/_rules?provider=AWS", "", nil) {
		if slices.Contains(addresses, rule.Address) {
			count++
		}
	}
	return count
}

// until waits for a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience()); !holds(); time.Sleep(25 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in time: " + what)
		}
	}
}

func (p *product) hasRules(t testing.TB, count int, addresses ...string) {
	t.Helper()
	until(t, fmt.Sprintf("%d rules of %v", count, addresses), func() bool { return p.rules(t, addresses...) == count })
}

// session is the session whose id an output has.
type session struct{ ID, Status, Holder, Reason, UserEmail string }

func (p *product) session(t testing.TB, id string) session {
	t.Helper()
	return admin[session](t, p, http.MethodGet, "/sessions/"+id, nil)
}

// idToken issues an ID token of a job of a system.
func (p *product) idToken(t testing.TB, system string) string {
	t.Helper()
	offered := p.Systems[system]
	address := offered["ACTIONS_ID_TOKEN_REQUEST_URL"] + "&audience=" + url.QueryEscape(p.Audience)
	return ask[struct{ Value string }](t, http.MethodGet, address, offered["ACTIONS_ID_TOKEN_REQUEST_TOKEN"], nil).Value
}

// proxy is a way to the server, whose faults a test decides.
type proxy struct {
	URL   string
	fault atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

func (p *product) through(t testing.TB) *proxy {
	t.Helper()
	target, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	way, forward := &proxy{}, httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if fault := way.fault.Load(); fault == nil || !(*fault)(answer, request) {
			forward.ServeHTTP(answer, request)
		}
	}))
	t.Cleanup(front.Close)
	way.URL = front.URL
	return way
}

// fails makes requests fail in this way; nil: none does any more. The function says whether it has answered.
func (w *proxy) fails(fault func(http.ResponseWriter, *http.Request) bool) { w.fault.Store(&fault) }

// away is a server that cannot be reached.
func away(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

func well(http.ResponseWriter, *http.Request) bool { return false }

// unavailable is a server that answers renewals with 503.
func unavailable(answer http.ResponseWriter, request *http.Request) bool {
	isRenewal := strings.HasSuffix(request.URL.Path, "/renew")
	if isRenewal {
		answer.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(answer, `{"error":"Service Unavailable","message":"for a moment"}`)
	}
	return isRenewal
}
