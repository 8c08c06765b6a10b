// The Terraform and OpenTofu provider of Drawbridge.
package main

import (
	"context"
	"log"

	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"terraform-provider-drawbridge/internal/provider"
)

// version is set by the linker of a release.
var version = "dev"

func main() {
	options := providerserver.ServeOpts{Address: "registry.terraform.io/drawbridge/drawbridge"}
	if err := providerserver.Serve(context.Background(), func() framework.Provider { return provider.New(version) }, options); err != nil {
		log.Fatal(err)
	}
}
