#!/usr/bin/env bash
# All tests with the race detector, in random order, two packages at a time; then those
# that count allocations, bytes or ten thousand clients, which the detector falsifies.
# What it is given goes to `go test`, once: scripts/test.sh -run Edge ./flows/...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh

# What was installed must be used: a peer that then does not answer is a failure.
[ -f "$peers_ready" ] && export TURNWISE_REQUIRE_PEERS=1

if [ $# -gt 0 ]; then exec go test -race -shuffle=on -timeout 10m -p 2 "$@"; fi
go test -race -shuffle=on -timeout 10m -p 2 ./...
go test -shuffle=on -timeout 2m -run 'Allocates?Nothing|IsSmall|FloodOfConnects' ./pipeline ./server
