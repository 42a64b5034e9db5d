/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The constants of the models of job starts: each with its unit, value, spread and
 * source. A file of them (fabric-formats(5), "Parameter files") replaces some; defaults
 * are those of data/launch.params.
 *
 *     fabric-launch-params 1
 *     host NAME | cores N | steal PERCENT | date TEXT      of the measurement
 *     NAME VALUE UNIT SPREAD ORIGIN SOURCE...              # comment
 *
 * SPREAD is half the observed range, or LOW..HIGH: the possible values, or -.
 */
#pragma once

#include <stdbool.h>

#include "base/choice.h"
#include "base/err.h"

enum { FAB_LAUNCH_PARAMS_VERSION = 1 };

/* name, unit, verbs of fabric-launch that use it (s: stages, a: advise, f: fence, m:
 * modex, l: store, d: faults), least, most, meaning */
#define FAB_LAUNCH_CONSTANTS(X)                                                          \
	X(o_us, "us", "f", 0, 1e9,                                                       \
	  "Processor time of a library for a message sent or received")                  \
	X(daemon_us, "us", "safm", 0, 1e9,                                               \
	  "Processor time of a message of a daemon such as slurmstepd")                  \
	X(latency_us, "us", "safm", 0, 1e9, "From the end of sending to the receiver")   \
	X(gap_ns_per_B, "ns/B", "safm", 0, 1e9, "A byte on a cable")                     \
	X(copy_ns_per_B, "ns/B", "safm", 0, 1e9, "A byte copied by the receiver")        \
	X(tree_width, "1", "safm", 1, 65533, "TreeWidth of Slurm")                       \
	X(fanout, "1", "sa", 1, 64, "--fanout of sbcast")                                \
	X(submit_ms, "ms", "sa", 0, 1e9, "From the request to the allocation")           \
	X(allocate_ms, "ms", "sa", 0, 1e9, "Nodes are chosen and informed")              \
	X(daemon_ms, "ms", "sa", 0, 1e9, "A level of the tree that starts daemons")      \
	X(skew_ms, "ms", "sa", 0, 1e9,                                                   \
	  "Nodes are ready up to this much later, evenly spread")                        \
	X(fork_ms, "ms", "sa", 0, 1e9, "Start of a process")                             \
	X(previous_end_s, "s", "sa", 0, 1e9,                                             \
	  "With instant: time in which files come while the previous job ends")          \
	X(blob_B, "B", "sa", 0, 1e12,                                                    \
	  "With instant: data of subsystems for a node before it starts")                \
	X(image_MB, "MB", "sa", 0, 1e9, "Program and libraries")                         \
	X(files, "1", "sa", 0, 1e9, "Files that a process opens before main()")          \
	X(lookups, "1", "sa", 0, 1e6, "Directories searched in vain for each file")      \
	X(fs_MBps, "MB/s", "sa", 1e-3, 1e12, "Rate of the file system, all servers")     \
	X(node_MBps, "MB/s", "sa", 1e-3, 1e9, "Rate of the cable of a node")             \
	X(fs_ops, "1/s", "sa", 1e-3, 1e12, "Opens a second that the file system serves") \
	X(open_us, "us", "sa", 0, 1e9, "An open that no other delays")                   \
	X(discover_ms, "ms", "sa", 0, 1e9, "A process finds the hardware of its node")   \
	X(init_ms, "ms", "sa", 0, 1e9, "PMIx_Init")                                      \
	X(register_ms, "ms", "sa", 0, 1e9, "PMIx_server_register_nspace, fixed part")    \
	X(register_us, "us", "sa", 0, 1e9,                                               \
	  "PMIx_server_register_nspace, for each process")                               \
	X(put_us, "us", "sa", 0, 1e9, "PMIx_Put of a key")                               \
	X(commit_us, "us", "sa", 0, 1e9, "PMIx_Commit")                                  \
	X(fence_us, "us", "sam", 0, 1e9, "PMIx_Fence of a process without a network")    \
	X(get_us, "us", "sam", 0, 1e9, "PMIx_Get of present data")                       \
	X(get_first_us, "us", "sam", 0, 1e9, "First PMIx_Get from a local peer")         \
	X(get_remote_us, "us", "sam", 0, 1e9, "First PMIx_Get by direct modex")          \
	X(serve_us, "us", "sam", 0, 1e9, "A request of direct modex at its server")      \
	X(unpack_ns_per_B, "ns/B", "sam", 0, 1e9, "A server unpacks a byte of a fence")  \
	X(pmi1_us, "us", "s", 0, 1e9, "A request of PMI-1")                              \
	X(pmi2_us, "us", "s", 0, 1e9, "A request of PMI-2")                              \
	X(hex_factor, "1", "s", 1, 16, "Characters of a byte, values being strings")     \
	X(peers, "1", "sa", 0, 1e9, "Peers of a process without --peers")                \
	X(nic_init_ms, "ms", "sa", 0, 1e9,                                               \
	  "An adapter is opened and its memory registered")                              \
	X(channel_us, "us", "sa", 0, 1e9, "A connection is set up, both adapters")       \
	X(inline_keys, "1", "sa", 0, 1e6, "Keys that are needed from each peer")         \
	X(lock_ns, "ns", "l", 0, 1e9, "An uncontended lock and unlock")                  \
	X(line_ns, "ns", "l", 0, 1e9, "A cache line moves from core to core")            \
	X(read_ns, "ns", "l", 0, 1e9, "The data without a lock")                         \
	X(read_share, "1", "l", 1e-6, 0.999999, "Share of its time that a reader reads") \
	X(shift_us, "us", "l", 0, 1e9, "Thread shift of a Get")                          \
	X(slurmd_timeout_s, "s", "d", 0, 65533, "SlurmdTimeout of Slurm")                \
	X(pmix_timeout_s, "s", "d", 0, 1e9, "PMIxTimeout of Slurm")                      \
	X(message_timeout_s, "s", "d", 0, 1e9, "MessageTimeout of Slurm")                \
	X(unkillable_s, "s", "d", 0, 1e9, "UnkillableStepTimeout of Slurm")              \
	X(heartbeat_s, "s", "d", 1e-9, 1e9, "Time between two heartbeats")               \
	X(beat_delay_ms, "ms", "d", 0, 1e9, "Mean delay of a heartbeat")                 \
	X(beat_loss, "1", "d", 0, 0.999999, "Share of heartbeats that are lost")         \
	X(timeout_s, "s", "d", 1e-9, 1e9,                                                \
	  "Silence after which a node is considered dead")                               \
	X(news_us, "us", "d", 0, 1e9, "One message of the news")

enum fab_launch_constant {
#define FAB_ROW(name, unit, verbs, low, high, help) FAB_CONST_##name,
	FAB_LAUNCH_CONSTANTS(FAB_ROW)
#undef FAB_ROW
		FAB_N_LAUNCH_CONSTANTS,
};
/* Their names. */
extern const struct fab_choices fab_launch_constants;
/* O(1). */
bool fab_launch_constant_is_of(enum fab_launch_constant constant, char verb);
const char *fab_launch_constant_unit(enum fab_launch_constant constant);

/* The source of a value. */
enum fab_origin {
	FAB_MEASURED,
	FAB_SURVEY, /* published */
	FAB_ASSUMED,
	FAB_GIVEN, /* on the command line */
	FAB_N_ORIGINS,
};
/* "measured", "survey" ... O(1). */
const char *fab_origin_name(enum fab_origin origin);

struct fab_launch_value {
	double value, spread; /* in its unit; spread: NaN: not known */
	double low, high;     /* possible values; both 0: not known */
	enum fab_origin origin;
	bool is_default; /* of data/launch.params */
	char source[160];
};

struct fab_launch_params {
	struct fab_launch_value of[FAB_N_LAUNCH_CONSTANTS];
	char host[128]; /* of the measurement; empty: unknown */
};

/* The least and the greatest possible value of an assumption, by low and high or else by
 * its spread; false: it is no assumption, or they are not known. O(1). */
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
 * Replace the constants of a file. EINVAL with file and line: another version, a constant
 * that is unknown, repeated, without its unit, out of its range, without a spread or
 * origin; then nothing is replaced. O(text).
 */
int fab_launch_params_read(struct fab_launch_params *params, const char *file,
			   const char *text, size_t len,
			   struct fab_err *err) FAB_MUST_CHECK;
/* Set a value, in the unit of the constant, within its limits; its origin is then
 * `given`. EINVAL: not a whole number. O(1). */
int fab_launch_params_set(struct fab_launch_params *params,
			  enum fab_launch_constant constant, double value,
			  struct fab_err *err) FAB_MUST_CHECK;

/* A figure of a model by these parameters. 0 or a negative errno with its sentence. */
typedef int fab_launch_figure_fn(void *context, const struct fab_launch_params *params,
				 double *out, struct fab_err *err);

/* A figure over the possible values of the assumed constants. */
struct fab_launch_range {
	/* Over the constant that changes the figure most, the others unchanged. Both
	 * NaN: no assumed constant changes it. */
	double low, high;
	enum fab_launch_constant by; /* FAB_N_LAUNCH_CONSTANTS: none */
	/* Least and most over all of them, one at a time; with none the figure itself. */
	double least, most;
	/* Between the values at the limits of each constant; 0: no assumption. */
	double width[FAB_N_LAUNCH_CONSTANTS];
};
/*
 * The figure at both limits of each assumed constant with known limits and a set `uses`
 * (NULL: all). `figure` may be a coarser model of `base`, the present figure:
 * differences are added to that. Errors: those of `figure`, called 2 *
 * FAB_N_LAUNCH_CONSTANTS + 1 times at most.
 */
int fab_launch_range_find(const struct fab_launch_params *params, const bool *uses,
			  double base, fab_launch_figure_fn *figure, void *context,
			  struct fab_launch_range *out,
			  struct fab_err *err) FAB_MUST_CHECK;
