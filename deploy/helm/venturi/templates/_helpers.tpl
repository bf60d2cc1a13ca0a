{{- define "venturi.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" | replace "venturi-venturi" "venturi" -}}
{{- end -}}

{{- define "venturi.labels" -}}
app.kubernetes.io/name: venturi
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "venturi.selector" -}}
app.kubernetes.io/name: venturi
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "venturi.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "venturi.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "venturi.secret" -}}
{{- default (include "venturi.name" .) .Values.secrets.existing -}}
{{- end -}}

{{/* The port the configuration listens on: "host:port" or a number. */}}
{{- define "venturi.port" -}}
{{- .Values.config.server.listen | toString | regexFind "[0-9]+$" -}}
{{- end -}}

{{/* What helm can know is wrong before anything is installed. */}}
{{- define "venturi.check" -}}
{{- $most := ternary .Values.autoscaling.maxReplicas .Values.replicas .Values.autoscaling.enabled | int -}}
{{- $journal := .Values.config.journal.type -}}
{{- if and (gt $most 1) (has $journal (list "sqlite" "memory")) -}}
{{- fail (printf "%d replicas cannot share a %s journal: use postgres or nats, or one replica" $most $journal) -}}
{{- end -}}
{{- if and (eq $journal "sqlite") (not .Values.persistence.enabled) -}}
{{- fail "a sqlite journal needs persistence.enabled, or a restart of the pod loses it" -}}
{{- end -}}
{{- if not (hasKey .Values.config.server "auth") -}}
{{- fail "config.server.auth is missing: in a pod the service listens on all addresses and needs keys" -}}
{{- end -}}
{{- if .Values.serviceMonitor.enabled -}}
{{- if not .Values.serviceMonitor.bearer.secret -}}
{{- fail "serviceMonitor.bearer.secret is missing: /metrics needs a key with `may: [metrics]`" -}}
{{- end -}}
{{- end -}}
{{- $drain := dig "limits" "drain" "25s" .Values.config | toString -}}
{{- if ne $drain (printf "%ds" (int .Values.drainSeconds)) -}}
{{- fail (printf "drainSeconds is %d, but config.limits.drain is %s; the pod would be killed at the wrong time" (int .Values.drainSeconds) $drain) -}}
{{- end -}}
{{- end -}}
