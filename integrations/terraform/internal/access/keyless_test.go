package access_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
	"time"

	"terraform-provider-drawbridge/internal/coretest"
)

func TestAJobNeedsNoStoredKey(t *testing.T) {
	p := running(t)
	for system, token := range map[string]string{"GITHUB": "", "GITLAB": "DRAWBRIDGE_ID_TOKEN", "HCP_TERRAFORM": "TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE"} {
		t.Run(system, func(t *testing.T) {
			t.Setenv("DRAWBRIDGE_TRUST", p.Audience)
			if token == "" {
				for name, value := range p.Systems[system] {
					t.Setenv(name, value)
				}
			} else {
				t.Setenv(token, p.idToken(t, system))
			}
			walk := coretest.Begin(t, coretest.Mode{}, map[string]any{"url": p.URL})
			instance := walk.Open(t, access("203.0.113.20"))
			if instance == nil {
				t.Fatal(walk.Diagnostics())
			}
			instance.Close(t)
			// the next walk of the same job
			next := coretest.Begin(t, coretest.Mode{}, map[string]any{"url": p.URL})
			again := next.Open(t, access("203.0.113.20"))
			switch shown := next.Diagnostics(); {
			case token == "" && again == nil:
				t.Error("GitHub issues a new token for each walk: " + shown)
			case token != "" && (again != nil || !strings.Contains(shown, "refused "+token) || !strings.Contains(shown, "accepted once")):
				t.Error("the cause is not named: " + shown)
			}
			if again != nil {
				again.Close(t)
			}
		})
	}
}

// guardedAccess is access that needs an approval.
func guardedAccess(address string, further ...any) map[string]any {
	return access(address, append([]any{"resources", []string{guarded}}, further...)...)
}

// waiting returns the ids of the requests with a reason that wait for a decision.
func (p *product) waiting(t testing.TB, reason string) (ids []string) {
	t.Helper()
	type request struct{ ID, Reason, Status string }
	for _, one := range admin[[]request](t, p, http.MethodGet, "/access-requests?view=all&size=100", nil) {
		if one.Reason == reason && one.Status == "WAITING" {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

func TestAnApprovalIsAskedFor(t *testing.T) {
	p := running(t)
	walk := coretest.Begin(t, coretest.Mode{}, p.withKey())
	if walk.Open(t, guardedAccess("203.0.113.21")) != nil || !strings.Contains(walk.Diagnostics(), `AttributeName("reason")`) {
		t.Error("a reason is not demanded: " + walk.Diagnostics())
	}
	const reason = "INC-1: asked for"
	if walk.Open(t, guardedAccess("203.0.113.21", "reason", reason)) != nil {
		t.Fatal("it was opened without approval")
	}
	ids := p.waiting(t, reason)
	if len(ids) != 1 || !strings.Contains(walk.Diagnostics(), p.URL+"/requests/"+ids[0]) {
		t.Fatalf("the error does not lead to the request %v: %s", ids, walk.Diagnostics())
	}
	admin[any](t, p, http.MethodPost, "/access-requests/"+ids[0]+"/approve", nil)
	instance := walk.Open(t, guardedAccess("203.0.113.21", "reason", reason))
	if instance == nil {
		t.Fatal("the approval is not used: " + walk.Diagnostics())
	}
	instance.Close(t)
}

func TestAnApprovalIsWaitedFor(t *testing.T) {
	p := running(t)
	for _, decision := range []string{"approve", "deny", ""} {
		t.Run(decision, func(t *testing.T) {
			reason := "INC-2: wait, then " + cmp.Or(decision, "cancel")
			walk := coretest.Begin(t, coretest.Mode{}, p.withKey())
			opened := make(chan *coretest.Instance)
			go func() {
				opened <- walk.Open(t, guardedAccess("203.0.113.22", "reason", reason, "approval_wait_seconds", 300))
			}()
			until(t, "a request waits", func() bool { return len(p.waiting(t, reason)) == 1 })
			decided := time.Now()
			if decision == "" {
				walk.Cancel(t)
			} else {
				admin[any](t, p, http.MethodPost, "/access-requests/"+p.waiting(t, reason)[0]+"/"+decision, map[string]string{"note": "as planned"})
			}
			instance := <-opened
			t.Logf("Open ended %s after the decision", time.Since(decided).Round(time.Millisecond))
			if (instance != nil) != (decision == "approve") {
				t.Fatal(walk.Diagnostics())
			}
			if instance != nil {
				instance.Close(t)
			}
			if decision == "deny" && !strings.Contains(walk.Diagnostics(), "as planned") {
				t.Error("the note is not shown: " + walk.Diagnostics())
			}
			if ids := p.waiting(t, reason); len(ids) > 0 {
				t.Errorf("%v still wait", ids)
			}
		})
	}
}
