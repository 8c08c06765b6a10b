// Package provider has the provider drawbridge.
package provider

import (
	"cmp"
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-drawbridge/internal/access"
	"terraform-provider-drawbridge/internal/api"
	"terraform-provider-drawbridge/internal/identity"
)

// Drawbridge is the provider.
type Drawbridge struct {
	version   string
	newAccess func() ephemeral.EphemeralResource
	// Stop stops all that is still open: a core that was interrupted ends the provider without closing anything.
	Stop func()
}

var _ provider.ProviderWithEphemeralResources = &Drawbridge{}

// New returns the provider of this release.
func New(version string) *Drawbridge {
	create, stop := access.New(version)
	return &Drawbridge{version: version, newAccess: create, Stop: stop}
}

func (d *Drawbridge) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "drawbridge", d.version
}

func (*Drawbridge) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	argument := func(text string, isSecret bool) schema.Attribute {
		return schema.StringAttribute{Optional: true, Sensitive: isSecret, MarkdownDescription: text}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Temporary network access through cloud firewalls, for the run itself. One of `trust`, `api_key` and `access_token` says as whom; " +
			"arguments come before variables of the environment.",
		Attributes: map[string]schema.Attribute{
			"url":          argument("The address of Drawbridge, else `DRAWBRIDGE_URL`.", false),
			"trust":        argument("The audience of a trust, with `#` and its id where several fit, or its id alone; else `DRAWBRIDGE_TRUST`. The ID token of the run is exchanged.", false),
			"api_key":      argument("A key of a service user, else `DRAWBRIDGE_API_KEY`.", true),
			"access_token": argument("What `drawbridge token` prints, else `DRAWBRIDGE_ACCESS_TOKEN`.", true),
		},
	}
}

// Configure chooses the server and the identity. Where an argument is not known yet, what needs it fails.
func (d *Drawbridge) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	if !req.Config.Raw.IsFullyKnown() {
		return
	}
	argument := func(name string) string {
		var value types.String
		resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root(name), &value)...)
		return value.ValueString()
	}
	address := cmp.Or(argument("url"), os.Getenv("DRAWBRIDGE_URL"))
	client, err := api.NewClient(address)
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("url"), "Invalid url", "url or DRAWBRIDGE_URL "+err.Error())
		return
	}
	if client.IsUnprotected {
		resp.Diagnostics.AddAttributeWarning(path.Root("url"), "Not https", "What is sent to "+client.URL+" can be read on the way.")
	}
	found, err := identity.Resolve(ctx, client, argument, os.Getenv)
	if err != nil {
		resp.Diagnostics.AddError("It is not clear as whom to act", err.Error())
		return
	}
	resp.EphemeralResourceData = found
}

func (d *Drawbridge) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{d.newAccess}
}

func (*Drawbridge) Resources(context.Context) []func() resource.Resource { return nil }

func (*Drawbridge) DataSources(context.Context) []func() datasource.DataSource { return nil }
