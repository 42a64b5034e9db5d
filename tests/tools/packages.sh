# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034 # both lists are read by scripts
# The Debian packages that the project needs, stated once; sourced by scripts.

# to build the commands
packages_build="gcc libc6-dev meson ninja-build pkg-config zlib1g-dev libzstd-dev
  libjansson-dev libsmartcols-dev libsqlite3-dev libibnetdisc-dev libibmad-dev libibumad-dev
  libopensm-dev"
# to run every test: Criterion for the unit tests, ibsim with ibnetdiscover and OpenSM as
# a fabric without hardware, ibdmchk (ibutils) to check tables, clang as a second compiler
# and for the fuzz targets, its OpenMP to find races, mandoc for the pages, zsh and fish
# for their completions, jq to check trees by other means, sqlite3 to ask the database of
# results by hand, rsvg-convert to draw plots as PNG, dnsmasq, Kea, ISC dhcpd and Ansible
# to check configuration for boot servers, iproute2 and python3 for nodes that boot from
# them in network namespaces, QEMU for one that is a machine, Slurm with munge and GNU
# parallel to run sweeps as job arrays, GNU time to measure commands, libpmix to compare
# with (-Dpmix=enabled), strace for system calls that fail, shellcheck for the scripts
packages_test="libcriterion-dev ibsim-utils infiniband-diags opensm ibutils clang
  libclang-rt-dev libomp-dev mandoc bash bash-completion zsh fish gzip zstd jq sqlite3
  librsvg2-bin dnsmasq-base isc-dhcp-server kea-dhcp4-server kea-dhcp6-server ansible-core
  iproute2 python3 qemu-system-x86 slurm-wlm munge parallel time libpmix-dev
  strace shellcheck"

# Install those of the packages given that are missing, as root or with sudo. Nothing is
# downloaded when none is missing.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian: install these packages: $*" >&2
    return 0
  fi
  missing=
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "not root and no sudo; please install:$missing" >&2
      return 1
    }
    as_root=sudo
  fi
  echo "installing:$missing"
  # shellcheck disable=SC2086
  apt_waiting -q update &&
    apt_waiting -qq -y --no-install-recommends install $missing
}

# apt-get, up to ten minutes later while another process holds a lock of apt or dpkg: apt waits
# for the lock of dpkg by itself, for that of the lists it does not.
apt_waiting() {
  tries=0
  while ! output=$($as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
    apt-get -o DPkg::Lock::Timeout=600 "$@" 2>&1); do
    tries=$((tries + 1))
    case $output in
    *'Could not get lock'*) [ $tries -lt 120 ] && sleep 5 && continue ;;
    esac
    printf '%s\n' "$output" >&2
    return 1
  done
}
