#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: prepare.sh FOLDER   make a source package for Debian and RPM in FOLDER, which must not exist:
#   FOLDER/fabkit_VERSION.orig.tar.xz   the last commit
#   FOLDER/fabkit-VERSION/              the same unpacked, with debian/
#   FOLDER/fabkit.spec
# Next: cd FOLDER/fabkit-VERSION && dpkg-buildpackage -us -uc, or rpmbuild -ba --define
# "_sourcedir FOLDER" FOLDER/fabkit.spec. The version is that of meson.build, the date that of the
# last commit, so that two runs give equal files.
set -eu
umask 022
[ $# -eq 1 ] || { sed -n '3,10s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
mkdir "$1"
target=$(cd "$1" && pwd)
version=$(sed -n "s/^ *version: '\([0-9.]*\)',\$/\1/p" "$source/meson.build" | head -1)
soversion=${version%%.*}
date=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct)}
git -C "$source" archive --format=tar --prefix="fabkit-$version/" HEAD |
  xz -T1 >"$target/fabkit_$version.orig.tar.xz"
ln "$target/fabkit_$version.orig.tar.xz" "$target/fabkit-$version.tar.xz"
tar -C "$target" -xf "$target/fabkit_$version.orig.tar.xz"

fill() {
  sed -e "s/@VERSION@/$version/g" -e "s/@SOVERSION@/$soversion/g" \
    -e "s/@RPMDATE@/$(LC_ALL=C date -u -d "@$date" '+%a %b %d %Y')/" "$1"
}
fill "$here/fabkit.spec" >"$target/fabkit.spec"
debian=$target/fabkit-$version/debian
cp -R "$here/debian" "$debian"
fill "$here/debian/control" >"$debian/control"
mv "$debian/libfabkit.install" "$debian/libfabkit$soversion.install"
fill "$here/debian/libfabkit.symbols" >"$debian/libfabkit$soversion.symbols"
rm "$debian/libfabkit.symbols"
cat >"$debian/changelog" <<END
fabkit ($version-0fabkit1) unstable; urgency=medium

  * Release $version, see CHANGELOG.md.

 -- fabkit authors <fabkit@example.org>  $(LC_ALL=C date -u -R -d "@$date")
END
echo "$target/fabkit-$version"
