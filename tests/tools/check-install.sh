#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-install.sh SOURCE VERSION BUILD
# Install what was built with --prefix=/usr --libdir=lib -Dinstall_library=true into an empty
# root, build examples/hops.c against what is there, and compare with the lists of packages.
set -eu
source=$1 version=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v pkg-config >/dev/null || { echo 'no pkg-config'; exit 77; }

DESTDIR="$work/root" meson install -C "$build" --no-rebuild >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }

export PKG_CONFIG_PATH="$work/root/usr/lib/pkgconfig"
export PKG_CONFIG_SYSROOT_DIR="$work/root"
flags=$(pkg-config --cflags --libs fabkit)
[ "$(pkg-config --modversion fabkit)" = "$version" ]
# shellcheck disable=SC2086
${CC:-cc} -std=gnu17 -Wall -Wextra -Werror "$source/examples/hops.c" -o "$work/hops" $flags
# a leaf and a root are 1 hop apart, two leaves or two roots 2
[ "$(LD_LIBRARY_PATH="$work/root/usr/lib" "$work/hops" gen:fattree:radix=4,levels=2)" = \
  '1 hops: 8 pairs of switches
2 hops: 7 pairs of switches' ]
readlink "$work/root/usr/lib/libfabkit.so" | grep -qx "libfabkit.so.${version%%.*}"

# nothing but our own names may leave the library
if nm -D --defined-only "$work/root/usr/lib/libfabkit.so" | awk '{ print $3 }' |
  grep -v '^fab_' | grep -v '^FABKIT_'; then
  echo 'the library exports foreign names'
  exit 1
fi
# each file is in one Debian package, and each entry of a package has a file
(cd "$work/root" && find usr -type f -o -type l) >"$work/files"
entries=$(cat "$source"/data/packaging/debian/*.install | sed 's|usr/lib/\*/|usr/lib/|')
set -f
used=
while read -r file; do
  owners=
  for entry in $entries; do
    # shellcheck disable=SC2254
    case $file in $entry | $entry/*) owners="$owners $entry" ;; esac
  done
  # shellcheck disable=SC2086
  set -- $owners
  [ $# -eq 1 ] || { echo "$file: in $# packages ($*)"; exit 1; }
  used="$used $1 "
done <"$work/files"
for entry in $entries; do
  case $used in *" $entry "*) ;; *) echo "debian/*.install: no file is $entry"; exit 1 ;; esac
done
set +f
# every command and page that is installed is where it belongs
for file in "$work"/root/usr/bin/*; do
  [ -e "$file" ] || continue
  name=$(basename "$file")
  for other in "share/man/man1/$name.1" "share/bash-completion/completions/$name" \
    "share/zsh/site-functions/_fabkit" "share/fish/vendor_completions.d/$name.fish"; do
    [ -s "$work/root/usr/$other" ] || { echo "not installed: $other"; exit 1; }
  done
  "$file" --version
done
