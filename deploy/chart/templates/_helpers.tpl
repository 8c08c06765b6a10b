{{- define "drawbridge.name" -}}
{{- contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) | trunc 45 | trimSuffix "-" -}}
{{- end -}}

{{/* (list $ "api"): what selects the pods of a component; no pod of the migration has its name. */}}
{{- define "drawbridge.selector" -}}
{{- $component := index . 1 -}}
app.kubernetes.io/name: {{ $component | eq "migration" | ternary "drawbridge-migration" "drawbridge" }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ $component }}
{{- end -}}

{{/* (list $ "api"): the metadata of a component's object. */}}
{{- define "drawbridge.metadata" -}}
{{- $ := index . 0 -}}
name: {{ include "drawbridge.name" $ }}-{{ index . 1 }}
labels:
  {{- include "drawbridge.selector" . | nindent 2 }}
  {{- include "drawbridge.labels" $ | nindent 2 }}
{{- end -}}

{{/* Of every object, and of no selector: they change with each release. */}}
{{- define "drawbridge.labels" -}}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* Refuses in `settings` what is secret, and what another value decides. */}}
{{- define "drawbridge.checkSettings" -}}
{{- $decided := dict "DRAIN_SECONDS" "api.drainSeconds" "TRUSTED_PROXIES" "trustedProxies"
  "AUDIT_SIGNING_KEY_FILE" "auditSigningKey.existingSecret" "DATABASE_URL" "existingSecret and migration.existingSecret"
  "DATABASE_SERVICE_URL" "existingSecret, whose DATABASE_URL the migration reads" -}}
{{- range $name, $value := .Values.settings -}}
  {{- with get $decided $name -}}
    {{- fail (printf "settings.%s: give it as %s" $name .) -}}
  {{- end -}}
  {{- if has $name (list "HOST" "PORT" "METRICS_PORT" "NODE_ENV") -}}
    {{- fail (printf "settings.%s: the image has a fixed one" $name) -}}
  {{- end -}}
  {{- if or (regexMatch "(SECRETS?|TOKEN|PASSWORD|SECRET_ACCESS_KEY|SECRET_KEY|MASTER_KEYS)$" $name) (regexMatch "://[^/@]*:[^/@]*@" (toString $value)) -}}
    {{- fail (printf "settings.%s: a secret is no value of the chart: put it into a Secret (existingSecret, api.existingSecret or fromSecrets)" $name) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/*
Variables: `settings` as text, and `fromSecrets`, which count before them. They are in the pod itself, so that a change of them replaces it, and so
that the first migration, which runs before any other object exists, has them.
*/}}
{{- define "drawbridge.env" -}}
{{- $env := list -}}
{{- range $name, $value := .settings -}}
  {{- if not (hasKey $.fromSecrets $name) -}}
    {{- $env = append $env (dict "name" $name "value" (kindIs "string" $value | ternary $value (toJson $value))) -}}
  {{- end -}}
{{- end -}}
{{- range $name, $key := .fromSecrets -}}
  {{- $env = append $env (dict "name" $name "valueFrom" (dict "secretKeyRef" $key)) -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}

{{/* Of every pod. */}}
{{- define "drawbridge.pod" -}}
automountServiceAccountToken: false
# variables like DRAWBRIDGE_API_PORT are none of ours
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Of every container. */}}
{{- define "drawbridge.container" -}}
{{- with .Values.image -}}
image: {{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
imagePullPolicy: {{ .pullPolicy }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* The volumes of every pod, and where its container has them. */}}
{{- define "drawbridge.volumes" -}}
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: 64Mi }
{{- with .Values.caBundle.configMap }}
- name: authorities
  configMap: { name: {{ . }} }
{{- end }}
{{- end -}}

{{- define "drawbridge.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .Values.caBundle.configMap }}
- { name: authorities, mountPath: /run/secrets/authorities, readOnly: true }
{{- end }}
{{- end -}}

{{/* (list $ $own): the variables of a component: `settings`, with what other values decide. */}}
{{- define "drawbridge.settings" -}}
{{- $ := index . 0 -}}
{{- $settings := merge (dict) $.Values.settings (index . 1) -}}
{{- with $.Values.caBundle -}}
  {{- if .configMap -}}{{- $_ := set $settings "NODE_EXTRA_CA_CERTS" (printf "/run/secrets/authorities/%s" .key) -}}{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{/* Of the API and the worker: copies on different nodes and in different zones, where there are such. */}}
{{- define "drawbridge.spread" -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "drawbridge.selector" $ | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* Of the API and the worker. DOWN is 503; DEGRADED is ready. */}}
{{- define "drawbridge.probes" -}}
startupProbe:
  httpGet: { path: /health, port: metrics }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /health/ready, port: metrics }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}
