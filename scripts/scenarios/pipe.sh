#!/usr/bin/env bash
# belay in a pipe: after `helm template`, against the live cluster.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

belay=$(belay_binary)
install_refreshed --set env.CLIENT_ENV=prod
before=$(release_state)
helm_ template "$release" "$chart" --set env.CLIENT_ENV=prod >"$work/rendered"

"$belay" <"$work/rendered" >"$work/pinned"
assert_eq "every site is pinned" "$(refreshed_images)" "$(images_of_manifests <"$work/pinned")"
changed=$(diff "$work/rendered" "$work/pinned" | grep '^>') || true
assert_eq "no other line is changed" 5 "$(grep -c '^> *image: ' <<<"$changed")"
assert_eq "nor added" "$(wc -l <"$work/rendered")" "$(wc -l <"$work/pinned")"

"$belay" <"$work/pinned" >"$work/again"
cmp "$work/pinned" "$work/again"
assert_eq "what is pinned already stays byte for byte" "$(sha256sum <"$work/pinned")" "$(sha256sum <"$work/again")"

table=$("$belay" explain -n "$release_namespace" <"$work/rendered")
printf '%s\n' "$table"
assert_eq "explain shows five pins" 5 "$(grep -c ' pinned$' <<<"$table")"
status=0
"$belay" explain --check -n "$release_namespace" <"$work/rendered" >/dev/null || status=$?
assert_eq "explain --check tells a due rewrite" 1 "$status"
"$belay" explain --check -n "$release_namespace" <"$work/pinned" >/dev/null
assert_eq "and that none is due" 0 $?

assert_fails "explain -n of another namespace fails" "$belay" explain -n elsewhere <"$work/rendered"
printf '%s\n' "$output"

"$belay" --no-cluster <"$work/rendered" >"$work/offline"
cmp "$work/rendered" "$work/offline"
assert_eq "offline, every byte stays" "$(sha256sum <"$work/rendered")" "$(sha256sum <"$work/offline")"
assert_eq "nothing has changed in the cluster" "$before" "$(release_state)"
