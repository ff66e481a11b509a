#!/usr/bin/env bash
# A chart that nobody of belay's authors knows, whose image a CD script moves by `kubectl set image`, to a
# newer tag and to a digest. An upgrade with `--profile live` keeps either, without a record.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

shop=$work/shop
mkdir -p "$shop/templates"
printf 'apiVersion: v2\nname: shop\nversion: 1.0.0\n' >"$shop/Chart.yaml"
cat >"$shop/templates/web.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels: {app: web}
  annotations: {note: {{ .Values.note | default "none" | quote }}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - {name: web, image: "ghcr.io/acme/web:1.4"}
      - {name: proxy, image: quay.io/other/proxy:2}
YAML

web=deployment/$release-web
images() {
  printf '%s %s' "$(image_of "$web" web)" "$(image_of "$web" proxy)"
}
proxy=quay.io/other/proxy:2
upgrade=(helm_ upgrade "$release" "$shop" --wait --hide-notes)

helm_ install "$release" "$shop" --create-namespace --wait --hide-notes
kube set image "$web" web=ghcr.io/acme/web:1.5
wait_rolled_out "$web"
if [[ $(helm_major) -eq 3 ]]; then
  "${upgrade[@]}"
  assert_eq "without belay, Helm 3 puts the old tag back" "ghcr.io/acme/web:1.4 $proxy" "$(images)"
else
  assert_fails "without belay, Helm 4 stops" "${upgrade[@]}"
  assert_contains "at a conflict" 'conflict with "kubectl-set"' "$output"
fi

with_belay --profile=live "--image=ghcr.io/acme/*" "--namespace=$release_namespace"
for set in ghcr.io/acme/web:1.6 "ghcr.io/acme/web@$(fake_digest 7)"; do
  kube set image "$web" "web=$set"
  wait_rolled_out "$web"
  pods=$(pod_uids "$release_namespace" app=web)
  "${upgrade[@]}" --set "note=$RANDOM" "${with_belay[@]}"
  assert_eq "what the CD script set is kept" "$set $proxy" "$(images)"
  assert_eq "and no Pod is replaced" "$pods" "$(pod_uids "$release_namespace" app=web)"
done

# An image that --image does not name is Helm's, whoever set it.
kube set image "$web" proxy=quay.io/other/proxy:3
wait_rolled_out "$web"
if [[ $(helm_major) -eq 3 ]]; then
  "${upgrade[@]}" "${with_belay[@]}"
  assert_eq "another image is put back" "$set $proxy" "$(images)"
else
  assert_fails "another image is a conflict" "${upgrade[@]}" "${with_belay[@]}"
fi
