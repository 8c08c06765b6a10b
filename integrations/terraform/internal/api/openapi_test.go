package api

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
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

// TestTheAPIIsAsTheStructsHaveIt fails when a request gets a field that nobody has decided on.
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
		{"ResourceIpDto", ResourceIP{}, false},
		{"AccessRequestDto", AccessRequest{}, false},
		{"WorkloadTokenDto", WorkloadToken{}, false},
		{"DiscoveryDto", Discovery{}, false},
		{"DetectedAddressDto", DetectedAddress{}, false},
	} {
		t.Run(one.name, func(t *testing.T) {
			of := schemas[one.name]
			fields := map[string]reflect.StructField{}
			for _, field := range reflect.VisibleFields(reflect.TypeOf(one.of)) {
				if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != "" {
					fields[tag] = field
				}
			}
			for name, field := range fields {
				property, isThere := of.Properties[name]
				// one struct reads two answers
				if !isThere && (one.name == "RenewedSessionDto" || one.name == "StartedSessionDto") {
					continue
				}
				check(t, schemas, one.name+"."+name, property, field.Type)
			}
			if !one.isRequest {
				return
			}
			for name := range of.Properties {
				if _, isSent := fields[name]; !isSent && omitted[one.name][name] == "" {
					t.Errorf("%s.%s is neither sent nor omitted with a reason", one.name, name)
				}
			}
			for _, name := range of.Required {
				if _, isSent := fields[name]; !isSent {
					t.Errorf("%s.%s is required, and not sent", one.name, name)
				}
			}
		})
	}
}

// check compares a field with the schema of its property.
func check(t *testing.T, schemas map[string]schema, at string, of schema, field reflect.Type) {
	t.Helper()
	for len(of.AllOf) == 1 {
		of = of.AllOf[0]
	}
	if of.Ref != "" {
		of = schemas[strings.TrimPrefix(of.Ref, "#/components/schemas/")]
	}
	kinds := map[reflect.Kind]string{reflect.String: "string", reflect.Int64: "integer", reflect.Slice: "array", reflect.Struct: "object"}
	types := strings.Trim(strings.ReplaceAll(toText(of.Type), "null", ""), "[] ")
	if types != kinds[field.Kind()] {
		t.Errorf("%s is %q, and %s here", at, types, field)
		return
	}
	switch field.Kind() {
	case reflect.Slice:
		check(t, schemas, at+"[]", *of.Items, field.Elem())
	case reflect.Struct:
		for _, inner := range reflect.VisibleFields(field) {
			name := inner.Tag.Get("json")
			check(t, schemas, at+"."+name, of.Properties[name], inner.Type)
		}
	default:
	}
}

func toText(value any) string {
	switch typed := value.(type) {
	case string:
		return typed
	case []any:
		all := []string{}
		for _, one := range typed {
			all = append(all, toText(one))
		}
		return strings.Join(all, " ")
	default:
		return ""
	}
}

func TestNoProxyIsUsed(t *testing.T) {
	if over("tcp").Transport.(*http.Transport).Proxy != nil {
		t.Error("the server would observe the proxy's address")
	}
}
