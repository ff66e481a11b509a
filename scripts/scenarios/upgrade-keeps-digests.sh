#!/usr/bin/env bash
# The main job: an upgrade with belay keeps the digests that the refresher has set, on all
# sites in both namespaces, and replaces no Pod, while its other changes arrive.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json

job_retries() { # as the job template has them, which is a ConfigMap
  kube get configmap "$release-job-template" -o 'jsonpath={.data.job\.yaml}' | sed -n 's/.*backoffLimit: //p'
}

proxy_replicas() {
  kube get deployment "$release-requests-proxy" -o 'jsonpath={.spec.replicas}'
}

upgrade_keeps_digests() { # HELM_ARGUMENT…
  rm -f "$report"
  helm_ upgrade "$release" "$chart" --wait --hide-notes "$@" "${with_belay[@]}"
  assert_eq "$1: every site keeps its digest" "$(refreshed_images)" "$(live_images)"
  assert_eq "$1: the stored release has the digests" "$(refreshed_images)" "$(stored_images)"
  assert_eq "$1: belay pinned what is recorded" "$(expected_reasons pinned pinned pinned)" "$(reasons_in "$report")"
  assert_eq "$1: no Pod is replaced" "" "$(comm -23 <(printf '%s\n' "$pods") <(release_pods))"
  for image in "${!digest_of[@]}"; do
    assert_eq "$1: the record of $image stands" "${digest_of[$image]}" "$(recorded "$image")"
  done
}

install_refreshed --set env.CLIENT_ENV=prod
assert_eq "the refresher has pinned every site" "$(refreshed_images)" "$(live_images)"
pods=$(release_pods)
with_belay --report "$report"

upgrade_keeps_digests --reuse-values --set jobs.backoffLimit=5
assert_eq "the upgrade's own change arrives" 5 "$(job_retries)"
assert_eq "the number of Pods is the same" "$pods" "$(release_pods)"

upgrade_keeps_digests --reset-then-reuse-values --set requestsProxy.replicaCount=3
assert_eq "the next upgrade's change arrives" 3 "$(proxy_replicas)"
assert_eq "what was set before stays" 5 "$(job_retries)"

# Helm 4 applies on the server's side, where equal values are no conflict.
owners=$'kubectl-set Update'
[[ $(helm_major) -eq 3 ]] || owners=$'helm Apply\nkubectl-set Update'
assert_eq "the image still belongs to the refresher" "$owners" \
  "$(owners_of_image "deployment/$release-jobs-manager" api)"
