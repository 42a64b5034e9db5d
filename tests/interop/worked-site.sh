#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: worked-site.sh BIN PAGE
# The worked site of fabric-bootplan(1), its commands as they are printed: a fabric of 300 racks
# stands for ibnetdiscover, network namespaces for io1 to io8, into whose files scp and ssh go.
# Then nodes from all over the site boot and must end with the script of their server.
# Exit status 77 (skipped) without dnsmasq or network namespaces.
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/netboot.bash
. "$here/netboot.bash"
netboot_enter dnsmasq -- "$0" "$(readlink -f "$1")" "$(readlink -f "$2")"
# shellcheck source=tests/interop/patience.bash
. "$here/patience.bash"
PATH=$1:$PATH:/usr/sbin:/sbin page=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail() {
  echo "FAILED: $*"
  tail -n 15 said ./*.log 2>/dev/null
  exit 1
}
netboot_network
netboot_clients

# 18 hosts on each of 300 leaf switches; the first of every 38th is a server
fabric-topo gen:pgft:h=3,m=18/20/15,w=1/9/9 --to=ibnetdiscover -q >generated || fail "no fabric"
for s in 1 2 3 4 5 6 7 8; do echo "s/\"h$((684 * (s - 1))) HCA-1\"/\"io$s HCA-1\"/"; done >rename
sed -i -f rename generated
[ "$(fabric-topo generated --format=json | jq .fabric.hosts)" -eq 5400 ] || fail "not 300 racks"
ibnetdiscover() { cat generated; }
scp() { # FILE... HOST:FOLDER/
  local to=${*: -1} file
  mkdir -p "${to%%:*}${to#*:}"
  for file in "${@:1:$#-1}"; do
    case $file in
    /*) echo "${file##*/} of ${to%%:*}" >"${to%%:*}${to#*:}${file##*/}" ;; # for one of the package ipxe
    *) cp "$file" "${to%%:*}${to#*:}" ;;
    esac
  done
}
ssh() { # HOST COMMAND...
  local host=$1 words=() word
  shift
  # its folders are here; the log is for this test
  for word; do words+=("$(sed "s|=/|=$dir/$host/|" <<<"$word")"); done
  namespace "$host"
  nsenter -t "$pid" -n ip addr add "$(awk -v n="$host" '$2 == n { print $1 }' addresses)/16" dev eth0
  nsenter -t "$pid" -n "${words[@]}" -d --log-facility=- --dhcp-leasefile="$dir/leases-$host" >"$host.log" 2>&1 &
}
sed -n '/^\.SH "A WORKED SITE"/,/^\.SH "SEE/p' "$page" | sed -n '/^\.EX/,/^\.EE/p' | grep -v -e '^\.E[XE]' -e '^#' |
  sed "s/\\\\-/-/g; s/\\\\(aq/'/g" >commands
[ "$(grep -c '' commands)" -eq 6 ] || fail "the page has other commands: $(cat commands)"
while read -r -u 3 command; do
  eval "$command" >said 2>&1 || fail "$command"
done 3<commands
[ "$(ls boot | wc -l)" -eq 17 ] || fail "not a file and a script for each server"
[ "$(cat boot/*.conf | grep -c '^dhcp-host=')" -eq 5392 ] || fail "not all nodes"
# the same host has the same address next time
cp addresses before
eval "$(grep to-dir commands)" >said 2>&1 && cmp before addresses || fail "other addresses"

namespace node
node=$pid
booted=0
for host in h1 h683 h1400 h2222 h3333 h4444 h5399; do
  server=$(grep -l ",$host,infinite" boot/*.conf)
  server=${server##*/} server=${server%.conf}
  own=$(awk -v n=$host '$2 == n { print $1 }' addresses)
  guid=$(awk -v n=$host '$2 == n { print $4 }' addresses)
  id=ff000000000002000002c900${guid#0x}
  for arch in 0 7; do
    ask "$node" 4 $arch htype=32 client-id=$id || fail "$host does not boot"
    is_said "script # $server serves $(grep -c '^dhcp-host=' "boot/$server.conf")" || fail "$host: not the script of $server"
    begins "ipxe $own " || fail "$host has another address than $own"
    grep -q "^rom-loaded .* of $server$" said || fail "$host: not iPXE of $server"
    booted=$((booted + 1))
  done
done
echo "300 racks, 8 servers: $booted boots end with the script of the right server"
