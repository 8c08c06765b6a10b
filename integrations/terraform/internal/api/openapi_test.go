package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type schema struct {
	Type       any
	Ref        string `json:"$ref"`
	AllOf      []schema
	Items      *schema
	Properties map[string]schema
	Required   []string
}

// omitted are the fields of requests that are not sent, with the reason.
var omitted = map[string]map[string]string{
	"StartSessionDto": {
		"replaces":   "a run has one session from the first to the last",
		"breakGlass": "a run has no second factor",
	},
}

// TestTheAPIIsAsTheStructsHaveIt fails when a request gets a field for which it is not decided whether it is sent.
func TestTheAPIIsAsTheStructsHaveIt(t *testing.T) {
	text, err := os.ReadFile("../../../../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	schemas := document.Components.Schemas
	for _, found := range differences(schemas) {
		t.Error(found)
	}
	// each of these changes of the API is found
	schemas["StartSessionDto"].Properties["added"] = schema{Type: "string"}
	schemas["DiscoveryDto"].Properties["version"] = schema{Type: "array"}
	delete(schemas["WorkloadTokenDto"].Properties, "accessToken")
	if found := differences(schemas); len(found) != 3 {
		t.Errorf("three changes are %q", found)
	}
}

// differences are between the schemas of the API and the structs.
func differences(schemas map[string]schema) (found []string) {
	for _, one := range []struct {
		name      string
		of        any
		isRequest bool
	}{
		{"StartSessionDto", StartSession{}, true},
		{"CreateAccessRequestDto", Wanted{}, true},
		{"ExchangeIdTokenDto", ExchangeIDToken{}, true},
		{"RenewedSessionDto", Session{}, false},
		{"StartedSessionDto", Session{}, false},
		{"AccessRequestDto", AccessRequest{}, false},
		{"WorkloadTokenDto", WorkloadToken{}, false},
		{"DiscoveryDto", Discovery{}, false},
		{"DetectedAddressDto", DetectedAddress{}, false},
	} {
		of := schemas[one.name]
		fields := map[string]bool{}
		for _, field := range reflect.VisibleFields(reflect.TypeOf(one.of)) {
			name := nameOf(field, of)
			fields[name] = true
			// one struct reads the answers of three requests
			isOfOther := reflect.TypeOf(one.of) == reflect.TypeFor[Session]() && (name == "SessionToken" || name == "RenewedFrom" || name == "ResourceIPs")
			if !field.Anonymous && !isOfOther {
				found = append(found, compare(schemas, one.name+"."+name, of.Properties[name], field.Type)...)
			}
		}
		for name := range of.Properties {
			if one.isRequest && !fields[name] && omitted[one.name][name] == "" {
				found = append(found, fmt.Sprintf("%s.%s is neither sent nor omitted with a reason", one.name, name))
			}
		}
		for _, name := range of.Required {
			if one.isRequest && !fields[name] {
				found = append(found, fmt.Sprintf("%s.%s is required, and not sent", one.name, name))
			}
		}
	}
	return found
}

// nameOf is what a field is called in JSON: by its tag in requests, and but for the case of letters in answers.
func nameOf(field reflect.StructField, of schema) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	for property := range of.Properties {
		if name == "" && strings.EqualFold(property, field.Name) {
			return property
		}
	}
	return cmp.Or(name, field.Name)
}

// compare compares a field with the schema of its property.
func compare(schemas map[string]schema, at string, of schema, field reflect.Type) (found []string) {
	for len(of.AllOf) == 1 {
		of = of.AllOf[0]
	}
	if of.Ref != "" {
		of = schemas[strings.TrimPrefix(of.Ref, "#/components/schemas/")]
	}
	kinds := map[reflect.Kind]string{reflect.String: "string", reflect.Int64: "integer", reflect.Slice: "array", reflect.Struct: "object"}
	// a type, or a list of it and null
	types := strings.Fields(strings.Trim(fmt.Sprint(of.Type), "[]"))
	switch {
	case !slices.Contains(types, kinds[field.Kind()]):
		return []string{fmt.Sprintf("%s is %v, and %s here", at, of.Type, field)}
	case field.Kind() == reflect.Slice:
		return compare(schemas, at+"[]", *of.Items, field.Elem())
	case field.Kind() == reflect.Struct:
		for _, inner := range reflect.VisibleFields(field) {
			name := nameOf(inner, of)
			found = append(found, compare(schemas, at+"."+name, of.Properties[name], inner.Type)...)
		}
	}
	return found
}

func TestNoProxyIsUsed(t *testing.T) {
	if over("tcp").Transport.(*http.Transport).Proxy != nil {
		t.Error("the server would observe the proxy's address")
	}
}
