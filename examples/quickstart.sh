#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: quickstart.sh [FABRIC [PATTERN]]
# From a fresh clone on Debian 12, as root or with sudo: install what the build needs, build
# in build/ (or $BUILD), say what the fabric is, and which cables multicast trees fight over.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
fabric=${1:-examples/fabrics/fattree.txt}
pattern=${2:-grid:16x8}

if [ ! -f "$build/build.ninja" ]; then
  echo '== packages'
  . tests/tools/packages.sh
  # shellcheck disable=SC2086
  install_packages $packages_build
  meson setup "$build"
fi
echo '== build'
ninja -C "$build"

printf '\n== what is this fabric?  fabric-topo %s\n' "$fabric"
"$build/cmd/fabric-topo" "$fabric"

cat <<END

== every row and column of $pattern processes is a multicast group:
== which algorithm spreads the trees best, and which cables are fullest?
== fabric-mcroute $fabric --pattern=$pattern --algorithm=all --verify --fullest=1
END
"$build/cmd/fabric-mcroute" "$fabric" --pattern="$pattern" --algorithm=all --verify --fullest=1

cat <<END

== next: $build/cmd/fabric-mcroute --help, man $build/man/fabric-mcroute.1, ./tests/run.sh
END
