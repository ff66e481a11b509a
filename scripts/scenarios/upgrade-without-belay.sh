#!/usr/bin/env bash
# What belay is for: after the refresher has pinned a digest, a plain `helm upgrade`
# loses it under Helm 3, and fails under Helm 4.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

workload=deployment/$release-jobs-manager
tag=docker.io/tracebloc/jobs-manager:prod
digest=$(fake_digest a)
pinned=docker.io/tracebloc/jobs-manager@$digest
selector=app.kubernetes.io/instance=$release,app.kubernetes.io/component=jobs-manager

# All references to the image in the release that Helm stored last.
stored_images() {
  helm_ get manifest "$release" | grep -o 'image: .*tracebloc/jobs-manager.*' | sort -u
}

install_control_plane --set env.CLIENT_ENV=prod
assert_eq "the chart renders the tag" "$tag" "$(image_of "$workload" api)"

refresh_writes jobs-manager "$digest"
assert_eq "the refresher pins api" "$pinned" "$(image_of "$workload" api)"
assert_eq "the refresher pins migrate" "$pinned" "$(init_image_of "$workload" migrate)"
assert_eq "the pin is the refresher's alone" "kubectl-set Update" "$(owners_of_image "$workload" api)"
pods=$(pod_uids "$release_namespace" "$selector")

if [[ $(helm_major) -eq 3 ]]; then
  helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes
  assert_eq "under Helm 3 the pin of api is lost" "$tag" "$(image_of "$workload" api)"
  assert_eq "under Helm 3 the pin of migrate is lost" "$tag" "$(init_image_of "$workload" migrate)"
  [[ $(pod_uids "$release_namespace" "$selector") != "$pods" ]] ||
    fail "under Helm 3 the Pods roll"
else
  assert_fails "under Helm 4 the upgrade fails" helm_ upgrade "$release" "$chart" --reuse-values --wait
  printf '%s\n' "$output"
  assert_contains "it names the refresher's field manager" 'with "kubectl-set"' "$output"
  assert_contains "it names the image" '.spec.template.spec.containers[name="api"].image' "$output"
  assert_eq "api keeps its pin" "$pinned" "$(image_of "$workload" api)"
  assert_eq "nothing rolls" "$pods" "$(pod_uids "$release_namespace" "$selector")"
fi
assert_eq "the stored release has the tag" "image: $tag" "$(stored_images)"
assert_eq "the record stands" "$digest" \
  "$(annotation_of "$workload" tracebloc.io/last-refreshed-jobs-manager-digest)"
