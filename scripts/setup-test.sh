#!/usr/bin/env bash
# Installs what `make test` needs beyond Go: a Chromium, programs that speak and
# listen, and the npm packages of the real peers. Does nothing when all is there.
# Where it may not or cannot install something it says so and goes on, and the
# tests that need it are skipped; with TURNWISE_REQUIRE_PEERS=1 it fails instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh

missing=()

# Prints the output of a command only when it fails; tries twice.
quietly() {
  local log; log=$(mktemp)
  for _ in 1 2; do
    if "$@" >"$log" 2>&1 </dev/null; then rm -f "$log"; return 0; fi
  done
  tail -n 15 "$log"; rm -f "$log"; return 1
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  local apt=(apt-get -qq -o DPkg::Lock::Timeout=180)
  "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"
}

have_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

browser() {
  have_browser >/dev/null && return
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    missing+=("Chromium: install it (Debian: apt-get install chromium)"); return
  fi
  say "installing chromium"
  quietly apt_install chromium || missing+=("Chromium: apt-get could not install it")
}

have_voice() {
  command -v flite && command -v espeak-ng && { command -v pocketsphinx_continuous || command -v pocketsphinx; } &&
    { [ -d /usr/share/pocketsphinx/model/en-us/en-us ] || [ -d /usr/local/share/pocketsphinx/model/en-us/en-us ]; }
}

voice() {
  have_voice >/dev/null && return
  local debian=(flite espeak-ng pocketsphinx pocketsphinx-en-us)
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    missing+=("programs that speak and listen: install them (Debian: apt-get install ${debian[*]})"); return
  fi
  say "installing ${debian[*]}"
  quietly apt_install "${debian[@]}" || missing+=("programs that speak and listen: apt-get could not install ${debian[*]}")
}

node_ok() { command -v node >/dev/null && command -v npm >/dev/null; }

# npm ci, unless what is installed was installed from this very lock file.
packages() {
  local dir=$1 stamp=$1/node_modules/.turnwise-lock
  cmp -s "$dir/package-lock.json" "$stamp" && return
  say "npm ci in $dir"
  if quietly npm --prefix "$dir" ci --ignore-scripts --no-audit --no-fund --loglevel=error; then
    cp "$dir/package-lock.json" "$stamp"
  else
    missing+=("npm packages of $dir: npm ci failed")
  fi
}

rm -f "$peers_ready"
browser
voice
for dir in "${peer_folders[@]}"; do
  [ -f "$dir/package-lock.json" ] || continue
  if node_ok; then packages "$dir"; else missing+=("npm packages of $dir: needs Node.js 20 or newer with npm"); fi
done

if [ ${#missing[@]} -eq 0 ]; then
  mkdir -p "$(dirname "$peers_ready")"
  touch "$peers_ready"
  say "test peers are ready"
  exit 0
fi
loud "missing: tests against these real peers will be skipped"
printf '!!   %s\n' "${missing[@]}"
[ "${TURNWISE_REQUIRE_PEERS:-}" != 1 ]
