#!/usr/bin/env bash
# Runs every fuzz target in turn: scripts/fuzz.sh 30s
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh
time=${1:-10s}

failed=0
count=0
while IFS=: read -r file _ line; do
  target=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/' <<<"$line")
  count=$((count + 1))
  say "$(dirname "$file") $target for $time"
  go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" || failed=1
done < <(git grep -nE '^func Fuzz[A-Z]' -- '*_test.go')
[ $count -gt 0 ] || { say 'there is no fuzz target'; exit 1; }
exit $failed
