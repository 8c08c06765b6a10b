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

// Session is the answer to a start, which alone has SessionToken, to a renewal (RenewedFrom), and to a read.
type Session struct {
	ID           string       `json:"id"`
	Status       string       `json:"status"`
	IPv4Address  string       `json:"ipv4Address"`
	IPv6Address  string       `json:"ipv6Address"`
	ExpiresAt    string       `json:"expiresAt"`
	ResourceIPs  []ResourceIP `json:"resourceIps"`
	SessionToken string       `json:"sessionToken"`
	RenewedFrom  string       `json:"renewedFrom"`
}

// ResourceIP is one address of a session on one resource.
type ResourceIP struct {
	ResourceID   string `json:"resourceId"`
	ResourceName string `json:"resourceName"`
	Endpoint     string `json:"endpoint"`
	Status       string `json:"status"`
	ErrorMessage string `json:"errorMessage"`
}

// AccessRequest is a session that waits for the approval of others.
type AccessRequest struct {
	ID              string `json:"id"`
	Status          string `json:"status"`
	ApprovalsNeeded int64  `json:"approvalsNeeded"`
	Approvals       int64  `json:"approvals"`
	ApproverRoles   []struct {
		Name string `json:"name"`
	} `json:"approverRoles"`
	Decisions []struct {
		UserEmail string `json:"userEmail"`
		Decision  string `json:"decision"`
		Note      string `json:"note"`
	} `json:"decisions"`
}

// ExchangeIDToken exchanges the ID token of a job; TrustID only where several trusts fit.
type ExchangeIDToken struct {
	IDToken string `json:"idToken"`
	TrustID string `json:"trustId,omitempty"`
}

// WorkloadToken is the access token of a job; ExpiresIn is in seconds.
type WorkloadToken struct {
	AccessToken string `json:"accessToken"`
	ExpiresIn   int64  `json:"expiresIn"`
}

// Discovery is what a server tells a client before its first request.
type Discovery struct {
	Version string `json:"version"`
	IPv4URL string `json:"ipv4Url"`
	IPv6URL string `json:"ipv6Url"`
}

// DetectedAddress is an address that the server observes.
type DetectedAddress struct {
	IP      string `json:"ip"`
	Version string `json:"version"`
}
