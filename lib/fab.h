/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabkit: switched fabrics: reading, generating and building them, their problems, shape
 * and distances. What routes them is used by the commands and not installed.
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
#include "fabric/builder.h"
#include "fabric/check.h"
#include "fabric/dist.h"
#include "fabric/fabric.h"
#include "fabric/shape.h"
#include "source/source.h"
