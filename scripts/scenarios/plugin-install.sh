#!/usr/bin/env bash
# `belay plugin install` makes belay a plugin of Helm 4. Helm 3 starts the program by its path,
# or by its name in PATH.
# shellcheck source-path=SCRIPTDIR source=../rig.d/scenario.sh
. "$(dirname "$0")/../rig.d/scenario.sh"

report=$work/report.json
belay=$(belay_binary)
export HELM_PLUGINS=$work/plugins
render() { # POST_RENDERER
  helm_ template "$release" "$chart" --set env.CLIENT_ENV=prod --post-renderer "$1" \
    --post-renderer-args=--no-cluster --post-renderer-args="--report=$report"
}
assert_rendered() { # WHAT
  assert_eq "$1: belay ran and asked nobody" "$(expected_reasons offline offline offline)" "$(reasons_in "$report")"
  assert_eq "$1: Helm prints what belay wrote" "$(expected_images :prod :prod :prod)" "$(images_of_manifests <"$work/manifests")"
  rm "$report"
}

if [[ $(helm_major) -eq 3 ]]; then
  render "$belay" >"$work/manifests"
  assert_rendered "by its path"
  ln -s "$belay" "$work/belay"
  PATH=$work:$PATH render belay >"$work/manifests"
  assert_rendered "by its name in PATH"
else
  assert_fails "Helm 4 takes no path" render "$belay"
  assert_fails "and knows no plugin yet" render belay
  "$belay" plugin install
  listed=$("$HELM" plugin list)
  printf '%s\n' "$listed"
  assert_contains "Helm 4 lists it" "postrenderer/v1" "$(grep '^belay' <<<"$listed")"
  render belay >"$work/manifests"
  assert_rendered "as a plugin"
  "$belay" plugin install
  render belay >"$work/manifests"
  assert_rendered "installed over itself"
fi
