package access

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
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

// lease is what keeps and ends a session. Its exported fields are the private data, written once, in Open: the cores disagree on
// whether Close gets those of Open or of the last Renew. The others stay in this process.
type lease struct {
	URL, SessionID, Token string
	Length                time.Duration
	OpenedAt              time.Time

	client   *api.Client
	mutex    sync.Mutex
	renewed  time.Time
	renewals int
	// failure of the last renewal; "" when it succeeded
	failure string
	// movedTo is where the last renewal came from, when that address is not let in
	movedTo string
}

// leaseOf returns the lease that Open has stored; nil when it has started nothing.
func (r *resource) leaseOf(stored []byte, _ diag.Diagnostics) *lease {
	read := &lease{}
	if json.Unmarshal(stored, read) != nil {
		return nil
	}
	// Open has had a client of this address
	read.client, _ = api.NewClient(read.URL)
	read.renewed = read.OpenedAt
	kept, _ := r.leases.LoadOrStore(read.SessionID, read)
	return kept.(*lease)
}

// renewAt is a third of the lease after the last renewal, by the clock of this machine: two may be lost.
func (l *lease) renewAt() time.Time {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.renewed.Add(l.Length / 3)
}

// send sends a request with the token of the session, which reads, renews and stops this one alone.
func (l *lease) send(ctx context.Context, request api.Request) error {
	request.Path, request.Authorization = "/api/v1/sessions/"+l.SessionID+request.Path, "Session "+l.Token
	return l.client.Send(ctx, request)
}

func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	begun := time.Now()
	var session api.Session
	// the core, or the caller, renews again
	err := l.send(ctx, api.Request{Method: http.MethodPost, Path: "/renew", Into: &session, Once: true})
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
	if time.Now().After(l.renewAt()) {
		_ = l.renew(ctx)
	}
}

// stop ends the session, if there is one, also when the run is cancelled. What it cannot stop ends with the lease.
func (l *lease) stop(ctx context.Context) {
	if l == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	_ = l.send(ctx, api.Request{Method: http.MethodPost, Path: "/stop"})
}

// Renew extends the lease when the core says so. A temporary failure is no error, after which the core would renew no more.
func (r *resource) Renew(ctx context.Context, req ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	lease := r.leaseOf(req.Private.GetKey(ctx, privateKey))
	if lease == nil {
		return
	}
	err := lease.renew(ctx)
	switch refusal, ok := errors.AsType[*api.Error](err); {
	case err == nil:
		resp.RenewAt = lease.renewAt()
	case ok && hasEnded(refusal):
		resp.Diagnostics.AddError("The access has ended", clean(refusal.Message))
	default:
		resp.RenewAt = time.Now().Add(renewPause)
	}
}

// hasEnded says whether a refusal means that the session is over; its token is, then.
func hasEnded(refusal *api.Error) bool { return refusal.Code != "" && !refusal.IsTemporary() }

// Close ends the session and waits a moment until its rules are removed. It never fails a run whose work is done.
func (r *resource) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	lease := r.leaseOf(req.Private.GetKey(ctx, privateKey))
	if lease == nil {
		return
	}
	defer r.leases.Delete(lease.SessionID)
	// a cancelled run closes, too
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	err := lease.send(ctx, api.Request{Method: http.MethodPost, Path: "/stop"})
	session := api.Session{Status: "EXPIRING"}
	for err == nil && session.Status == "EXPIRING" && ctx.Err() == nil {
		// the token is refused when the session has ended
		if lease.send(ctx, api.Request{Method: http.MethodGet, Wait: time.Until(deadline) - time.Second, Into: &session}) != nil {
			break
		}
	}
	lease.mutex.Lock()
	defer lease.mutex.Unlock()
	refusal, isRefusal := errors.AsType[*api.Error](err)
	switch {
	case err == nil || isRefusal && hasEnded(refusal) && refusal.IsRepeated:
	case isRefusal && hasEnded(refusal):
		resp.Diagnostics.AddWarning("The access ended before the run was done", clean(lease.endedBecause(refusal)))
	default:
		latest := lease.renewed.Add(lease.Length).UTC().Format(time.RFC3339)
		resp.Diagnostics.AddWarning("It is not known whether the access was stopped", clean("It ends at "+latest+" at the latest: "+err.Error()))
	}
	if lease.movedTo != "" {
		resp.Diagnostics.AddWarning("This run has moved to another address", clean("The last renewal came from "+lease.movedTo+", which is not let in."))
	}
}

func (l *lease) endedBecause(refusal *api.Error) string {
	switch {
	case l.failure != "":
		return "The last renewal was refused or lost: " + l.failure
	case l.renewals == 0 && time.Since(l.OpenedAt) > l.Length:
		return "This version of Terraform or OpenTofu did not renew it: set lease_seconds to the length of the run, or upgrade."
	default:
		return refusal.Message + ". The events of the session in Drawbridge say why it ended."
	}
}
