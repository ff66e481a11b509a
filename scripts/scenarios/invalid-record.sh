#!/usr/bin/env bash
# An annotation that is no digest is never written into a manifest: what runs stays, be it a
# digest or the tag, and the report warns.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
sentinel=sha256:e2e-sentinel
running=$(fake_digest a)

install_control_plane --set env.CLIENT_ENV=prod
# Of jobs-manager, api and migrate run a digest and the proxy runs the tag.
kube set image "deployment/$release-jobs-manager" \
  "migrate=docker.io/tracebloc/jobs-manager@$running" "api=docker.io/tracebloc/jobs-manager@$running"
refresh_waits jobs-manager
refresh_records jobs-manager "$sentinel"
refresh_records resource-monitor "$sentinel"
images=$(live_images)
pods=$(release_pods)

with_belay --report "$report"
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "a digest that runs stays, else the tag" "$images" "$(live_images)"
assert_eq "the stored release has the same" "$images" "$(stored_images)"
assert_eq "no Pod is replaced" "$pods" "$(release_pods)"
assert_eq "the report says why" "api pinned-live
migrate pinned-live
pods-monitor-container no-record
proxy record-invalid
tracebloc-resource-monitor record-invalid" "$(reasons_in "$report")"
warnings=$(warnings_in "$report")
printf '%s\n' "$warnings"
assert_eq "each site of an image with an invalid record is warned about" \
  $'api\nmigrate\nproxy\ntracebloc-resource-monitor' "$(cut -d: -f1 <<<"$warnings")"
assert_contains "the warning quotes what is recorded" "$sentinel" "$warnings"
assert_eq "the annotation is the refresher's to mend" "$sentinel" "$(recorded jobs-manager)"

before=$(release_state)
with_belay --report "$report" --strict
assert_fails "--strict makes the upgrade fail" helm_ upgrade "$release" "$chart" --reuse-values "${with_belay[@]}"
assert_eq "with exit code 79" 79 "$(field_in "$report" exitCode)"
assert_eq "nothing has changed" "$before" "$(release_state)"
