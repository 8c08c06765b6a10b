package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"

	"terraform-provider-drawbridge/internal/api"
)

const (
	privateKey   = "lease"
	renewTimeout = 30 * time.Second
	renewPause   = 5 * time.Second
	// OpenTofu gives up a Close after ten seconds
	closeTimeout = 8 * time.Second
)

// lease is what keeps and ends a session. It is the private data, written once, in Open: the cores disagree on whether Close
// gets those of Open or of the last Renew. What changes later stays in this process.
type lease struct {
	URL          string    `json:"url"`
	SessionID    string    `json:"sessionId"`
	Token        string    `json:"token"`
	LeaseSeconds int64     `json:"leaseSeconds"`
	OpenedAt     time.Time `json:"openedAt"`

	mutex    sync.Mutex
	renewed  time.Time
	renewals int
	// failure of the last renewal; "" when it succeeded
	failure string
	// movedTo is where the last renewal came from, when that address is not let in
	movedTo string
}

// leaseOf returns the lease that Open has stored; nil when it has started nothing.
func (r *resource) leaseOf(stored []byte) *lease {
	read := &lease{}
	if json.Unmarshal(stored, read) != nil {
		return nil
	}
	read.renewed = read.OpenedAt
	kept, _ := r.leases.LoadOrStore(read.SessionID, read)
	return kept.(*lease)
}

func (l *lease) length() time.Duration { return time.Duration(l.LeaseSeconds) * time.Second }

// renewAt is a third of the lease after the last renewal, by the clock of this machine: two may be lost.
func (l *lease) renewAt() time.Time {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.renewed.Add(l.length() / 3)
}

// send sends a request with the token of the session, which does this alone.
func (l *lease) send(ctx context.Context, method, action string, wait time.Duration, into any) error {
	client, err := api.NewClient(l.URL)
	if err != nil {
		return err
	}
	request := api.Request{Method: method, Path: "/api/v1/sessions/" + l.SessionID + action, Authorization: "Session " + l.Token, Into: into, Wait: wait}
	// the core, or the caller, renews again
	request.Once = action == "/renew"
	if method == http.MethodGet {
		request.Path += fmt.Sprintf("?waitSeconds=%d", max(1, int(wait.Seconds())))
	}
	return client.Send(ctx, request)
}

func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	begun := time.Now()
	var session api.Session
	err := l.send(ctx, http.MethodPost, "/renew", 0, &session)
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err != nil {
		l.failure = err.Error()
		return err
	}
	l.renewed, l.failure, l.movedTo = begun, "", session.RenewedFrom
	l.renewals++
	return nil
}

func (l *lease) renewIfDue(ctx context.Context) {
	if !time.Now().Before(l.renewAt()) {
		_ = l.renew(ctx)
	}
}

// stop ends the session, if there is one. What it cannot stop ends with the lease.
func (l *lease) stop(ctx context.Context) {
	if l == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	_ = l.send(ctx, http.MethodPost, "/stop", 0, nil)
}

// Renew extends the lease when the core says so. A temporary failure is no error, after which the core would renew no more.
func (r *resource) Renew(ctx context.Context, req ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	stored, diags := req.Private.GetKey(ctx, privateKey)
	resp.Diagnostics.Append(diags...)
	lease := r.leaseOf(stored)
	if lease == nil {
		return
	}
	err := lease.renew(ctx)
	resp.RenewAt = time.Now().Add(renewPause)
	if refusal, ok := errors.AsType[*api.Error](err); ok && hasEnded(refusal) {
		resp.RenewAt = time.Time{}
		resp.Diagnostics.AddError("The access has ended", clean(refusal.Message))
	}
	if err == nil {
		resp.RenewAt = lease.renewAt()
	}
}

// hasEnded says whether a refusal means that the session is over; its token is, then.
func hasEnded(refusal *api.Error) bool {
	return refusal.Code != "" && !refusal.IsTemporary()
}

// Close ends the session and waits a moment until its rules are removed. It never fails a run whose work is done.
func (r *resource) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	stored, diags := req.Private.GetKey(ctx, privateKey)
	resp.Diagnostics.Append(diags...)
	lease := r.leaseOf(stored)
	if lease == nil {
		return
	}
	defer r.leases.Delete(lease.SessionID)
	// a cancelled run closes, too
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	session := api.Session{Status: "EXPIRING"}
	err := lease.send(ctx, http.MethodPost, "/stop", 0, nil)
	for err == nil && session.Status == "EXPIRING" && ctx.Err() == nil {
		// the token is refused when the session has ended
		if lease.send(ctx, http.MethodGet, "", time.Until(deadline)-time.Second, &session) != nil {
			break
		}
	}
	lease.mutex.Lock()
	defer lease.mutex.Unlock()
	refusal, isRefusal := errors.AsType[*api.Error](err)
	switch {
	case isRefusal && hasEnded(refusal) && refusal.IsRepeated:
	case isRefusal && hasEnded(refusal):
		resp.Diagnostics.AddWarning("The access ended before the run was done", clean(lease.endedBecause(refusal)))
	case err != nil:
		until := lease.renewed.Add(lease.length()).UTC().Format(time.RFC3339)
		resp.Diagnostics.AddWarning("It is not known whether the access was stopped", clean("It ends at "+until+" at the latest: "+err.Error()))
	}
	if lease.movedTo != "" {
		resp.Diagnostics.AddWarning("This run has moved to another address", clean("The last renewal came from "+lease.movedTo+", which is not let in."))
	}
}

func (l *lease) endedBecause(refusal *api.Error) string {
	switch {
	case l.failure != "":
		return "The last renewal was refused or lost: " + l.failure
	case l.renewals == 0 && time.Since(l.OpenedAt) > l.length():
		return "This version of Terraform or OpenTofu did not renew it: set lease_seconds to the length of the run, or upgrade."
	default:
		return refusal.Message + ". The events of the session in Drawbridge say why it ended."
	}
}
