#!/usr/bin/env bash
# All tests with the race detector, in random order, two packages at a time.
# What it is given goes to `go test`: scripts/test.sh -run Edge ./flows/...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh

# What was installed must be used: a peer that then does not answer is a failure.
[ -f "$peers_ready" ] && export TURNWISE_REQUIRE_PEERS=1

if [ $# -eq 0 ]; then set -- ./...; fi
exec go test -race -shuffle=on -timeout 10m -p 2 "$@"
