# SPDX-License-Identifier: BSD-2-Clause
# To be sourced: boot servers and nodes in network namespaces on one network. `fail` is the script's.

# netboot_enter PROGRAM... -- COMMAND...: go on as COMMAND in namespaces of its own; the test is
# skipped where that is not allowed or a program is missing
netboot_enter() {
  [ -z "${NETBOOT_INSIDE:-}" ] || return
  PATH=$PATH:/usr/sbin:/sbin
  local need=(unshare nsenter ip python3 jq)
  while [ "$1" != -- ]; do
    need+=("$1")
    shift
  done
  shift
  for program in "${need[@]}"; do
    command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
  done
  unshare -rnm --propagation private sh -c 'ip link add br0 type bridge && ip link add va type veth peer name vb &&
    mount -t tmpfs none /run && unshare -n true' >/dev/null 2>&1 ||
    { echo "skipped: network namespaces are not allowed here"; exit 77; }
  NETBOOT_INSIDE=1 exec unshare -rnmp --fork --mount-proc --kill-child --propagation private "$@"
}

# the network that all are on; /run is of others
netboot_network() {
  mount -t tmpfs none /run && mkdir -p /run/kea /run/lock
  ip link set lo up
  ip link add br0 type bridge && ip link set br0 up
}

# namespace NAME [BRIDGE]: its process is $pid, its interface eth0
namespace() {
  unshare -n sleep 3600 &
  pid=$!
  while [ "$(readlink /proc/$pid/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done
  ip link add "p-$1" type veth peer name eth0 netns $pid || fail "no interface for $1"
  ip link set "p-$1" master "${2:-br0}" up
  # a node has other MAC addresses from boot to boot: the next one counts at once (locktime)
  nsenter -t $pid -n sh -c 'ip link set lo up; echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad; ip link set eth0 up
    ip ntable change name arp_cache dev eth0 locktime 0' 2>/dev/null
}

# netboot_clients: the process that is every node and every HTTP server (netboot_client.py)
netboot_clients() {
  local here
  here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
  coproc clients { exec python3 "$here/netboot_client.py"; }
}

# serve_http PID 4|6 FOLDER LOG
serve_http() {
  : >"$4"
  echo "serve $*" >&"${clients[1]}"
}

# ask PID 4|6 ARCH WORD...: a node in the namespace of PID boots; $said is what it was told, the exit status is its own
ask() {
  local pid=$1 family=$2 arch=$3 seconds rc
  shift 3
  seconds=$(patience 120)
  echo "boot $pid eth0 $family $arch said $*" >&"${clients[1]}"
  read -r -t "$seconds" rc <&"${clients[0]}"
  [ $? -le 128 ] || give_up netboot_client.py "$seconds"
  said=$(<said)
  return "${rc:-1}"
}

# is the line, is a line that begins so, is the text part of what the node was told?
is_said() { [[ $'\n'$said$'\n' = *$'\n'"$1"$'\n'* ]]; }
begins() { [[ $'\n'$said = *$'\n'"$1"* ]]; }
holds() { [[ $said = *"$1"* ]]; }
