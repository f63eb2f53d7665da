# Shared by the scripts in this folder; source it.
# shellcheck shell=bash

say()  { printf '%s\n' "-- $*"; }
loud() { printf '\n%s\n%s\n%s\n\n' "!! ------------------------------------------------------------" "!! $*" "!! ------------------------------------------------------------"; }

# Folders with a package.json whose packages the tests need.
peer_folders=(test/interop test/peers/aimock)

# Written by setup-test.sh when every peer is there, read by test.sh.
peers_ready=bin/.peers-ready
