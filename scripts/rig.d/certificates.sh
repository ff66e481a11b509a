# shellcheck shell=bash
# One authority per rig, and the certificates and kubeconfigs that come from it.
# Sourced by scripts/rig; works in $RIG_DIR/pki.

server_names="subjectAltName=IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes.default.svc"

need_openssl() {
  command -v openssl >/dev/null && return
  say "installing openssl with apt"
  { apt-get update -qq && apt-get install -y -qq openssl; } >&2 ||
    fail "openssl is needed and apt could not install it"
}

make_certificates() {
  need_openssl
  local log=$RIG_DIR/logs/openssl.log
  mkdir -p "$RIG_DIR/pki"
  issue_all >"$log" 2>&1 || fail_with_log "openssl could not make the certificates" "$log"
}

# Chained with `&&`: as the left side of `||` it runs without `set -e`.
issue_all() (
  cd "$RIG_DIR/pki" &&
    make_authority &&
    issue server /CN=kube-apiserver serverAuth "$server_names" &&
    issue admin /O=system:masters/CN=rig-admin clientAuth &&
    issue kube-controller-manager /CN=system:kube-controller-manager clientAuth &&
    issue kube-scheduler /CN=system:kube-scheduler clientAuth &&
    new_key service-account &&
    openssl pkey -in service-account.key -pubout -out service-account.pub
)

new_key() { # NAME
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"
}

# With a configuration of its own: the system's may add extensions a second time,
# and strict clients such as rustls refuse that.
make_authority() {
  cat >authority.cnf <<'CNF' || return
[req]
distinguished_name = name
x509_extensions = authority
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
CNF
  new_key ca &&
    openssl req -x509 -new -key ca.key -config authority.cnf -days 365 -subj /CN=belay-rig -out ca.crt
}

issue() { # NAME SUBJECT USAGE [EXTENSION]
  printf '%s\n' "basicConstraints = critical, CA:FALSE" "extendedKeyUsage = $3" "${4:-}" >"$1.ext" &&
    new_key "$1" &&
    openssl req -new -key "$1.key" -config authority.cnf -subj "$2" -out "$1.csr" &&
    openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial \
      -days 365 -extfile "$1.ext" -out "$1.crt"
}

write_kubeconfig() { # FILE CERTIFICATE_NAME: everything embedded, so that the file can be copied away
  local pki=$RIG_DIR/pki
  (umask 077 && cat >"$1") <<YAML
apiVersion: v1
kind: Config
current-context: rig
contexts:
- name: rig
  context: {cluster: rig, user: $2}
clusters:
- name: rig
  cluster:
    server: https://127.0.0.1:$api_port
    certificate-authority-data: $(base64 -w0 "$pki/ca.crt")
users:
- name: $2
  user:
    client-certificate-data: $(base64 -w0 "$pki/$2.crt")
    client-key-data: $(base64 -w0 "$pki/$2.key")
YAML
}
