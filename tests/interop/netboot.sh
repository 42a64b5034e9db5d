#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: netboot.sh BIN dnsmasq|dnsmasq6|kea4|kea6|dhcpd IDENTITY [qemu|subnets|second|qemu-second|images]
# Nodes of a fabric boot for real: each server runs the program in a network namespace of its
# own with the files of --to-dir, all on one network; a node asks as firmware of each kind, loads
# what it is told over TFTP or HTTP, asks again as iPXE, and must end with the script of the
# server that the plan gives it. A stranger gets no answer.
# IDENTITY: mac, client-id, client-id-20, hardware-32. With qemu the node is a virtual machine
# whose network card has iPXE: it must load kernel and initial file system as well. With subnets
# the nodes are in three networks behind a router, on which dnsmasq is a relay. With second
# one of four servers is lost: every node boots (of programs other than dnsmasq each third), from its second
# server if it must; with qemu-second a virtual machine does. With images h1 and h18 have a kernel of their own.
# Exit status 77 (skipped) without the program or without network namespaces.
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/netboot.bash
. "$here/netboot.bash"
case $2 in dnsmasq*) program=dnsmasq ;; kea4) program=kea-dhcp4 ;; kea6) program=kea-dhcp6 ;; *) program=$2 ;; esac
needs=()
case ${4:-} in qemu*) needs=(qemu-system-x86_64) ;; subnets) needs=(dnsmasq) ;; esac
netboot_enter "$program" "${needs[@]}" -- "$0" "$(readlink -f "$1")" "$2" "$3" ${4:+"$4"}
# shellcheck source=tests/interop/patience.bash
. "$here/patience.bash"
PATH=$1:$PATH:/usr/sbin:/sbin program=$2 identity=$3 how=${4:-} family=4 prefix=16
case $program in *6) family=6 ;; esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail() {
  echo "FAILED: $*"
  tail -n 15 ./*.log said 2>/dev/null
  exit 1
}

# 16 hosts on 4 leaf switches; io1 and io2 serve
fabric-topo gen:fattree:radix=8,levels=2 --to=ibnetdiscover 2>/dev/null |
  sed 's/"h0 HCA-1"/"io1 HCA-1"/; s/"h17 HCA-1"/"io2 HCA-1"/' >dump.txt
servers=(io1 io2)
[[ $how = *second ]] && servers+=(io3 io4) && sed -i 's/"h10 HCA-1"/"io3 HCA-1"/; s/"h27 HCA-1"/"io4 HCA-1"/' dump.txt
addresses=(--network=10.8.0.0/16)
[ $family -eq 6 ] && addresses=(--network=fd00:8::/64)
net=10.8. subnet_end=.0/24 own=. gateway=.254
[ "$how" = subnets ] && addresses=(--networks=nets) prefix=24
[ $family -eq 6 ] && net=fd00:8: subnet_end=::/64 own=:: gateway=::fe prefix=64
cat >nets <<EOF
${net}0$subnet_end ${net}0$gateway : io*
${net}1$subnet_end ${net}1${own}1 dns=${net}0${own}53,${net}1${own}2 ntp=${net}0${own}54 : leaf-[0-3]
${net}2$subnet_end ${net}2${own}1 : leaf-[4-5]
${net}3$subnet_end ${net}3$gateway : h2[4-9],h3[0-1]
EOF
[ "$identity" = mac ] && {
  addresses+=(--hosts=book)
  for i in {1..31}; do printf 'h%d 02:00:00:00:01:%02x\n' "$i" "$i"; done | grep -v '^h17 ' >book
  [[ $how = *second ]] && sed -i '/^h10 /d; /^h27 /d' book
}
plan() { # FORMAT OPTION...
  local format=$1
  shift
  local second=()
  case $how-$format in *second-hosts) ;; *second-*) second=(--set=second-server) ;; esac
  [ "$how" = images ] && second=(--image='h1,h18:4GB:http://{address}/other/vmlinuz,http://{address}/other/initrd.img')
  fabric-bootplan dump.txt --servers='io*' --algorithm=balanced "${second[@]}" --set=identity="$identity" "${addresses[@]}" \
    --to="$format" --kernel='http://{address}/vmlinuz' --initrd='http://{address}/initrd.img' \
    --set=params='ip=dhcp quiet' -q -o report "$@" || fail "no plan"
}
interface=()
case $program in kea?) interface=(--set=interface=eth0) ;; esac
plan "${program/dnsmasq6/dnsmasq}" --to-dir=files "${interface[@]}"
plan json --to-out=plan.jsonl
plan hosts --to-out=hosts
declare -A address_of server_of second_of id_of
while read -r address name; do
  case $family$address in 4*:* | 6*.*) continue ;; esac
  [ -z "${address_of[$name]:-}" ] || fail "$name has two addresses"
  address_of[$name]=$address
done <hosts
nodes=()
while read -r node server second id; do
  nodes+=("$node")
  server_of[$node]=$server second_of[$node]=$second id_of[$node]=$id
done < <(jq -r 'select(.node) | "\(.node) \(.server) \(.second // "-") \(.client_id // "")"' plan.jsonl)

netboot_clients
netboot_network
set_address() { # ADDRESS INTERFACE
  local quick=()
  [ $family -eq 6 ] && quick=(nodad)
  nsenter -t "$pid" -n ip addr add "$1/$prefix" dev "$2" "${quick[@]}"
}
# what DHCP servers need of a site besides; none asks first whether an address is in use, which takes as long as
# the stranger waits for an answer that would be wrong
start_server() { # NAME
  local s=$1 address
  address=${address_of[$s]}
  namespace "$s"
  set_address "$address" eth0 || fail "no address for $s"
  if [ "$how" = subnets ]; then
    nsenter -t $pid -n ip -$family route add default via "${net}0$gateway" || fail "no route for $s"
  fi
  mkdir "root-$s"
  for file in undionly.kpxe ipxe-ia32.efi ipxe.efi ipxe-arm64.efi; do echo "$file of $s" >"root-$s/$file"; done
  cp files/*.ipxe "root-$s/"
  for file in vmlinuz initrd.img; do printf '#!ipxe\n# %s\nsleep 100\n' "$s" >"root-$s/$file"; done
  serve_http $pid $family "root-$s" "http-$s.log"
  local tftp=(--enable-tftp --tftp-root="$dir/root-$s" --port=0 --no-resolv --interface=eth0
    --dhcp-leasefile="$dir/leases-$s" --log-facility=- -d)
  case $program in
  dnsmasq*)
    nsenter -t $pid -n dnsmasq -C /dev/null --conf-file="files/default.conf" --conf-file="files/$s.conf" \
      "${tftp[@]}" --no-ping --log-dhcp >"dhcp-$s.log" 2>&1 &
    ;;
  *) nsenter -t $pid -n dnsmasq -C /dev/null "${tftp[@]}" >"tftp-$s.log" 2>&1 & ;;
  esac
  case $program in
  kea4)
    jq '.Dhcp4."lease-database".persist = false' "files/$s.json" >"kea-$s.json"
    KEA_LOCKFILE_DIR=none KEA_PIDFILE_DIR=$dir/pid-$s nsenter -t $pid -n sh -c "mkdir pid-$s; exec kea-dhcp4 -c kea-$s.json" \
      >"dhcp-$s.log" 2>&1 &
    ;;
  kea6)
    jq '.Dhcp6."lease-database".persist = false |
      .Dhcp6."server-id" = {type: "LL", htype: 1, identifier: "02000000ff0'"${s#io}"'", persist: false}' \
      "files/$s.json" >"kea-$s.json"
    KEA_LOCKFILE_DIR=none KEA_PIDFILE_DIR=$dir/pid-$s nsenter -t $pid -n sh -c "mkdir pid-$s; exec kea-dhcp6 -c kea-$s.json" \
      >"dhcp-$s.log" 2>&1 &
    ;;
  dhcpd)
    : >"leases-$s"
    { echo 'ping-check off;'; cat files/default.conf "files/$s.conf"; } >"dhcpd-$s.conf"
    nsenter -t $pid -n dhcpd -f -d -cf "dhcpd-$s.conf" -lf "$dir/leases-$s" -pf "$dir/pid-$s" eth0 >"dhcp-$s.log" 2>&1 &
    ;;
  esac
}
declare -A server_pid
for s in "${servers[@]}"; do
  start_server "$s"
  server_pid[$s]=$pid
done
lose_io2() {
  ip link set p-io2 down
  nsenter -t "${server_pid[io2]}" -n ip link set eth0 down
}
if [[ $how = qemu* ]]; then
  host=h18 server=${server_of[h18]}
  if [ "$how" = qemu-second ]; then
    for host in "${nodes[@]}"; do [ "${server_of[$host]}" != io2 ] || break; done
    server=${second_of[$host]}
    lose_io2
  fi
  ip tuntap add dev tap0 mode tap && ip link set tap0 master br0 up || { echo "skipped: no tap"; exit 77; }
  own=${address_of[$host]}
  # an instruction takes 128 ns of its time: what it waits for in a loop is there after less real time
  qemu-system-x86_64 -machine accel=tcg -icount shift=7,sleep=off -m 256 -display none -boot n \
    -nic tap,ifname=tap0,script=no,downscript=no,model=e1000,mac="$(awk -v n="$host" '$1 == n { print $2 }' book)" \
    >"qemu-$host.log" 2>&1 &
  qemu=$!
  loaded() { grep -q "^$own .*GET /initrd.img .* 200" "http-$server.log"; }
  await $qemu qemu 60 loaded || fail "$host does not load its kernel and initial file system"
  grep -q "^$own .*GET /vmlinuz .* 200" "http-$server.log" || fail "$host has no kernel"
  kill $qemu
  wait $qemu 2>/dev/null
  echo "$program, $identity: a virtual machine boots kernel and initial file system of the right server"
  exit 0
fi
# a router with an interface in each network, and a relay to both servers
start_router() {
  local n s relays=()
  namespace router
  set_address "${net}0$gateway" eth0
  nsenter -t "$pid" -n sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
  for n in 1 2 3; do
    ip link add br$n type bridge && ip link set br$n up
    ip link add r-$n type veth peer name eth$n netns "$pid" && ip link set r-$n master br$n up
    nsenter -t "$pid" -n sh -c "echo 0 >/proc/sys/net/ipv6/conf/eth$n/accept_dad"
    nsenter -t "$pid" -n ip link set eth$n up
    set_address "${net}$n${own}1" eth$n || fail "no router"
    for s in io1 io2; do relays+=(--dhcp-relay="${net}$n${own}1,${address_of[$s]}"); done
  done
  set_address "${net}3$gateway" eth3
  nsenter -t "$pid" -n dnsmasq -C /dev/null --port=0 -d --log-dhcp --log-facility=- "${relays[@]}" >relay.log 2>&1 &
}
declare -A node_in
if [ "$how" = subnets ]; then
  start_router
  for n in 1 2 3; do
    namespace node$n br$n
    node_in[$n]=$pid
  done
else
  namespace node
fi
node=$pid

# the identity of a node as its firmware says it: from the plan, which has it from the dump; without a MAC
# address of its own it has another one from boot to boot
says() { # NODE ARCH: sets `words`
  local id=${id_of[$1]} mac=02:00:00:00:99:0$(($2 % 10))
  case $identity in
  mac)
    mac=$(awk -v n="$1" '$1 == n { print $2 }' book)
    words=(duid="00030001$mac")
    ;;
  client-id) words=(htype=32 client-id="$id" duid="${id:15}") ;;
  client-id-20) words=(htype=32 client-id="$id" duid="00:03:00:20:${id:3}") ;;
  hardware-32) words=(htype=32) mac=$(mac_of "$1") ;;
  esac
  words+=(mac="$mac")
}
# bytes 0 to 2 and 5 to 7 of the port GUID of the dump
mac_of() { # NODE
  local host=$1 guid
  guid=$(awk -v host="\"$host HCA-1\"" '/^Ca/ { on = index($0, host) } on && /^\[1\]/ { print; exit }' dump.txt |
    sed 's/^\[1\](\([0-9a-f]*\)).*/\1/')
  guid=$(printf '%016x' "$((16#$guid))")
  printf '%s:%s:%s:%s:%s:%s' "${guid:0:2}" "${guid:2:2}" "${guid:4:2}" "${guid:10:2}" "${guid:12:2}" "${guid:14:2}"
}
boot() { # NODE ARCH
  local words
  says "$1" "$2"
  ask "$node" $family "$2" "${words[@]}" $via
}
via=

if [ "$how" = second ]; then
  # all are up: a server of the two answers, the first one has the image; then io2 is lost
  via=load=yes
  # a server that is gone is given up after some tenths of a second
  nsenter -t "$node" -n sh -c 'for cache in arp_cache ndisc_cache; do ip ntable change name $cache dev eth0 retrans 100; done'
  boots_from() { # NODE SERVER
    local own=${address_of[$1]} address=${address_of[$2]}
    [ $family -eq 6 ] && address="[$address]"
    boot "$1" 7 || fail "$1 does not boot"
    begins "ipxe $own " || fail "$1 has another address than $own: $said"
    is_said "loaded http://$address/vmlinuz" && is_said "loaded http://$address/initrd.img" ||
      fail "$1 loads from another server than $2: $said"
  }
  for host in "${nodes[@]:0:3}"; do boots_from "$host" "${server_of[$host]}"; done
  lose_io2
  n=0 moved=0 booted=0
  for host in "${nodes[@]}"; do
    server=${server_of[$host]}
    if [ "$server" = io2 ]; then
      server=${second_of[$host]}
      moved=$((moved + 1))
    fi
    echo "$server" >>loads
    n=$((n + 1))
    # those that move wait for the server that is gone
    [ "$program" = dnsmasq ] || [ $((n % 3)) -eq 0 ] || continue
    boots_from "$host" "$server"
    booted=$((booted + 1))
  done
  [ $moved -eq 7 ] && [ "$(sort loads | uniq -c | sort -n | awk '{ print $1 }' | tr '\n' ' ')" = "9 9 10 " ] ||
    fail "not even: $(sort loads | uniq -c)"
  echo "$program, $identity: without io2 $booted of $n nodes boot, $moved have their second server, at most 10 from one"
  exit 0
fi

booted=0
archs=(0 6 7 11 15 16 19)
[ $family -eq 6 ] && archs=(6 7 11 15 16 19)
i=0
for host in h1 h16 h18 h31; do
  server=${server_of[$host]}
  address=${address_of[$server]} own=${address_of[$host]}
  arch=${archs[i++ % ${#archs[@]}]}
  all=("$arch")
  options='router=- dns=- ntp=-'
  if [ "$how" = subnets ]; then
    case $host in h1) n=1 ;; h16 | h18) n=2 ;; *) n=3 ;; esac
    node=${node_in[$n]}
    case $own in "${net}$n"*) ;; *) fail "$host has an address of another network: $own" ;; esac
    [ $family -eq 4 ] || via=via=${net}$n::1
    case $family$n in
    41) options="router=${net}1.1 dns=${net}0.53,${net}1.2 ntp=${net}0.54" ;;
    42) options="router=${net}2.1 dns=- ntp=-" ;;
    43) options="router=${net}3.254 dns=- ntp=-" ;; # not the relay
    61) options="router=- dns=${net}:53,${net}1::2 ntp=${net}:54" ;;
    esac
  fi
  [ $host = h1 ] && all=("${archs[@]}")
  for arch in "${all[@]}"; do
    case $arch in 0) file=undionly.kpxe ;; 6 | 15) file=ipxe-ia32.efi ;; 7 | 16) file=ipxe.efi ;; *) file=ipxe-arm64.efi ;; esac
    boot $host "$arch" || fail "$host, architecture $arch: no boot"
    where=$address
    [ $family -eq 6 ] && where="[$address]"
    is_said "rom-loaded $file of $server" || fail "$host, architecture $arch, loads something else: $said"
    begins "rom $own " || fail "$host has another address than $own: $said"
    is_said "options $options" || fail "$host has other options than $options: $said"
    is_said "script #!ipxe" || fail "$host has no script: $said"
    image=
    case $how-$host in images-h1 | images-h18) image=other/ ;; esac
    is_said "script kernel http://$where/${image}vmlinuz initrd=initrd ip=dhcp quiet || goto wait" ||
      fail "$host has a script of another server than $server, or another kernel: $said"
    case $arch in
    15 | 16 | 19) holds " http://$where/$file" || fail "no HTTP: $said" ;;
    esac
    booted=$((booted + 1))
  done
done
# a relay in the network of the servers says by option 82 which network the node is in
if [ "$how-$family" = subnets-4 ]; then
  namespace agent
  set_address 10.8.0.200 eth0
  server=${address_of[${server_of[h18]}]}
  says h18 7
  ask "$pid" 4 7 "${words[@]}" relay="$server,10.8.0.200,10.8.2.0" || fail "no answer by option 82"
  begins "rom ${address_of[h18]} $server " || fail "another answer by option 82: $said"
fi
# nobody knows a stranger
ask "$node" $family 7 wait=3 mac=02:00:00:00:99:99 duid=00:03:00:01:02:00:00:00:99:99
[ $? -eq 3 ] || fail "a stranger got an answer: $said"
echo "$program, $identity: $booted boots end with the script of the right server"
