package provider

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

var update = flag.Bool("update", false, "write the pages that registries show")

// TestPagesAreCurrent compares the pages that registries show with the schemas: go test ./internal/provider -update
func TestPagesAreCurrent(t *testing.T) {
	schemas, err := providerserver.NewProtocol6(New("dev"))().GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"index.md": page("drawbridge", "Provider", schemas.Provider, "examples/provider.tf", t)}
	for name, schema := range schemas.EphemeralResourceSchemas {
		short := strings.TrimPrefix(name, "drawbridge_")
		pages["ephemeral-resources/"+short+".md"] = page(name, "Ephemeral resource", schema, "examples/"+short+".tf", t)
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		file := filepath.Join("../../docs", name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(pages[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if is, _ := os.ReadFile(file); string(is) != pages[name] {
			t.Errorf("%s is not current: go test ./internal/provider -update", name)
		}
	}
}

func page(name, kind string, schema *tfprotov6.Schema, example string, t *testing.T) string {
	t.Helper()
	code, err := os.ReadFile(filepath.Join("../..", example))
	if err != nil {
		t.Fatal(err)
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "---\npage_title: %q\n---\n\n# %s: %s\n\n%s\n\n```terraform\n%s```\n", name, kind, name, schema.Block.Description, code)
	for _, part := range []struct {
		title    string
		isOfPart func(*tfprotov6.SchemaAttribute) bool
	}{
		{"Required", func(one *tfprotov6.SchemaAttribute) bool { return one.Required }},
		{"Optional", func(one *tfprotov6.SchemaAttribute) bool { return one.Optional }},
		{"Outputs", func(one *tfprotov6.SchemaAttribute) bool { return one.Computed && !one.Optional }},
	} {
		lines := ""
		for _, one := range schema.Block.Attributes {
			if part.isOfPart(one) {
				kind := strings.ToLower(strings.TrimPrefix(one.Type.String(), "tftypes."))
				lines += fmt.Sprintf("- `%s` (%s) %s\n", one.Name, strings.ReplaceAll(kind, "tftypes.", ""), one.Description)
			}
		}
		if lines != "" {
			fmt.Fprintf(text, "\n## %s\n\n%s", part.title, lines)
		}
	}
	return text.String()
}
