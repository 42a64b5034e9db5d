/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes and small macros that every room uses. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A result that must not be ignored. */
#define FAB_MUST_CHECK __attribute__((warn_unused_result))
/* printf-like: format is argument number `f`, the values start at `v`. */
#define FAB_PRINTF(f, v) __attribute__((format(printf, f, v)))
/* Part of the interface of the shared library. */
#define FAB_EXPORT __attribute__((visibility("default")))

/* Number of elements of an array (not of a pointer). */
#define FAB_COUNT(array)                                                                 \
	(sizeof(array) / sizeof((array)[0]) +                                            \
	 0 * sizeof(struct {                                                             \
		 int is_array : !__builtin_types_compatible_p(__typeof__(array),         \
							      __typeof__(&(array)[0]));  \
	 }))

/*
 * Compile a hot function several times for wider vectors (FAB_BITS: for operations on
 * bits, which registers of 512 bits only slow down) and choose at run time. Elsewhere
 * than on x86-64 with GNU indirect functions this is nothing: the plain function serves.
 * Not together with the sanitizers, whose runtime is not up yet when the choice is made,
 * and not with clang, which (14) calls the chosen one by a name of its own, so that other
 * files do not find it.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(FAB_HAVE_TARGET_CLONES) &&  \
	!defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define FAB_WIDE                                                                         \
	__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define FAB_BITS __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define FAB_WIDE
#define FAB_BITS
#endif

/* "No such id": of nodes, ports, cables, hosts, groups. */
#define FAB_NONE UINT32_MAX
