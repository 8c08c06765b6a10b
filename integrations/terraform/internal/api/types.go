package api

// Wanted is what a session and an access request, which asks others to approve one, have in common.
type Wanted struct {
	DurationHours int64    `json:"durationHours,omitempty"`
	IPv4Address   string   `json:"ipv4Address,omitempty"`
	IPv6Address   string   `json:"ipv6Address,omitempty"`
	ResourceIDs   []string `json:"resourceIds,omitempty"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Reason        string   `json:"reason,omitempty"`
	Ticket        string   `json:"ticket,omitempty"`
}

// StartSession starts a session with a lease.
type StartSession struct {
	Wanted
	Holder          string `json:"holder"`
	LeaseSeconds    int64  `json:"leaseSeconds"`
	AccessRequestID string `json:"accessRequestId,omitempty"`
}

// ExchangeIDToken exchanges the ID token of a job; TrustID only where several trusts fit.
type ExchangeIDToken struct {
	IDToken string `json:"idToken"`
	TrustID string `json:"trustId,omitempty"`
}

// The fields of answers have the names of the API but for the case of letters, which encoding/json ignores.

// Session is the answer to a start, which alone has SessionToken, to a renewal (RenewedFrom), and to a read.
type Session struct {
	ID, Status, IPv4Address, IPv6Address, ExpiresAt, SessionToken, RenewedFrom string
	ResourceIPs                                                                []ResourceIP
}

// ResourceIP is one address of a session on one resource.
type ResourceIP struct{ ResourceID, ResourceName, Endpoint, Status, ErrorMessage string }

// AccessRequest is a session that waits for the approval of others.
type AccessRequest struct {
	ID, Status                 string
	ApprovalsNeeded, Approvals int64
	ApproverRoles              []struct{ Name string }
	Decisions                  []struct{ UserEmail, Decision, Note string }
}

// WorkloadToken is the access token of a job; ExpiresIn is in seconds.
type WorkloadToken struct {
	AccessToken string
	ExpiresIn   int64
}

// Discovery is what a server tells a client before its first request.
type Discovery struct{ Version, IPv4URL, IPv6URL string }

// DetectedAddress is an address that the server observes.
type DetectedAddress struct{ IP, Version string }
