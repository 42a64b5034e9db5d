/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The constants that the models of job starts rest on: each with its unit, value, spread,
 * and where it is from. A file of them (fabric-formats(5), "Parameter files") replaces
 * some; defaults are those of data/launch.params.
 *
 *     fabric-launch-params 1
 *     host NAME | cores N | steal PERCENT | date TEXT      where it was measured
 *     NAME VALUE UNIT SPREAD ORIGIN SOURCE...              # comment
 *
 * SPREAD is half the range that was seen, LOW..HIGH for the values that are possible, or
 * -.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/choice.h"
#include "base/err.h"

enum { FAB_LAUNCH_PARAMS_VERSION = 1 };

/* name, unit, least, most */
#define FAB_LAUNCH_CONSTANTS(X)                                                          \
	X(o_us, "us", 0, 1e9)                                                            \
	X(latency_us, "us", 0, 1e9)                                                      \
	X(gap_ns_per_B, "ns/B", 0, 1e9)                                                  \
	X(copy_ns_per_B, "ns/B", 0, 1e9)                                                 \
	X(tree_width, "1", 1, 65533)                                                     \
	X(fanout, "1", 1, 64)                                                            \
	X(submit_ms, "ms", 0, 1e9)                                                       \
	X(allocate_ms, "ms", 0, 1e9)                                                     \
	X(daemon_ms, "ms", 0, 1e9)                                                       \
	X(skew_ms, "ms", 0, 1e9)                                                         \
	X(fork_ms, "ms", 0, 1e9)                                                         \
	X(previous_end_s, "s", 0, 1e9)                                                   \
	X(blob_B, "B", 0, 1e12)                                                          \
	X(image_MB, "MB", 0, 1e9)                                                        \
	X(files, "1", 0, 1e9)                                                            \
	X(fs_MBps, "MB/s", 1e-3, 1e12)                                                   \
	X(node_MBps, "MB/s", 1e-3, 1e9)                                                  \
	X(fs_ops, "1/s", 1e-3, 1e12)                                                     \
	X(init_ms, "ms", 0, 1e9)                                                         \
	X(register_ms, "ms", 0, 1e9)                                                     \
	X(register_us, "us", 0, 1e9)                                                     \
	X(put_us, "us", 0, 1e9)                                                          \
	X(commit_us, "us", 0, 1e9)                                                       \
	X(fence_us, "us", 0, 1e9)                                                        \
	X(get_us, "us", 0, 1e9)                                                          \
	X(get_first_us, "us", 0, 1e9)                                                    \
	X(get_remote_us, "us", 0, 1e9)                                                   \
	X(serve_us, "us", 0, 1e9)                                                        \
	X(unpack_ns_per_B, "ns/B", 0, 1e9)                                               \
	X(pmi1_us, "us", 0, 1e9)                                                         \
	X(pmi2_us, "us", 0, 1e9)                                                         \
	X(hex_factor, "1", 1, 16)                                                        \
	X(peers, "1", 0, 1e9)                                                            \
	X(nic_init_ms, "ms", 0, 1e9)                                                     \
	X(channel_us, "us", 0, 1e9)                                                      \
	X(inline_keys, "1", 0, 1e6)                                                      \
	X(lock_ns, "ns", 0, 1e9)                                                         \
	X(line_ns, "ns", 0, 1e9)                                                         \
	X(read_ns, "ns", 0, 1e9)                                                         \
	X(shift_us, "us", 0, 1e9)                                                        \
	X(heartbeat_s, "s", 1e-9, 1e9)                                                   \
	X(timeout_s, "s", 1e-9, 1e9)                                                     \
	X(news_us, "us", 0, 1e9)

enum fab_launch_constant {
#define FAB_ROW(name, unit, low, high) FAB_CONST_##name,
	FAB_LAUNCH_CONSTANTS(FAB_ROW)
#undef FAB_ROW
		FAB_N_LAUNCH_CONSTANTS,
};
/* Their names. */
extern const struct fab_choices fab_launch_constants;
/* O(1). */
const char *fab_launch_constant_unit(enum fab_launch_constant constant);

/* Where a value is from. */
enum fab_origin {
	FAB_MEASURED,
	FAB_SURVEY, /* a figure that was published */
	FAB_ASSUMED,
	FAB_GIVEN, /* on the command line */
	FAB_N_ORIGINS,
};
/* "measured", "survey" ... O(1). */
const char *fab_origin_name(enum fab_origin origin);

struct fab_launch_value {
	double value, spread; /* in its unit; spread: NaN: not known */
	double low, high;     /* values that it can have; both 0: not known */
	enum fab_origin origin;
	bool is_default; /* of data/launch.params */
	char source[160];
};

struct fab_launch_params {
	struct fab_launch_value of[FAB_N_LAUNCH_CONSTANTS];
	/* where the file was measured; empty, 0, NaN: it does not say */
	char host[128], date[64];
	uint32_t cores;
	double steal_percent;
};

/* The least and the greatest value that an assumption can have, by low and high or else
 * by its spread; false: it is none, or they are not known. O(1). */
bool fab_launch_limits(const struct fab_launch_value *value, double limits[2]);
/* In the unit of the constant. O(1). */
static inline double fab_launch_value(const struct fab_launch_params *p,
				      enum fab_launch_constant constant)
{
	return p->of[constant].value;
}
#define FAB_PARAM(p, name) fab_launch_value(p, FAB_CONST_##name)

/* The defaults. O(text). */
void fab_launch_params_init(struct fab_launch_params *out);
/*
 * Replace what the file has. EINVAL with file and line: no such file, another version, a
 * constant that is unknown, there twice, without its unit, out of its range, without a
 * spread or origin; then nothing is replaced. O(text).
 */
int fab_launch_params_read(struct fab_launch_params *params, const char *file,
			   const char *text, size_t len,
			   struct fab_err *err) FAB_MUST_CHECK;
/* "NAME=VALUE", in the unit of the constant; its origin is then `given`. EINVAL.
 * O(constants). */
int fab_launch_params_set(struct fab_launch_params *params, const char *text,
			  struct fab_err *err) FAB_MUST_CHECK;
/* As a file that _read() takes; with `only` (NULL: all) those that are set in it. What
 * cannot be written shows in ferror(). O(constants). */
void fab_launch_params_write(FILE *out, const struct fab_launch_params *params,
			     const bool only[FAB_N_LAUNCH_CONSTANTS]);
