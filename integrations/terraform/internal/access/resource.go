// Package access has the ephemeral resource drawbridge_access: a leased session, from Open to Close.
package access

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-drawbridge/internal/identity"
)

type model struct {
	Resources           []string          `tfsdk:"resources"`
	Enabled             *bool             `tfsdk:"enabled"`
	LeaseSeconds        *int64            `tfsdk:"lease_seconds"`
	DurationHours       *int64            `tfsdk:"duration_hours"`
	Reason              *string           `tfsdk:"reason"`
	Ticket              *string           `tfsdk:"ticket"`
	IPv4Address         *string           `tfsdk:"ipv4_address"`
	IPv6Address         *string           `tfsdk:"ipv6_address"`
	WaitSeconds         *int64            `tfsdk:"wait_seconds"`
	ApprovalWaitSeconds *int64            `tfsdk:"approval_wait_seconds"`
	AllowPartial        *bool             `tfsdk:"allow_partial"`
	Probe               *bool             `tfsdk:"probe"`
	Endpoints           map[string]string `tfsdk:"endpoints"`
	SessionID           *string           `tfsdk:"session_id"`
	Addresses           []string          `tfsdk:"addresses"`
	ExpiresAt           *string           `tfsdk:"expires_at"`
	Hosts               map[string]string `tfsdk:"hosts"`
	Ports               map[string]int64  `tfsdk:"ports"`
	Endpoint            *string           `tfsdk:"endpoint"`
	Host                *string           `tfsdk:"host"`
	Port                *int64            `tfsdk:"port"`
}

// ranges are the least and the most of numbers.
var ranges = map[string][2]int64{
	"lease_seconds": {60, 3600}, "duration_hours": {1, 24}, "wait_seconds": {1, 600}, "approval_wait_seconds": {0, 3600},
}

// or is an argument, or what holds when it is left out.
func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

func seconds(given *int64, otherwise int64) time.Duration {
	return time.Duration(or(given, otherwise)) * time.Second
}

// resource is made for each call of the core. leases has the *lease of each session that was opened in this process. identity is
// nil where an argument of the provider is not known yet.
type resource struct {
	version  string
	leases   *sync.Map
	identity *identity.Identity
}

var _ ephemeral.EphemeralResourceWithValidateConfig = &resource{}

// New returns what makes the resource of a release, and what stops all that is still open.
func New(version string) (create func() ephemeral.EphemeralResource, stop func()) {
	leases := &sync.Map{}
	return func() ephemeral.EphemeralResource { return &resource{version: version, leases: leases} }, func() {
		var all sync.WaitGroup
		leases.Range(func(_, kept any) bool {
			all.Go(func() { kept.(*lease).stop(context.Background()) })
			return true
		})
		all.Wait()
	}
}

func (*resource) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_access"
}

func (r *resource) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	// there is none before the provider is configured
	r.identity, _ = req.ProviderData.(*identity.Identity)
}

func (*resource) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	flag := func(text string) schema.Attribute {
		return schema.BoolAttribute{Optional: true, MarkdownDescription: text}
	}
	number := func(text string) schema.Attribute {
		return schema.Int64Attribute{Optional: true, MarkdownDescription: text}
	}
	given := func(text string) schema.Attribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: text}
	}
	found := func(text string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: text}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lets the address of this run through to resources, from the first block that refers to it until the last one is done. " +
			"Refer to an output such as `host`: what nothing refers to is closed right after it was opened.",
		Attributes: map[string]schema.Attribute{
			"resources":             schema.ListAttribute{ElementType: types.StringType, Required: true, MarkdownDescription: "Names or ids of 1 to 100 resources."},
			"enabled":               flag("Whether to open anything; true when left out. `terraform.applying` opens in apply only: outputs are null in the plan."),
			"lease_seconds":         number("The access ends this long after the last renewal, 60 to 3600; 300 when left out. It is renewed at a third of that."),
			"duration_hours":        number("How long the access lasts at most, 1 to 24; left out, the server decides."),
			"reason":                given("Why, for the record and for those who approve, in at most 500 characters. Left out, it says which run this is."),
			"ticket":                given("What it is recorded under elsewhere, in at most 100 characters."),
			"ipv4_address":          given("The address to let in. Without any, those that the server observes."),
			"ipv6_address":          given("The same for IPv6."),
			"wait_seconds":          number("How long to wait until the rules are applied, 1 to 600; 120 when left out."),
			"approval_wait_seconds": number("How long to wait for an approval where one is needed, 0 to 3600; 0 when left out: it is asked for, and the run fails."),
			"allow_partial":         flag("Whether to go on when only some of the rules were applied."),
			"probe":                 flag("Whether to wait until each endpoint accepts TCP connections, for a minute at most."),
			"endpoints": schema.MapAttribute{ElementType: types.StringType, Optional: true, Computed: true,
				MarkdownDescription: "`host:port` by the names in `resources`, where the server has none or another one. Left out: those of the server."},
			"session_id": found("The id of the session."),
			"addresses":  schema.ListAttribute{ElementType: types.StringType, Computed: true, MarkdownDescription: "The addresses that are let in."},
			"expires_at": found("When the access ends, however often it is renewed."),
			"hosts":      schema.MapAttribute{ElementType: types.StringType, Computed: true, MarkdownDescription: "The host of each endpoint."},
			"ports":      schema.MapAttribute{ElementType: types.Int64Type, Computed: true, MarkdownDescription: "The port of each endpoint."},
			"endpoint":   found("With one resource, its `host:port`; null where none is known."),
			"host":       found("With one resource, its host."),
			"port":       schema.Int64Attribute{Computed: true, MarkdownDescription: "With one resource, its port."},
		},
	}
}

func (*resource) ValidateConfig(ctx context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse) {
	read := func(name string, into any) {
		resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root(name), into)...)
	}
	refuse := func(name, problem string) {
		resp.Diagnostics.AddAttributeError(path.Root(name), "Invalid "+name, name+" must "+problem)
	}
	for name, within := range ranges {
		var given types.Int64
		read(name, &given)
		if value := given.ValueInt64(); !given.IsNull() && !given.IsUnknown() && (value < within[0] || value > within[1]) {
			refuse(name, fmt.Sprintf("be from %d to %d", within[0], within[1]))
		}
	}
	var resources types.List
	var endpoints types.Map
	read("resources", &resources)
	read("endpoints", &endpoints)
	names := resources.Elements()
	if !resources.IsUnknown() && (len(names) < 1 || len(names) > 100) {
		refuse("resources", "hold 1 to 100 names or ids")
	}
	areKnown := !resources.IsUnknown() && !slices.ContainsFunc(names, attr.Value.IsUnknown)
	for name, value := range endpoints.Elements() {
		if areKnown && !slices.Contains(names, attr.Value(types.StringValue(name))) {
			refuse("endpoints", "have the names of resources: "+name+" is none")
		}
		endpoint, _ := value.(types.String)
		if _, _, err := split(endpoint.ValueString()); err != nil && !endpoint.IsUnknown() {
			refuse("endpoints", "be like db.example.com:5432")
		}
	}
}

// split reads host:port, with an IPv6 address in brackets.
func split(endpoint string) (host string, port int64, err error) {
	host, text, err := net.SplitHostPort(endpoint)
	number, notNumber := strconv.ParseUint(text, 10, 16)
	if err != nil || notNumber != nil || number == 0 || host == "" {
		return "", 0, fmt.Errorf("%q is no host with a port", endpoint)
	}
	return host, int64(number), nil
}
