#!/usr/bin/env bash
# Helm hides what a post-renderer says, so belay writes reports: of a run that went well and of
# one that failed. A failed belay makes Helm fail before it has changed anything.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report
length() {
  python3 -c "import json, sys; print(len(json.load(sys.stdin)))"
}

install_refreshed --set env.CLIENT_ENV=prod
before=$(release_state)
revisions=$(helm_ history "$release" --max 100 -o json)

with_belay --namespace elsewhere --report "$report.json"
assert_fails "another release's namespace makes the upgrade fail" \
  helm_ upgrade "$release" "$chart" --reuse-values --set jobs.backoffLimit=5 "${with_belay[@]}"
printf '%s\n' "$output"
assert_eq "the report has the exit code" 76 "$(field_in "$report.json" exitCode)"
error=$(field_in "$report.json" error)
printf '%s\n' "$error"
assert_contains "and names the namespace" elsewhere "$error"
if [[ $(helm_major) -eq 3 ]]; then
  assert_contains "Helm 3 prints what belay said" "$error" "$output"
else
  [[ $output != *"$error"* ]] || fail "Helm 4 prints what belay said"
fi
assert_contains "belay last-error has it under every Helm" "$error" "$("$(belay_binary)" last-error)"
assert_eq "nothing has changed" "$before" "$(release_state)"
assert_eq "no revision was added" "$revisions" "$(helm_ history "$release" --max 100 -o json)"

with_belay --report "$report.txt"
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
cat "$report.txt"
assert_contains "a text report has the reasons" " pinned " "$(<"$report.txt")"
assert_contains "and the sum" "5 pinned, " "$(<"$report.txt")"
assert_eq "a good upgrade adds one revision" \
  $(($(length <<<"$revisions") + 1)) "$(helm_ history "$release" --max 100 -o json | length)"

# A Job's root is read-only: what cannot be written never stops an upgrade.
with_belay --report "$work/no/such/folder/report.json"
helm_ upgrade "$release" "$chart" --reuse-values --wait --hide-notes "${with_belay[@]}"
assert_eq "without a report the digests stay too" "$(refreshed_images)" "$(live_images)"
