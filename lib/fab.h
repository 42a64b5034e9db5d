/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabkit: switched fabrics and what can be computed on them.
 *
 * A fabric comes from fab_source_open() or from a builder, never changes afterwards, and
 * is freed by fab_fabric_free(). A function that can fail returns 0 or a negative errno,
 * leaves its results untouched on failure, and fills a struct fab_err with one sentence.
 * Pointers that a getter returns are borrowed from the object they came from.
 *
 * The library prints nothing, reads no environment variable and keeps no state. There is
 * one exception: when memory runs out, fab_oom() prints a line and exits with status 3.
 * Functions may use OpenMP threads; objects that are const may be shared among threads.
 *
 * The interface is young: until soversion 1 it may change with every release.
 */
#pragma once

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/text.h"
#include "boot/advice.h"
#include "boot/batch.h"
#include "boot/book.h"
#include "boot/failover.h"
#include "boot/machine.h"
#include "boot/mapping.h"
#include "boot/share.h"
#include "boot/transfer.h"
#include "boot/units.h"
#include "export/boot.h"
#include "export/dot.h"
#include "export/events.h"
#include "export/fdbs.h"
#include "export/gnuplot.h"
#include "export/ibnetdiscover.h"
#include "export/json.h"
#include "export/lfts.h"
#include "export/mcfdbs.h"
#include "export/path_sl.h"
#include "export/sl2vl.h"
#include "export/slurm.h"
#include "export/subnet_lst.h"
#include "export/trees.h"
#include "fabric/builder.h"
#include "fabric/check.h"
#include "fabric/diff.h"
#include "fabric/diameter.h"
#include "fabric/dist.h"
#include "fabric/fabric.h"
#include "fabric/kfat.h"
#include "fabric/label.h"
#include "fabric/planes.h"
#include "fabric/shape.h"
#include "fabric/summary.h"
#include "fabric/tiers.h"
#include "mcast/bounds.h"
#include "mcast/efi.h"
#include "mcast/engine.h"
#include "mcast/events.h"
#include "mcast/forest.h"
#include "mcast/groups.h"
#include "mcast/life.h"
#include "mcast/live.h"
#include "mcast/loaded.h"
#include "mcast/mcfdbs.h"
#include "mcast/roots.h"
#include "mcast/route.h"
#include "mcast/share.h"
#include "mcast/verify.h"
#include "present/report.h"
#include "source/source.h"
#include "store/store.h"
#include "unicast/criticality.h"
#include "unicast/dodge.h"
#include "unicast/engine.h"
#include "unicast/faults.h"
#include "unicast/judge.h"
#include "unicast/lfts.h"
#include "unicast/load.h"
#include "unicast/reliability.h"
#include "unicast/remnant.h"
#include "unicast/routes.h"
#include "unicast/verify.h"
