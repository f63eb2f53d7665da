#!/usr/bin/env bash
# gofmt, go mod tidy, go vet, staticcheck and govulncheck. The last two are pinned in
# tools/go.mod, a module of its own, so that nobody who imports Turnwise gets
# them into their go.sum.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/lib.sh

go -C tools build -o ../bin/tools/ tool

failed=0

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.go')
present=()
for f in "${sources[@]}"; do [ -f "$f" ] && present+=("$f"); done
unformatted=$(gofmt -s -l "${present[@]}")
if [ -n "$unformatted" ]; then
  printf 'gofmt: run `make fmt`; these files are not formatted:\n%s\n' "$unformatted"
  failed=1
fi

if ! go mod tidy -diff; then
  printf 'go.mod, go.sum: run `go mod tidy`\n'
  failed=1
fi

go vet ./... || failed=1
bin/tools/staticcheck ./... || failed=1

# A lock file must not say where its packages were downloaded from.
hosts=$(git ls-files '*package-lock.json' | xargs -r grep -l '"resolved"' || true)
if [ -n "$hosts" ]; then
  printf 'package-lock.json: npm wrote download addresses; run npm with --omit-lockfile-registry-resolved:\n%s\n' "$hosts"
  failed=1
fi

# govulncheck exits with 3 when it found something, and with 1 when it could
# not do its work, which without the vulnerability database it cannot.
report=$(mktemp)
trap 'rm -f "$report"' EXIT
code=0
bin/tools/govulncheck ./... >"$report" 2>&1 || code=$?
case $code in
  0) say "govulncheck: no known vulnerability is reachable" ;;
  3) cat "$report"; failed=1 ;;
  *) loud "govulncheck DID NOT RUN, vulnerabilities were not checked: $(tail -n 1 "$report")" ;;
esac

[ $failed = 0 ] && say "lint passed"
exit $failed
