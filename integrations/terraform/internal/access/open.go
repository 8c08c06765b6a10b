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
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-drawbridge/internal/api"
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
	*Connection
	model
	names  []string
	wanted api.Wanted
	// endpoints by the names of resources; those without one are left out
	endpoints map[string]string
	diags     *diag.Diagnostics
}

// Open starts a session and waits until its rules are applied. After an error the core never calls Close: what was started is
// stopped here.
func (r *resource) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	o := &opening{Connection: r.connection, endpoints: map[string]string{}, diags: &resp.Diagnostics}
	if !req.Config.Raw.IsFullyKnown() || o.Connection == nil || o.Client == nil {
		resp.Diagnostics.AddError("Nothing was opened", "An argument of drawbridge_access or of the provider is not known yet. Neither may depend on what the run creates, or use a newer version, which waits.")
		return
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &o.model)...)
	resp.Diagnostics.Append(o.Resources.ElementsAs(ctx, &o.names, false)...)
	if !o.Endpoints.IsNull() {
		resp.Diagnostics.Append(o.Endpoints.ElementsAs(ctx, &o.endpoints, false)...)
	}
	if resp.Diagnostics.HasError() || (!o.Enabled.IsNull() && !o.Enabled.ValueBool()) {
		return
	}
	lease, session, err := o.open(ctx)
	if err == nil {
		o.fill(ctx, resp, session)
		err = o.probe(ctx, lease)
	}
	if err != nil {
		o.explain(err)
	}
	if resp.Diagnostics.HasError() {
		lease.stop(ctx)
		return
	}
	stored, _ := json.Marshal(lease)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, privateKey, stored)...)
	resp.RenewAt = lease.renewAt()
	r.leases.Store(lease.SessionID, lease)
}

// open starts the session and waits for its rules. The lease is nil when there is nothing to stop.
func (o *opening) open(ctx context.Context) (*lease, api.Session, error) {
	wait, from := seconds(o.WaitSeconds, 120), origin()
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var at api.Discovery
	err := o.Client.Send(limited, api.Request{Method: http.MethodGet, Path: "/.well-known/drawbridge", Into: &at})
	if err == nil {
		err = requireRelease(o.Version, at.Version)
	}
	if err != nil {
		return nil, api.Session{}, err
	}
	o.wanted = api.Wanted{
		DurationHours: o.DurationHours.ValueInt64(), Reason: cmp.Or(o.Reason.ValueString(), from), Ticket: o.Ticket.ValueString(),
		IPv4Address: o.IPv4Address.ValueString(), IPv6Address: o.IPv6Address.ValueString(),
	}
	for _, name := range o.names {
		if isID.MatchString(name) {
			o.wanted.ResourceIDs = append(o.wanted.ResourceIDs, name)
		} else {
			o.wanted.ResourceNames = append(o.wanted.ResourceNames, name)
		}
	}
	if o.wanted.IPv4Address+o.wanted.IPv6Address == "" {
		o.wanted.IPv4Address, o.wanted.IPv6Address = o.Client.DetectAddresses(limited, at)
	}
	body := api.StartSession{Holder: newHolder(from), LeaseSeconds: int64(seconds(o.LeaseSeconds, 300).Seconds())}
	session, begun, err := o.start(ctx, body)
	if err != nil {
		return nil, session, err
	}
	lease := &lease{URL: o.Client.URL, SessionID: session.ID, Token: session.SessionToken, LeaseSeconds: body.LeaseSeconds, OpenedAt: begun, renewed: begun}
	for deadline := time.Now().Add(wait); session.Status == "PENDING" && time.Now().Before(deadline); lease.renewIfDue(ctx) {
		limited, cancel := context.WithDeadline(ctx, deadline.Add(stopTimeout))
		wait := max(time.Second, min(maxServerWait, time.Until(deadline), time.Until(lease.renewAt())))
		session = api.Session{}
		err = lease.send(limited, http.MethodGet, "", wait, &session)
		cancel()
		if err != nil {
			return lease, session, err
		}
	}
	return lease, session, o.judge(session)
}

// start starts the session: without a detected address that is refused, and once it is approved where that is needed.
func (o *opening) start(ctx context.Context, body api.StartSession) (session api.Session, begun time.Time, err error) {
	for {
		begun, body.Wanted = time.Now(), o.wanted
		err := o.send(ctx, seconds(o.WaitSeconds, 120), api.Request{Method: http.MethodPost, Path: "/api/v1/sessions", IdempotencyKey: body.Holder, Body: body, Into: &session})
		refusal, isRefused := errors.AsType[*api.Error](err)
		switch {
		case isRefused && refusal.Status == http.StatusBadRequest && o.leaveOut(refusal):
		case isRefused && refusal.Code == "Approval required" && body.AccessRequestID == "":
			if body.AccessRequestID, err = o.approval(ctx, refusal); err != nil {
				return session, begun, err
			}
		default:
			return session, begun, err
		}
	}
}

// leaveOut leaves out a detected address that the server does not accept, when there is another one.
func (o *opening) leaveOut(refusal *api.Error) bool {
	isDetected := o.IPv4Address.IsNull() && o.IPv6Address.IsNull()
	for field, address := range map[string]*string{"ipv4Address": &o.wanted.IPv4Address, "ipv6Address": &o.wanted.IPv6Address} {
		_, isRefused := refusal.Fields[field]
		if isRefused && isDetected && o.wanted.IPv4Address != "" && o.wanted.IPv6Address != "" {
			*address = ""
			return true
		}
	}
	return false
}

// send sends a request as the provider's identity.
func (o *opening) send(ctx context.Context, within time.Duration, request api.Request) (err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if request.Authorization, err = o.Identity.Authorization(ctx); err != nil {
		return err
	}
	return o.Client.Send(ctx, request)
}

// approval asks others to approve the session, and waits for their decision. It returns the id of the approved request.
func (o *opening) approval(ctx context.Context, refusal *api.Error) (string, error) {
	if o.Reason.IsNull() {
		return "", &problem{"reason", "An approval is needed, and no reason is given", refusal.Message + ". Those who decide read it. It has to be the same in the next run: without the id of a run."}
	}
	const at = "/api/v1/access-requests"
	var asked api.AccessRequest
	if err := o.send(ctx, maxServerWait, api.Request{Method: http.MethodPost, Path: at, Body: o.wanted, Into: &asked, Once: true}); err != nil {
		return "", err
	}
	where, roles := o.Client.URL+"/requests/"+asked.ID, []string{}
	for _, role := range asked.ApproverRoles {
		roles = append(roles, role.Name)
	}
	lacking := fmt.Sprintf("%s waits for %d of %s", where, asked.ApprovalsNeeded-asked.Approvals, cmp.Or(strings.Join(roles, ", "), "the administrators"))
	deadline := time.Now().Add(seconds(o.ApprovalWaitSeconds, 0))
	if o.ApprovalWaitSeconds.ValueInt64() == 0 {
		return "", &problem{"approval_wait_seconds", "An approval is needed, and was asked for",
			lacking + ". A run with the same reason and ticket within an hour after it uses it. approval_wait_seconds makes a run wait for it."}
	}
	if until := o.Identity.Until(); !until.IsZero() && until.Add(-tokenMargin).Before(deadline) {
		deadline = until.Add(-tokenMargin)
	}
	for asked.Status == "WAITING" {
		wait := min(maxServerWait, time.Until(deadline))
		request := api.Request{Method: http.MethodGet, Path: fmt.Sprintf("%s/%s?waitSeconds=%d", at, asked.ID, max(1, int(wait.Seconds()))), Into: &asked, Wait: wait}
		if wait <= 0 || o.send(ctx, wait+maxServerWait, request) != nil {
			_ = o.send(context.WithoutCancel(ctx), stopTimeout, api.Request{Method: http.MethodPost, Path: at + "/" + asked.ID + "/cancel"})
			return "", &problem{"approval_wait_seconds", "Nobody has decided in time", lacking + ", and is cancelled now."}
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
	case session.Status == "PARTIAL" && o.AllowPartial.ValueBool():
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
func (o *opening) fill(ctx context.Context, resp *ephemeral.OpenResponse, session api.Session) {
	hosts, ports, outputs := map[string]string{}, map[string]int64{}, map[string]any{}
	for _, name := range o.names {
		if _, isGiven := o.endpoints[name]; !isGiven {
			o.endpoints[name] = endpointOf(name, session)
		}
		host, port, err := split(o.endpoints[name])
		if err != nil {
			delete(o.endpoints, name)
			o.diags.AddWarning("No endpoint is known for "+clean(name), "Its host and port are null, and many providers take that for localhost. Set endpoints, or the endpoint of the resource in Drawbridge.")
			continue
		}
		hosts[name], ports[name] = host, port
		if len(o.names) == 1 {
			outputs["endpoint"], outputs["host"], outputs["port"] = o.endpoints[name], host, port
		}
	}
	if o.Endpoints.IsNull() {
		outputs["endpoints"] = o.endpoints
	}
	outputs["hosts"], outputs["ports"], outputs["session_id"], outputs["expires_at"] = hosts, ports, session.ID, session.ExpiresAt
	outputs["addresses"] = slices.DeleteFunc([]string{session.IPv4Address, session.IPv6Address}, func(one string) bool { return one == "" })
	for name, value := range outputs {
		o.diags.Append(resp.Result.SetAttribute(ctx, path.Root(name), value)...)
	}
}

// probe waits until each endpoint accepts a connection: a rule that the cloud lists is not in effect at once.
func (o *opening) probe(ctx context.Context, lease *lease) error {
	if !o.Probe.ValueBool() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	for name, endpoint := range o.endpoints {
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

func seconds(value types.Int64, otherwise int64) time.Duration {
	if value.IsNull() {
		return time.Duration(otherwise) * time.Second
	}
	return time.Duration(value.ValueInt64()) * time.Second
}
