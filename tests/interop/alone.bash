# SPDX-License-Identifier: BSD-2-Clause
# To be sourced: what a test needs, exit status 77 (skipped) where that is missing, and a folder of its own.
# Environment: FAB_TEST_DATA, FAB_SOURCE_DIR.

# shellcheck source=tests/interop/patience.bash
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/patience.bash"

# needs PROGRAM...
needs() {
  PATH=$PATH:/usr/sbin
  for program in "$@"; do
    command -v "$program" >/dev/null || { echo "no $program"; exit 77; }
  done
}

# find_dump: $fabric, unless generated, is a real dump by its place below the folder of test data
find_dump() {
  case $fabric in
  gen:*) ;;
  *)
    fabric=$(readlink -m "${FAB_TEST_DATA:-$FAB_SOURCE_DIR/../shared/topologies}/$fabric")
    [ -f "$fabric" ] || { echo "no $fabric"; exit 77; }
    ;;
  esac
}

# enter: an empty folder, $dir, becomes the current one; it is gone at the end
enter() {
  dir=$(mktemp -d) || exit 1
  trap 'rm -rf "$dir"' EXIT
  trap 'exit 130' INT TERM
  cd "$dir" || exit 1
}

fail() {
  echo "FAILED: $*"
  [ -f report ] && tail -n 30 report
  exit 1
}
