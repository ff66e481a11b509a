#!/bin/sh
# One upgrade of this release to the newest chart, by Helm 3 or Helm 4, with belay between render
# and apply: an upgrade must not take the images back from the digests that the refresher pinned.
# All that is particular to a release comes from the environment.
set -eu

log() { printf 'auto-upgrade: %s\n' "$*"; }

# Helm 3 starts the path of a program, Helm 4 the name of a plugin. Helm 3 must not see the folder of
# the plugin: it loads no plugin at all beside one that it does not know.
version=$(helm version --short)
case $version in
  v3.*)
    renderer=$BELAY_PLUGINS/belay/bin/belay
    rollback=--atomic
    ;;
  v4.*)
    export HELM_PLUGINS="$BELAY_PLUGINS"
    renderer=belay
    rollback=--rollback-on-failure
    ;;
  *)
    log "Helm $version is neither Helm 3 nor Helm 4" >&2
    exit 1
    ;;
esac

set -- "$CHART"
[ -z "$CHART_REPOSITORY" ] || set -- "$@" --repo "$CHART_REPOSITORY"

chart_version() { sed -n 's/^version: *//p'; }
current=$(helm get metadata "$RELEASE_NAME" --namespace "$RELEASE_NAMESPACE" --output yaml | chart_version)
newest=$(helm show chart "$@" --version "$CHART_VERSION" | chart_version)
if [ -z "$current" ] || [ -z "$newest" ]; then
  log "no version to compare: '$current' is installed, '$newest' is offered" >&2
  exit 1
fi
# Whoever installed a newer chart by hand meant it. (sort knows nothing of pre-releases: one of them
# is taken for newer than its release, and waits for the version after.)
if [ "$(printf '%s\n' "$current" "$newest" | sort -V | tail -n 1)" = "$current" ]; then
  log "$current is installed, $newest is offered: nothing to do"
  exit 0
fi
log "Helm $version, chart $current -> $newest"

set -- "$@" --version "$newest" \
  --namespace "$RELEASE_NAMESPACE" \
  --reset-then-reuse-values \
  --wait --timeout "$UPGRADE_TIMEOUT" \
  --post-renderer "$renderer" \
  --post-renderer-args=--require-record \
  --post-renderer-args=--report \
  --post-renderer-args="$REPORT"
[ "$ROLLBACK_ON_FAILURE" != true ] || set -- "$@" "$rollback"

# A Helm that is killed leaves the release pending, and no later upgrade starts. So the signal that
# ends this Pod is passed on, and Helm gets to mark the release as failed.
helm upgrade "$RELEASE_NAME" "$@" &
helm=$!
trap 'kill -TERM "$helm" 2>/dev/null || :' TERM INT
while :; do
  status=0
  wait "$helm" || status=$?
  kill -0 "$helm" 2>/dev/null || break
done

# Helm shows nothing of what a post-renderer says, Helm 4 not even of a failed one.
if [ -s "$REPORT" ]; then
  log "what belay decided:"
  cat "$REPORT"
else
  log "belay wrote no report"
fi
log "helm upgrade ended with $status"
exit "$status"
