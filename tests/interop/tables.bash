# SPDX-License-Identifier: BSD-2-Clause
# To be sourced.

# entries FILE: "switch LID port" of forwarding tables as OpenSM and fabric-faults write them, sorted
entries() {
  awk '/^Unicast/ { for (i = 1; i < NF; i++) if ($i == "guid") sw = $(i + 1) }
    /^0x/ { print sw, $1, $2 + 0 }' "$1" | LC_ALL=C sort
}
