{{/*
Names.

The three workloads are named by the release alone: the image refresher and belay know them as
`<release>-jobs-manager`, `<release>-requests-proxy` and `<release>-resource-monitor`, whatever the
length of the release's name. All other names go through resourceName.
*/}}

{{- define "control-plane.jobsManager.name" -}}
{{ .Release.Name }}-jobs-manager
{{- end }}

{{- define "control-plane.requestsProxy.name" -}}
{{ .Release.Name }}-requests-proxy
{{- end }}

{{- define "control-plane.resourceMonitor.name" -}}
{{ .Release.Name }}-resource-monitor
{{- end }}

{{/*
`<prefix>-<component>` in at most `max` characters (63, the limit of a Service; a CronJob has 52).
A longer prefix is cut and told apart by its hash.
Takes: prefix, component, max (optional).
*/}}
{{- define "control-plane.boundedName" -}}
{{- $max := default 63 .max | int }}
{{- $name := printf "%s-%s" .prefix .component }}
{{- if gt (len $name) $max }}
{{- $room := sub $max (add (len .component) 10) | int }}
{{- $name = printf "%s-%s-%s" (trunc $room .prefix | trimSuffix "-") (sha256sum .prefix | trunc 8) .component }}
{{- end }}
{{- $name }}
{{- end }}

{{/*
The name of an object inside a namespace.
Takes: root, component, max (optional).
*/}}
{{- define "control-plane.resourceName" -}}
{{- include "control-plane.boundedName" (dict "prefix" .root.Release.Name "component" .component "max" .max) }}
{{- end }}

{{/*
The name of an object that the whole cluster sees, so that releases of one name in two namespaces,
and two releases in one namespace, do not meet.
Takes: root, component.
*/}}
{{- define "control-plane.clusterName" -}}
{{- $prefix := printf "%s-%s" .root.Release.Namespace .root.Release.Name }}
{{- include "control-plane.boundedName" (dict "prefix" $prefix "component" .component) }}
{{- end }}

{{/* The namespace of the node agents. */}}
{{- define "control-plane.nodeAgentsNamespace" -}}
{{- $name := include "control-plane.clusterName" (dict "root" . "component" "node-agents") }}
{{- default $name .Values.nodeAgents.namespace.name }}
{{- end }}

{{/* The Secret with the credentials, of the same name in both namespaces. */}}
{{- define "control-plane.credentialsName" -}}
{{- $name := include "control-plane.resourceName" (dict "root" . "component" "credentials") }}
{{- default $name .Values.credentials.existingSecret }}
{{- end }}

{{- define "control-plane.settingsName" -}}
{{- include "control-plane.resourceName" (dict "root" . "component" "settings") }}
{{- end }}

{{- define "control-plane.jobsManager.serviceName" -}}
{{- include "control-plane.resourceName" (dict "root" . "component" "jobs-manager") }}
{{- end }}

{{- define "control-plane.requestsProxy.serviceName" -}}
{{- include "control-plane.resourceName" (dict "root" . "component" "requests-proxy") }}
{{- end }}

{{- define "control-plane.jobTemplateName" -}}
{{- include "control-plane.resourceName" (dict "root" . "component" "job-template") }}
{{- end }}

{{- define "control-plane.jobsManager.claimName" -}}
{{- $name := include "control-plane.resourceName" (dict "root" . "component" "jobs-manager-data") }}
{{- default $name .Values.jobsManager.persistence.existingClaim }}
{{- end }}

{{- define "control-plane.imageRefresh.name" -}}
{{- include "control-plane.resourceName" (dict "root" . "component" "image-refresh" "max" 52) }}
{{- end }}

{{- define "control-plane.autoUpgrade.name" -}}
{{- include "control-plane.resourceName" (dict "root" . "component" "auto-upgrade" "max" 52) }}
{{- end }}

{{/*
Takes: root, component, values (of the component, with serviceAccount).
*/}}
{{- define "control-plane.serviceAccountName" -}}
{{- $account := .values.serviceAccount }}
{{- if $account.create }}
{{- default (include "control-plane.resourceName" (dict "root" .root "component" .component)) $account.name }}
{{- else }}
{{- default "default" $account.name }}
{{- end }}
{{- end }}

{{/* The PriorityClass of all Pods of the release but its jobs, empty for none. */}}
{{- define "control-plane.priorityClassName" -}}
{{- if .Values.priorityClass.create }}
{{- default (include "control-plane.clusterName" (dict "root" . "component" "priority")) .Values.priorityClass.name }}
{{- else }}
{{- .Values.priorityClass.name }}
{{- end }}
{{- end }}

{{/*
Labels.
*/}}

{{/*
What never changes in the life of a release: for selectors and for pod templates, where a label
that follows the chart's version would roll every Pod at each upgrade.
Takes: root, component.
*/}}
{{- define "control-plane.selectorLabels" -}}
{{ include "control-plane.releaseLabels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* The labels that every Pod of the release shares. */}}
{{- define "control-plane.releaseLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/*
For the metadata of every object.
Takes: root, component.
*/}}
{{- define "control-plane.labels" -}}
{{ include "control-plane.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | replace "+" "_" | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}

{{/*
Images.
*/}}

{{/*
`registry/repository@digest`, or `registry/repository:tag` where no digest is set.
Takes: root, image (repository, digest), tag.
*/}}
{{- define "control-plane.image" -}}
{{- .root.Values.global.imageRegistry }}/{{ .image.repository }}
{{- if .image.digest }}@{{ .image.digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end }}

{{/*
`image` and `imagePullPolicy` of a container on one of the images that the refresher moves.

IfNotPresent where the reference cannot change under us: a digest is pinned, or the refresher pins
one (it does so on docker.io only). That holds while it is suspended too, since a restart without a
network, and an image that was loaded into the node by hand, must survive. Otherwise the tag is all
there is, and only Always notices that it has moved.
Takes: root, image (repository, digest).
*/}}
{{- define "control-plane.refreshedImage" -}}
{{- $values := .root.Values }}
{{- $refreshed := and $values.imageRefresh.enabled (eq $values.global.imageRegistry "docker.io") -}}
image: {{ include "control-plane.image" (dict "root" .root "image" .image "tag" $values.env.CLIENT_ENV) }}
imagePullPolicy: {{ if or .image.digest $refreshed }}IfNotPresent{{ else }}Always{{ end }}
{{- end }}

{{/* The same for a container on the image of jobs-manager. */}}
{{- define "control-plane.jobsManager.image" -}}
{{- include "control-plane.refreshedImage" (dict "root" . "image" .Values.images.jobsManager) }}
{{- end }}

{{/* The same for the proxy, which runs that image too, at a digest of its own if it has one. */}}
{{- define "control-plane.requestsProxy.image" -}}
{{- $digest := include "control-plane.requestsProxy.digest" . }}
{{- $image := dict "repository" .Values.images.jobsManager.repository "digest" $digest }}
{{- include "control-plane.refreshedImage" (dict "root" . "image" $image) }}
{{- end }}

{{- define "control-plane.requestsProxy.digest" -}}
{{- default .Values.images.jobsManager.digest .Values.images.requestsProxy.digest }}
{{- end }}

{{/*
`image` and `imagePullPolicy` of a container on a tool's image, whose tag names a version.
Takes: root, image.
*/}}
{{- define "control-plane.toolImage" -}}
image: {{ include "control-plane.image" (dict "root" .root "image" .image "tag" .image.tag) }}
imagePullPolicy: {{ .image.pullPolicy }}
{{- end }}

{{/*
Pods.
*/}}

{{/*
What the pod specs of all components have in common.
Takes: root, component, values (of the component), token (whether the Pod talks to the API server).
*/}}
{{- define "control-plane.podSpec" -}}
{{- $spec := dict
      "serviceAccountName" (include "control-plane.serviceAccountName" .)
      "automountServiceAccountToken" .token }}
{{- with .root.Values.imagePullSecrets }}
{{- $_ := set $spec "imagePullSecrets" . }}
{{- end }}
{{- with .root.Values.podSecurityContext }}
{{- $_ := set $spec "securityContext" . }}
{{- end }}
{{- $priorityClass := include "control-plane.priorityClassName" .root }}
{{- if and $priorityClass (ne .component "job") }}
{{- $_ := set $spec "priorityClassName" $priorityClass }}
{{- end }}
{{- $values := .values }}
{{- range $key := list "nodeSelector" "affinity" "tolerations" "topologySpreadConstraints" }}
{{- with get $values $key }}
{{- $_ := set $spec $key . }}
{{- end }}
{{- end }}
{{- toYaml $spec }}
{{- end }}

{{/* Who this client is: for every container but the proxy's, which needs to know neither. */}}
{{- define "control-plane.clientEnv" -}}
- name: CLIENT_ENV
  value: {{ .Values.env.CLIENT_ENV | quote }}
- name: CLIENT_ID
  valueFrom:
    secretKeyRef:
      name: {{ include "control-plane.credentialsName" . }}
      key: CLIENT_ID
- name: CLIENT_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ include "control-plane.credentialsName" . }}
      key: CLIENT_PASSWORD
{{- end }}

{{/*
The content of the settings ConfigMap: what the chart knows, under what the operator says. The
Deployments carry its hash, so that a setting takes effect and nothing else rolls them.
*/}}
{{- define "control-plane.settings" -}}
{{- $namespace := .Release.Namespace }}
{{- $api := include "control-plane.jobsManager.serviceName" . }}
{{- $proxy := include "control-plane.requestsProxy.serviceName" . }}
{{- $known := dict
      "RELEASE_NAME" .Release.Name
      "RELEASE_NAMESPACE" $namespace
      "JOB_TEMPLATE" "/etc/jobs-manager/job.yaml"
      "JOBS_MANAGER_URL" (printf "http://%s.%s.svc:%v" $api $namespace .Values.jobsManager.service.port)
      "REQUESTS_PROXY_URL" (printf "http://%s.%s.svc:%v" $proxy $namespace .Values.requestsProxy.service.port) }}
{{- toYaml (merge (deepCopy (default dict .Values.settings)) $known) }}
{{- end }}

{{/*
Access.
*/}}

{{/*
The subjects of a binding: the ServiceAccount of a component.
Takes: root, component, values (of the component), namespace.
*/}}
{{- define "control-plane.subjects" -}}
- kind: ServiceAccount
  name: {{ include "control-plane.serviceAccountName" . }}
  namespace: {{ .namespace }}
{{- end }}

{{/* What the resource-monitor may read. The auto-upgrade holds it too, see its Role. */}}
{{- define "control-plane.resourceMonitor.rules" -}}
- apiGroups: [""]
  resources: ["nodes"]
  verbs: ["get", "list"]
- apiGroups: ["metrics.k8s.io"]
  resources: ["nodes"]
  verbs: ["get", "list"]
{{- end }}

{{/* Who may speak to the services of the release. */}}
{{- define "control-plane.peers" -}}
- podSelector:
    matchLabels:
      {{- include "control-plane.releaseLabels" . | nindent 6 }}
{{- with .Values.networkPolicy.additionalPeers }}
{{ toYaml . }}
{{- end }}
{{- end }}
