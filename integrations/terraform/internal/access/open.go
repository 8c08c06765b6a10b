package access

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"

	"terraform-provider-drawbridge/internal/api"
	"terraform-provider-drawbridge/internal/identity"
)

const (
	maxServerWait = 30 * time.Second
	stopTimeout   = 5 * time.Second
	probeTimeout  = time.Minute
	probePause    = 500 * time.Millisecond
	// an access token has to last this long after an approval: the session is started with it
	tokenMargin = 30 * time.Second
)

// opening is one call of Open.
type opening struct {
	*identity.Identity
	model
	wait   time.Duration
	wanted api.Wanted
	diags  *diag.Diagnostics
}

// Open starts a session and waits until its rules are applied. After an error the core never calls Close: what was started is
// stopped here.
func (r *resource) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	o := &opening{Identity: r.identity, diags: &resp.Diagnostics}
	if !req.Config.Raw.IsFullyKnown() || o.Identity == nil {
		resp.Diagnostics.AddError("Nothing was opened", "An argument of drawbridge_access or of the provider is not known yet. Neither may depend on what the run creates, or use a newer version, which waits.")
		return
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &o.model)...)
	if resp.Diagnostics.HasError() || !or(o.Enabled, true) {
		return
	}
	o.wait = seconds(o.WaitSeconds, 120)
	lease, session, err := o.open(ctx, r.version)
	if err == nil {
		o.fill(session)
		stored, _ := json.Marshal(lease)
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, privateKey, stored)...)
		resp.Diagnostics.Append(resp.Result.Set(ctx, o.model)...)
		err = o.probe(ctx, lease)
	}
	if err != nil {
		o.explain(err)
	}
	if resp.Diagnostics.HasError() {
		lease.stop(ctx)
		return
	}
	resp.RenewAt = lease.renewAt()
	r.leases.Store(lease.SessionID, lease)
}

// open starts the session and waits for its rules. The lease is nil when there is nothing to stop.
func (o *opening) open(ctx context.Context, version string) (*lease, api.Session, error) {
	// a wrong address is no reason for a long wait
	limited, cancel := context.WithTimeout(ctx, min(o.wait, maxServerWait))
	defer cancel()
	var at api.Discovery
	err := o.Client.Send(limited, api.Request{Method: http.MethodGet, Path: "/.well-known/drawbridge", Into: &at})
	if err == nil {
		err = requireRelease(version, at.Version)
	}
	if err != nil {
		return nil, api.Session{}, err
	}
	from := origin()
	o.wanted = api.Wanted{
		DurationHours: or(o.DurationHours, 0), Reason: or(o.Reason, from), Ticket: or(o.Ticket, ""),
		IPv4Address: or(o.IPv4Address, ""), IPv6Address: or(o.IPv6Address, ""),
	}
	for _, name := range o.Resources {
		if isID.MatchString(name) {
			o.wanted.ResourceIDs = append(o.wanted.ResourceIDs, name)
		} else {
			o.wanted.ResourceNames = append(o.wanted.ResourceNames, name)
		}
	}
	if o.wanted.IPv4Address+o.wanted.IPv6Address == "" {
		o.wanted.IPv4Address, o.wanted.IPv6Address = o.Client.DetectAddresses(limited, at)
	}
	lease, session, err := o.start(ctx, newHolder(from))
	if err != nil {
		return nil, session, err
	}
	deadline := time.Now().Add(o.wait)
	waiting, cancel := context.WithDeadline(ctx, deadline.Add(stopTimeout))
	defer cancel()
	for session.Status == "PENDING" && time.Now().Before(deadline) {
		wait := max(time.Second, min(maxServerWait, time.Until(deadline), time.Until(lease.renewAt())))
		session = api.Session{}
		if err := lease.send(waiting, api.Request{Method: http.MethodGet, Wait: wait, Into: &session}); err != nil {
			return lease, session, err
		}
		lease.renewIfDue(ctx)
	}
	return lease, session, o.judge(session)
}

// start starts the session: without a detected address that is refused, and once it is approved where that is needed.
func (o *opening) start(ctx context.Context, holder string) (*lease, api.Session, error) {
	length := seconds(o.LeaseSeconds, 300)
	body := api.StartSession{Holder: holder, LeaseSeconds: int64(length.Seconds())}
	for {
		var session api.Session
		begun := time.Now()
		body.Wanted = o.wanted
		err := o.Send(ctx, o.wait, api.Request{Method: http.MethodPost, Path: "/api/v1/sessions", IdempotencyKey: holder, Body: body, Into: &session})
		if err == nil {
			lease := &lease{URL: o.Client.URL, SessionID: session.ID, Token: session.SessionToken, Length: length, OpenedAt: begun}
			lease.client, lease.renewed = o.Client, begun
			return lease, session, nil
		}
		refusal, isRefused := errors.AsType[*api.Error](err)
		if isRefused && refusal.Code == "Approval required" && body.AccessRequestID == "" {
			body.AccessRequestID, err = o.approval(ctx, refusal)
		} else if isRefused && o.leaveOut(refusal) {
			err = nil
		}
		if err != nil {
			return nil, session, err
		}
	}
}

// leaveOut leaves out a detected address that the server does not accept, when there is another one.
func (o *opening) leaveOut(refusal *api.Error) bool {
	isChoice := o.IPv4Address == nil && o.IPv6Address == nil && o.wanted.IPv4Address != "" && o.wanted.IPv6Address != ""
	for field, address := range map[string]*string{"ipv4Address": &o.wanted.IPv4Address, "ipv6Address": &o.wanted.IPv6Address} {
		if refusal.Fields[field] != "" && isChoice {
			*address = ""
			return true
		}
	}
	return false
}

// approval asks others to approve the session, and waits for their decision. It returns the id of the approved request.
func (o *opening) approval(ctx context.Context, refusal *api.Error) (string, error) {
	if o.Reason == nil {
		return "", &problem{"reason", "An approval is needed, and no reason is given", refusal.Message + ". Those who decide read it. It has to be the same in the next run: without the id of a run."}
	}
	const at = "/api/v1/access-requests"
	var asked api.AccessRequest
	if err := o.Send(ctx, maxServerWait, api.Request{Method: http.MethodPost, Path: at, Body: o.wanted, Into: &asked, Once: true}); err != nil {
		return "", err
	}
	roles := []string{}
	for _, role := range asked.ApproverRoles {
		roles = append(roles, role.Name)
	}
	where := o.Client.URL + "/requests/" + asked.ID
	lacking := fmt.Sprintf("%s waits for %d of %s", where, asked.ApprovalsNeeded-asked.Approvals, cmp.Or(strings.Join(roles, ", "), "the administrators"))
	deadline := time.Now().Add(seconds(o.ApprovalWaitSeconds, 0))
	if or(o.ApprovalWaitSeconds, 0) == 0 {
		return "", &problem{"approval_wait_seconds", "An approval is needed, and was asked for",
			lacking + ". A run with the same reason and ticket within an hour after it uses it. approval_wait_seconds makes a run wait for it."}
	}
	if o.IsFixed && !o.Until.IsZero() && o.Until.Add(-tokenMargin).Before(deadline) {
		deadline = o.Until.Add(-tokenMargin)
	}
	for asked.Status == "WAITING" {
		wait := min(maxServerWait, time.Until(deadline))
		if wait <= 0 || o.Send(ctx, wait+maxServerWait, api.Request{Method: http.MethodGet, Path: at + "/" + asked.ID, Into: &asked, Wait: wait}) != nil {
			_ = o.Send(context.WithoutCancel(ctx), stopTimeout, api.Request{Method: http.MethodPost, Path: at + "/" + asked.ID + "/cancel"})
			return "", &problem{"approval_wait_seconds", "No decision was made in time", lacking + ", and is cancelled now."}
		}
	}
	if asked.Status != "APPROVED" {
		notes := where + " is " + asked.Status
		for _, one := range asked.Decisions {
			notes += fmt.Sprintf("\n%s by %s: %s", one.Decision, one.UserEmail, one.Note)
		}
		return "", &problem{"reason", "The access was not approved", notes}
	}
	return asked.ID, nil
}

// judge decides whether what was applied is what was asked for.
func (o *opening) judge(session api.Session) error {
	refused := ""
	for _, one := range session.ResourceIPs {
		if one.Status != "APPLIED" {
			refused += fmt.Sprintf("%s: %s\n", one.ResourceName, cmp.Or(one.ErrorMessage, "not applied yet"))
		}
	}
	switch {
	case session.Status == "PARTIAL" && or(o.AllowPartial, false):
		o.diags.AddWarning("Some rules were refused", clean(refused))
	case session.Status == "PARTIAL":
		return &problem{"resources", "Some rules were refused", refused + "allow_partial goes on with the others."}
	case session.Status == "PENDING":
		return &problem{"wait_seconds", "The rules were not applied in time", refused}
	case session.Status != "ACTIVE":
		return &problem{"resources", "The access is " + session.Status, refused}
	}
	return nil
}

// fill sets the outputs. What is configured stays as it is: the core refuses anything else.
func (o *opening) fill(session api.Session) {
	endpoints := map[string]string{}
	o.Hosts, o.Ports = map[string]string{}, map[string]int64{}
	for _, name := range o.Resources {
		endpoint := cmp.Or(o.Endpoints[name], endpointOf(name, session))
		host, port, err := split(endpoint)
		if err != nil {
			o.diags.AddWarning("No endpoint is known for "+clean(name), "Its host and port are null, and many providers take that for localhost. Set endpoints, or the endpoint of the resource in Drawbridge.")
			continue
		}
		endpoints[name], o.Hosts[name], o.Ports[name] = endpoint, host, port
		if len(o.Resources) == 1 {
			o.Endpoint, o.Host, o.Port = &endpoint, &host, &port
		}
	}
	if o.Endpoints == nil {
		o.Endpoints = endpoints
	}
	o.SessionID, o.ExpiresAt = &session.ID, &session.ExpiresAt
	o.Addresses = slices.DeleteFunc([]string{session.IPv4Address, session.IPv6Address}, func(one string) bool { return one == "" })
}

// probe waits until each endpoint accepts a connection: a rule that the cloud lists is not in effect at once.
func (o *opening) probe(ctx context.Context, lease *lease) error {
	if !or(o.Probe, false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	for name, host := range o.Hosts {
		endpoint := net.JoinHostPort(host, fmt.Sprint(o.Ports[name]))
		for {
			connection, err := (&net.Dialer{Timeout: stopTimeout}).DialContext(ctx, "tcp", endpoint)
			if err == nil {
				_ = connection.Close()
				break
			}
			lease.renewIfDue(ctx)
			select {
			case <-ctx.Done():
				return &problem{"probe", endpoint + " of " + name + " accepts no connection", err.Error()}
			case <-time.After(probePause):
			}
		}
	}
	return nil
}

var isID = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// endpointOf is the endpoint of the resource that the server finds by this name: the exact one first.
func endpointOf(name string, session api.Session) string {
	for _, fits := range []func(api.ResourceIP) bool{
		func(one api.ResourceIP) bool { return one.ResourceName == name },
		func(one api.ResourceIP) bool { return strings.EqualFold(one.ResourceName, name) },
		func(one api.ResourceIP) bool { return strings.HasPrefix(one.ResourceID, strings.ToLower(name)) },
	} {
		if found := slices.IndexFunc(session.ResourceIPs, fits); found >= 0 {
			return session.ResourceIPs[found].Endpoint
		}
	}
	return ""
}
