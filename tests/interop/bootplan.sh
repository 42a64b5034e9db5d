#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: bootplan.sh BOOTPLAN dnsmasq|dhcpd|kea4|kea6|warewulf|ansible
# The program itself finds the configuration sound that we write for it, also with names that
# try to be more than a name; what it could misread is refused.
# Started on a network of its own, a DHCP server opens its ports by them, and none without a network.
# Exit status 77 (skipped) without the program.
set -u
# shellcheck source=tests/interop/patience.bash
. "$(dirname "$(readlink -f "$0")")/patience.bash"
bootplan=$(readlink -f "$1") format=$2
PATH=$PATH:/usr/sbin:/sbin
case $format in
kea?) program=kea-dhcp${format#kea} ;;
warewulf) program=dnsmasq ;;
ansible) program=ansible-inventory ;;
*) program=$format ;;
esac
command -v "$program" >/dev/null || { echo "no $program"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail() {
  echo "FAILED: $*"
  [ -f said ] && tail -n 5 said
  exit 1
}

# Ansible takes a second of a processor to start. After two inventories it is started once more, as Python that has
# loaded it, and goes on as a child for each of the others; a version without this main() is started each time.
cat >inventory.py <<'EOF'
import os, sys
from ansible.cli.inventory import main
print('ready', flush=True)
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        for name, fd in (('list', 1), ('said', 2)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), fd)
        sys.argv = ['ansible-inventory', '-i', line.rstrip('\n'), '--list']
        sys.exit(main(sys.argv))
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
EOF
n_lists=0 has_loaded=0
list_inventory() { # FILE: to `list`, messages to `said`
  local rc seconds
  seconds=$(patience 120)
  n_lists=$((n_lists + 1))
  if [ $n_lists -eq 3 ]; then
    # shellcheck disable=SC2046 # the interpreter that the program names, and its options
    coproc inventory { exec $(sed -n '1s/^#! *//p' "$(command -v ansible-inventory)") inventory.py 2>inventory.err; }
    exec {to_inventory}>&"${inventory[1]}" {from_inventory}<&"${inventory[0]}"
    read -r -t "$seconds" rc <&"$from_inventory" && [ "$rc" = ready ] && has_loaded=1
  fi
  if [ $has_loaded -eq 0 ]; then
    within 120 ansible-inventory -i "$1" --list >list 2>said
    return
  fi
  echo "$1" >&"$to_inventory"
  read -r -t "$seconds" rc <&"$from_inventory"
  [ $? -le 128 ] || give_up ansible-inventory "$seconds"
  return "${rc:-1}"
}

is_sound() { # FILE
  case $format in
  dnsmasq) within 60 dnsmasq --test -C "$PWD/$1" >said 2>&1 ;;
  dhcpd)
    : >leases
    within 60 dhcpd -t -cf "$PWD/$1" -lf "$PWD/leases" >said 2>&1
    ;;
  kea?) KEA_LOCKFILE_DIR=none within 60 "$program" -t "$1" >said 2>&1 ;;
  warewulf) # commands of Warewulf, and what dnsmasq reads between END and END
    bash -n "$1" >said 2>&1 && sed -E "/^(#|wwctl |cat >.etc.dnsmasq.d.|END)/d" "$1" >tags &&
      within 60 dnsmasq --test -C "$PWD/tags" >said 2>&1
    ;;
  ansible) list_inventory "$1" && ! grep -q WARNING said ;;
  esac
}

# A program that is started with the file on an interface of its network listens on a port.
listens() { # FILE PORT [TENTHS OF A SECOND]
  cat >listen <<'EOF'
ip link set lo up
ip link add eth0 type veth peer name peer && ip link set peer up && ip addr add 10.9.0.1/15 dev eth0
echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
ip link set eth0 up && ip addr add fd00:8::1/64 dev eth0 nodad
export KEA_LOCKFILE_DIR=none KEA_PIDFILE_DIR=$PWD
: >leases-now
case $format in
dnsmasq) dnsmasq -C "$1" -d --port=0 --user=root --log-facility=- --dhcp-leasefile="$PWD/leases-now" & ;;
dhcpd) dhcpd -f -cf "$1" -lf "$PWD/leases-now" -pf "$PWD/pid-now" eth0 & ;;
kea?)
  jq '(.Dhcp4, .Dhcp6 | select(.))."lease-database".persist = false |
    (.Dhcp6 | select(.))."server-id" = {type: "LL", htype: 1, identifier: "020000000001", persist: false}' "$1" >kea-now &&
    "$program" -c kea-now &
  ;;
esac
server=$!
for ((i = 0; i < tries; i++)); do
  ss -lunH | grep -qE ":$port( |$)" && kill $server && exit 0
  kill -0 $server 2>/dev/null || exit 1
  sleep 0.1
done
kill $server
exit 1
EOF
  format=$format program=$program port=$2 tries=${3:-600} \
    unshare -rnmp --fork --mount-proc --kill-child bash listen "$PWD/$1" >said 2>&1
}
may_listen=0
case $format in dnsmasq | kea? | dhcpd)
  unshare -rnmp --fork --mount-proc ip link add eth0 type veth peer name peer >/dev/null 2>&1 && may_listen=1
  ;;
esac
opens_ports() { # FILE
  [ $may_listen -eq 1 ] || return 0
  [ $format = kea6 ] || listens "$1" 67 || fail "$format opens no port by $1"
  case $format in dnsmasq | kea6) listens "$1" 547 || fail "$format opens no port of DHCPv6 by $1" ;; esac
}

write() { # OPTION...: to `config`
  rm -f config report
  "$bootplan" --algorithm=balanced --to="$format" --to-out=config --network=10.8.0.0/15 \
    --network=fd00:8::/64 -o report "$@" >said 2>&1
}

# a line for each node and nothing more
lines() { # FILE
  case $format in
  dnsmasq) grep -c '^dhcp-host=' "$1" ;;
  dhcpd) grep -c '^  host ' "$1" ;;
  kea4) jq '.Dhcp4.subnet4[0].reservations | length' "$1" ;;
  kea6) jq '.Dhcp6.subnet6[0].reservations | length' "$1" ;;
  ansible) jq '._meta.hostvars | map(select(.boot_server)) | length' list ;;
  warewulf) # a host list: of these names
    sed -n "s/^wwctl .* '\(.*\)'$/\1/p" "$1" | sed 's/^node\[\(.*\)\]$/\1/; t; s/.*/1/' | tr ',' '\n' |
      awk -F- '{ n += NF > 1 ? $2 - $1 + 1 : 1 } END { print n }'
    ;;
  esac
}

# the program refuses what is wrong: its word counts
case $format in
dnsmasq) echo 'dhcp-host=00:00:00:00:00:01,-n' ;;
dhcpd) echo 'host n { hardware ethernet zz; }' ;;
kea4) echo '{"Dhcp4": {"subnet4": [{"subnet": "10.8.0.0/99"}]}}' ;;
kea6) echo '{"Dhcp6": {"subnet6": [{"subnet": "10.8.0.0/16"}]}}' ;;
warewulf) echo 'dhcp-host=00:00:00:00:00:01,-n' ;;
ansible) printf '[boot_nodes:children]\nnobody\n' ;;
esac >wrong
is_sound wrong && fail "$format finds everything sound"

# the whole machine of the preset's kind, smaller
machine=rack=6@10G,board=4@1G,node=4@1G/cascade=2@5G,server=3@1G
for s in 0 1 2 3 4 5; do echo "10.9.0.$((s + 1)) server$s"; done >hosts
for ((i = 0; i < 96; i++)); do
  printf 'node%d 02:00:00:00:00:%02x 10.8.0.%d\n' $i $i $((i + 1))
done >>hosts
for boot in all first:1 first:3:rack; do
  write --machine=$machine --boot=$boot --hosts=hosts || fail "no file for $boot"
  is_sound config || fail "$format refuses $boot"
done
opens_ports config
case $format in dnsmasq | dhcpd) # the look at ports sees when there are none
  grep -vE '^(dhcp-range|subnet)' config >mute
  [ $may_listen -eq 0 ] || ! listens mute 67 20 || fail "$format listens without a network"
  ;;
esac
write --machine=$machine --hosts=hosts --set=boot-file=http://10.9.0.1/ipxe.efi --set=boot-file=bios=lpxelinux.0 \
  --set=script='http://{address}/ipxe/${mac:hexhyp}?from={server}&uuid=${uuid}' || fail "no URL"
is_sound config || fail "$format refuses an URL"
write --machine=$machine --hosts=hosts
[ "$(lines config)" -eq 96 ] || fail "not 96 nodes"
# without an address of their own
sed 's/ 10\.8\..*//' hosts >macs
write --machine=$machine --hosts=macs || fail "nodes need no address"
is_sound config || fail "$format refuses nodes without an address"
# the files of a folder, one by one and together
rm -rf folder
"$bootplan" --algorithm=balanced --machine=$machine --hosts=hosts --to="$format" --to-dir=folder -q -o report \
  --network=10.8.0.0/15 --network=fd00:8::/64 '--kernel=http://{address}/vmlinuz' || fail "no folder"
for file in folder/*; do
  case $file in *.ipxe) continue ;; esac
  [ $format = dhcpd ] && { cat folder/default.conf "$file" >both; file=both; }
  is_sound "$file" || fail "$format refuses $file"
  [ "$file" != both ] || opens_ports both
done
case $format in
dnsmasq) within 60 dnsmasq --test -C /dev/null --conf-dir="$PWD/folder,*.conf" >said 2>&1 || fail "not together" ;;
ansible) is_sound folder && [ "$(lines config)" -eq 96 ] || fail "not together" ;;
esac

# without a network the program would open no port: no file
case $format in dnsmasq | dhcpd)
  rm -f config
  "$bootplan" --algorithm=balanced --machine=$machine --hosts=hosts --to="$format" --to-out=config -o report >said 2>&1 &&
    fail "a file without a network"
  [ -e config ] && fail "a file is left"
  ;;
esac

# one name at a time: refused by us, or taken by the program as one node
taken=0 refused=0
try() { # NAME
  printf '%s\n' "$1 - 1G node" 's1 - 1G server' >machine
  printf '%s 02:00:00:00:00:01 10.8.0.1\n10.9.0.1 s1\n' "$1" >book
  case $1 in all | ungrouped | boot_*) [ $format = ansible ] && return ;; esac
  if write --machine=machine --hosts=book; then
    if [ $format = ansible ]; then # takes a second to start: all at once below
      mkdir -p names && cp config "names/$1" || fail "'$1' is no name of a file"
    else
      is_sound config || fail "$format refuses the name '$1'"
      [ "$(lines config)" -eq 1 ] || fail "'$1' is more than a node"
    fi
    taken=$((taken + 1))
  else
    [ -s said ] && [ ! -e config ] || fail "'$1' is refused without a word, or half written"
    [ "$(wc -l <said)" -eq 1 ] || fail "'$1' takes more than a line"
    refused=$((refused + 1))
  fi
}
must() { # taken|refused NAME...
  local want=$1 before
  shift
  for name; do
    before=$((want == 0 ? refused : taken))
    try "$name"
    [ $((want == 0 ? refused : taken)) -gt $before ] || fail "'$name' was to be treated otherwise"
  done
}
must 1 node1 a.b n-1 n_1 A9 1a x- host include filename set true 7up 12hx deny
must 0 .a -a _a 'a,ignore' 'a,set:b' 'a;b' 'a{' 'a}' \
  'a"b' "a'b" 'a\b' 'a=b' 'a/b' 'a$(id)' 'a`id`' 'a:b' $'a\rb' $'a\001b' $'\303\244' \
  "$(printf 'n%.0s' {1..64})"
# what a DHCP server would take for something else
words=0
case $format in kea? | warewulf | ansible) words=1 ;; esac
[ $words -eq 0 ] && must 1 10.0.0
[ $words -eq 0 ] && must 0 ignore infinite 60 10m 12H 10.0.0.7 a..b a.
for name in ignore infinite 60 10m 10.0.0.7 a..b a. all default; do try "$name"; done
[ $format != ansible ] || { is_sound names && [ "$(lines names)" -eq "$(find names -type f | wc -l)" ]; } ||
  fail "a name is refused, or more than a node"
# a server with such a name
printf '%s\n' 'n1 - 1G node' 'ignore - 1G server' >machine
printf 'n1 02:00:00:00:00:01\n10.9.0.1 ignore\n' >book
[ $words -eq 0 ] && write --machine=machine --hosts=book && fail "a server called ignore"
# lines of --hosts that hold more than a name
for line in 'n1,ignore 02:00:00:00:00:01' 'n1 02:00:00:00:00:01,ignore' 'n1 02:00:00:00:00:01 10.8.0.1,x' \
  'n1 02:00:00:00:00:0g' '10.8.0.1 n1;n2' '10.8.0.256 n1'; do
  printf 'n1 - 1G node\ns1 - 1G server\n' >machine
  printf '%s\n10.9.0.1 s1\n' "$line" >book
  write --machine=machine --hosts=book && fail "taken: $line"
  grep -q 'book:1: ' said || fail "no line number for: $line"
done
echo "$format: $taken names taken, $refused refused"
