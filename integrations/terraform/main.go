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
	drawbridge := provider.New(version)
	options := providerserver.ServeOpts{Address: "registry.terraform.io/drawbridge/drawbridge"}
	err := providerserver.Serve(context.Background(), func() framework.Provider { return drawbridge }, options)
	drawbridge.Stop()
	if err != nil {
		log.Fatal(err)
	}
}
