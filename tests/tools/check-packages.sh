#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-packages.sh [PART...]   packages of the last commit (default: all parts, half an hour)
#   debian   five packages, built twice in folders, at times, with umasks, locales and time zones that differ,
#            have the same bytes; no word of lintian; fabkit-opensm has no scripts and no file in /etc
#   bare     they install on a bare Debian 12, run, and leave nothing behind when purged
#   rpm      rpmbuild makes five packages of which rpmlint has nothing to say
#   dist     the tarball of `meson dist` builds, and passes its quick tests
#   arm64    cross-built without a warning, the quick golden cases give the same output under qemu-user
# Ends with `N passed, N failed, N skipped`; a part without its programs is skipped and says so. Needs root.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d /tmp/check-packages.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# the last commit, whatever is committed meanwhile
git clone -q --shared . "$work/source" && cd "$work/source" || exit 1
source=$PWD
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
version=$(sed -n "s/^ *version: '\([0-9.]*\)',\$/\1/p" meson.build | head -1)

# need PROGRAM...: status 77 when one is not there
need() {
  local program
  for program; do
    command -v "$program" >/dev/null || { echo "skipped: no $program"; return 77; }
  done
}

# logged NAME COMMAND...: its last lines when it fails
logged() {
  local log=$work/$1.log
  shift
  "$@" >"$log" 2>&1 || { tail -n 15 "$log"; return 1; }
}

# build FOLDER: the packages, once
build() {
  data/packaging/prepare.sh "$1" >/dev/null &&
    (cd "$1/fabkit-$version" && "${@:2}" dpkg-buildpackage -us -uc -d)
}

debian() {
  need dpkg-buildpackage dh lintian faketime || return
  logged first build "$work/deb" || return 1
  ! grep -i warning "$work/first.log" || return 1
  (
    umask 077
    export TZ=Asia/Tokyo LC_ALL=C LANG=tr_TR.UTF-8 DEB_BUILD_OPTIONS=parallel=1
    logged second build "$work/another-folder" faketime -f +400d
  ) || return 1
  local file n=0
  for file in "$work"/deb/*.deb "$work"/deb/*.tar.xz "$work"/deb/*.dsc; do
    cmp "$file" "$work/another-folder/${file##*/}" || return 1
    n=$((n + 1))
  done
  echo "$n files with the same bytes"
  lintian --allow-root --fail-on error,warning,info "$work"/deb/*.changes || return 1
  for file in "$work"/deb/fabkit-opensm_*.deb; do
    if dpkg-deb --ctrl-tarfile "$file" | tar -t | grep -E '/(pre|post)(inst|rm)$|conffiles|triggers' ||
      dpkg-deb --fsys-tarfile "$file" | tar -t | grep -E '^\./(etc|var|run)/.'; then
      echo "${file##*/}: changes more than its own files"
      return 1
    fi
  done
}

bare() {
  need mmdebstrap || return
  [ -d "$work/deb" ] || logged first build "$work/deb" || return 1
  local root=$work/root
  logged bare mmdebstrap --variant=apt bookworm "$root" || return 1
  mkdir "$root/debs"
  cp "$work"/deb/*.deb "$root/debs"
  rm "$root"/debs/*dbgsym* "$root"/debs/libfabkit-dev*
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  cat >"$root/debs/check" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
# the programs that ours are made for are there before, and with their settings
apt-get -qq update
apt-get -qq -y --no-install-recommends install opensm man-db
list() { find / -xdev \( -path /proc -o -path /sys -o -path /tmp -o -path /var/lib/dpkg -o -path /var/cache -o -path /var/log \
  -o -path /var/lib/apt \) -prune -o -print | sort; }
etc() { find /etc -type f ! -name ld.so.cache -exec md5sum {} + | sort -k 2; }
opensm -c /tmp/opensm.conf >/dev/null 2>&1 || :
list >/tmp/before
etc >/tmp/etc
date +%s >/tmp/start
apt-get -qq -y install /debs/*.deb
cd /tmp
fabric-topo gen:fattree:radix=8,levels=2 --to=ibnetdiscover >dump.txt
fabric-topo --check dump.txt --report=page.html
grep -q '<svg' page.html
echo "from packages to the first report: $(($(date +%s) - $(cat /tmp/start))) s"
for command in topo mcroute faults sim rdma launch bootplan compare; do
  fabric-$command --version
  man -w fabric-$command >/dev/null
done
fabric-faults /usr/share/doc/fabkit/examples/fabrics/site.txt --algorithm=minhop --cure | head -n 2
etc | diff /tmp/etc -
opensm -c /tmp/opensm2.conf >/dev/null 2>&1 || :
cmp /tmp/opensm.conf /tmp/opensm2.conf
apt-get -qq -y purge fabkit fabkit-opensm fabkit-doc 'libfabkit*'
apt-get -qq -y autoremove --purge
list | diff /tmp/before - | grep -i fab && exit 1
etc | diff /tmp/etc -
echo 'purged'
END
  chroot "$root" sh /debs/check >"$work/bare.out" 2>&1 || { tail -n 15 "$work/bare.out"; return 1; }
  grep -E '^(from packages|fabric-|minhop|purged)' "$work/bare.out"
}

rpm() {
  need rpmbuild rpmlint || return
  data/packaging/prepare.sh "$work/rpm" >/dev/null || return 1
  # macros of Fedora's package of meson and its stripping; the names of Debian's packages are others
  logged rpm rpmbuild -ba --nodeps --define "_topdir $work/rpm/top" --define "_sourcedir $work/rpm" \
    --define 'meson meson setup build --prefix=/usr --libdir=%{_libdir} --mandir=%{_mandir} --buildtype=plain' \
    --define 'meson_build ninja -C build' --define 'meson_install DESTDIR=%{buildroot} meson install -C build --no-rebuild --strip' --define '_build_id_links none' \
    "$work/rpm/fabkit.spec" || return 1
  local files=("$work"/rpm/top/RPMS/*/*.rpm)
  [ ${#files[@]} -eq 5 ] || { echo "${#files[@]} packages"; return 1; }
  rpmlint --rpmlintrc data/packaging/fabkit.rpmlintrc "${files[@]}" "$work"/rpm/top/SRPMS/*.rpm "$work/rpm/fabkit.spec" \
    >"$work/rpmlint.out" 2>&1
  tail -n 1 "$work/rpmlint.out"
  ! grep -E ': [WE]: ' "$work/rpmlint.out"
}

dist() {
  need meson || return
  logged setup meson setup "$work/dist" -Dtests=disabled || return 1
  logged dist meson dist -C "$work/dist" --no-tests || return 1
  tar -C "$work" -xf "$work/dist/meson-dist/fabkit-$version.tar.xz" || return 1
  logged configure meson setup "$work/from-dist" "$work/fabkit-$version" -Dtests=enabled -Dwerror=true || return 1
  logged compile ninja -C "$work/from-dist" || return 1
  logged quick meson test -C "$work/from-dist" --no-rebuild --suite quick || return 1
  grep -E '^(Ok|Fail|Skipped):' "$work/quick.log" | tr -s ' \n' ' '
  echo
}

arm64() {
  need aarch64-linux-gnu-gcc qemu-aarch64-static mmdebstrap || return
  local root=$work/arm64-root run=$work/arm64 command case
  logged root mmdebstrap --variant=extract --architectures=arm64 \
    --include=libc6-dev,zlib1g-dev,libzstd-dev,libjansson-dev,libsmartcols-dev,libsqlite3-dev,libibnetdisc-dev,libibmad-dev,libibumad-dev,libopensm-dev,libgomp1 \
    bookworm "$root" || return 1
  cat >"$work/arm64.ini" <<END
[binaries]
c = [$(command -v ccache >/dev/null && echo "'ccache', ")'aarch64-linux-gnu-gcc', '--sysroot=$root']
ar = 'aarch64-linux-gnu-gcc-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64-static', '-L', '$root']
[properties]
sys_root = '$root'
pkg_config_libdir = '$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig'
[built-in options]
werror = true
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
  logged arm64-setup meson setup "$run" --cross-file "$work/arm64.ini" -Dtests=disabled -Dlive=enabled \
    -Dopensm=enabled -Dinstall_library=true || return 1
  logged arm64-build ninja -C "$run" || return 1
  tests/tools/check-hardened.sh --objects 'BTI, PAC' "$run/lib" "$run/cmd" || return 1
  mkdir "$work/wrapped"
  for command in "$run"/cmd/fabric-*; do
    [ -f "$command" ] || continue
    printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s "$@"\n' "$root" "$command" >"$work/wrapped/${command##*/}"
  done
  chmod +x "$work"/wrapped/*
  # the cases of `meson test --suite quick`
  for case in $(sed -n "/^quick_cases/,/]/p" tests/golden/meson.build | grep -o "'[^']*'" | tr -d "'"); do
    PATH=$work/wrapped:$PATH BUILD_DIR=$run FAB_SOURCE_DIR=$source tests/golden/run.sh "tests/golden/$case" >"$work/case" 2>&1 ||
      { echo "$case:"; tail -n 15 "$work/case"; return 1; }
    echo "same output: $case"
  done
}

passed=0 failed=0 skipped=0
[ $# -gt 0 ] || set -- debian bare rpm dist arm64
for part; do
  case $part in
  debian | bare | rpm | dist | arm64) ;;
  *) sed -n '3,10s/^# //p' tests/tools/check-packages.sh >&2; exit 2 ;;
  esac
  echo "== $part"
  "$part"
  case $? in
  0) passed=$((passed + 1)) ;;
  77) skipped=$((skipped + 1)) ;;
  *) echo "$part: failed"; failed=$((failed + 1)) ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
