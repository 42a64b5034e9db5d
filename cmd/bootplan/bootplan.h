/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-bootplan computes and how it is printed. */
#pragma once

#include "base/mem.h"
#include "boot/advice.h"
#include "boot/share.h"
#include "boot/transfer.h"
#include "cli/cli.h"
#include "export/boot.h"
#include "mcast/route.h"
#include "present/report.h"
#include "source/unpack.h"

enum { BOOTPLAN_MAX_CHOICES = 32, BOOTPLAN_MAX_ENGINES = 16, BOOTPLAN_NAME_BYTES = 256 };

/* One batch booted by one mapping. */
struct bootplan_result {
	const char *algorithm;
	const struct fab_batch *batch;
	uint32_t n_servers;  /* that serve a node of the batch */
	uint32_t n_unserved; /* that have no server: then the mapping is of no use */
	struct fab_share share;
	const char *model;
	/* of the model; the shares are always the equal ones */
	double bandwidth_mbps, boot_seconds;
	double median_seconds; /* by max-min; else NaN */
	uint32_t slowest_node;
	/* with --timeout, by max-min; of other results 0 */
	uint64_t n_retries;
	uint32_t n_failed;
	/* with --fail-server, --with-server or --without-node, else NULL */
	const struct fab_failover *failover;
	double seconds_before; /* by the same rule and model; NaN without these */
	bool is_sound;	       /* with --verify */
	const char *shard;     /* NULL: all batches of the sweep */
};

/* Another method to get an image to the largest batch. */
struct bootplan_method {
	const char *method;    /* "multicast" */
	const char *algorithm; /* that made the trees; NULL: none */
	uint32_t n_trees;      /* 0: none */
	double seconds;
};

/* What came of --to; zeroed: nothing was asked for. */
struct bootplan_exported {
	const char *format, *path;
	struct fab_boot_written written;
	struct fab_cli_folder folder;
	bool is_by_interface;	     /* servers count by their interfaces */
	uint32_t n_of_several_ports; /* nodes whose host has several connected ports */
	char *port;		     /* of the first such node, on the heap */
};

/* Everything that was computed and is reported. */
struct bootplan_outcome {
	struct fab_machine *m;
	uint64_t image_bytes;
	double target_seconds; /* 0: none was given */
	const struct fab_transfer_options *transfer;
	bool is_signalling; /* --rate */
	bool was_verified;
	struct fab_batch *batches; /* ascending; the last one is the largest */
	uint32_t n_batches;
	uint64_t fingerprint; /* of the machine as it was described */
	/* the problem of `balanced` for the largest batch, for advice */
	struct fab_mapping_problem problem;
	struct fab_advice advice[FAB_ADVICE_MAX];
	uint32_t n_advice;
	/* the largest batch of the sweep, of which a shard may have smaller ones only */
	uint32_t largest_nodes;
	char *largest_text;
	/* batch by batch, in each the algorithms in the order asked for */
	FAB_VEC(struct bootplan_result) results;
	FAB_VEC(struct bootplan_method) methods;
	bool has_broken_tree; /* with --verify */
	bool has_timeout;
	const struct fab_cli_shard *sharding;
	FAB_VEC(struct fab_failover *) failovers; /* owned; results share them */
	struct bootplan_exported exported;
};

/* Configuration for boot servers: --to and the options beside it. */
struct bootplan_export {
	enum fab_boot_format format;
	const char *template; /* of --to=template:FILE */
	enum fab_boot_identity identity;
	const char *path, *folder, *hosts, *addresses; /* NULL: not given */
	FAB_VEC(const char *) networks;
	const char *boot_file[FAB_N_BOOT_ARCHS]; /* the rest as in fab_boot_site */
	const char *boot_url, *script, *kernel, *initrd, *params, *interface;
	bool is_strict;
};
/* Values of options: ARCH=NAME, templates, parameters of a kernel, networks, folders. */
int bootplan_take_format(void *params, const char *arg, struct fab_err *err);
int bootplan_take_boot_file(void *params, const char *arg, struct fab_err *err);
int bootplan_check_template(const char *arg, struct fab_err *err);
int bootplan_check_params(const char *arg, struct fab_err *err);
int bootplan_check_network(const char *arg, struct fab_err *err);
int bootplan_check_interface(const char *arg, struct fab_err *err);
int bootplan_check_folder(const char *arg, struct fab_err *err);
/* Add it to the results, which keep `out`. */
int bootplan_export(const struct bootplan_export *e, const struct fab_cli_run *run,
		    const struct fab_machine *m, const struct fab_batch *batch,
		    const uint32_t *interface_of, struct fab_cli_results *results,
		    struct bootplan_exported *out, struct fab_err *err) FAB_MUST_CHECK;
void bootplan_exported_fini(struct bootplan_exported *out);
/* Its sentence and its fields; nothing when nothing was asked for. */
void bootplan_answer_exported(struct fab_report *r, const struct bootplan_exported *x);
void bootplan_report_exported(struct fab_report *r, const struct bootplan_exported *x);

/* Options about other methods to distribute. */
struct bootplan_methods {
	struct fab_chosen_list multicast; /* from which complete() makes these */
	const struct fab_mcast_engine *engines[BOOTPLAN_MAX_ENGINES];
	size_t n_engines;
	bool has_engines; /* asked for, not the default */
	double repair;
	uint64_t chunk_bytes;
};

/* What the command line asks for. */
struct bootplan_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	const char *machine;
	FAB_VEC(const char *) servers;
	FAB_VEC(const char *) failed;
	FAB_VEC(const char *) with, without; /* --with-server, --without-node */
	unsigned purpose;		     /* --for: enum fab_mapping_purpose */
	double default_mbps;
	uint32_t rate; /* 1: signalling */
	const char *boot;
	bool is_sweep;
	const char *sweep;
	struct fab_chosen_list algorithms; /* from which complete() makes these */
	struct fab_mapping_choice choices[BOOTPLAN_MAX_CHOICES];
	size_t n_choices;
	bool has_algorithms; /* asked for, not the default */
	const char *loaded;
	enum { BOOTPLAN_EQUAL_SHARE, BOOTPLAN_MAX_MIN, BOOTPLAN_ALL_MODELS } model;
	double target_seconds;
	bool check;
	const char *mapping_out;
	struct fab_cli_plot plot;
	struct fab_transfer_options transfer;
	struct fab_limits limits;
	double efficiency;
	struct bootplan_export export;
	struct bootplan_methods methods;
	struct fab_cli_store store;
	struct fab_cli_shard shard;
};
/* All of it, from the machine to the report; the exit status. */
int bootplan_run(void *params, const struct fab_fabric *f, struct fab_err *err);

/* What changes: servers that fail or are new, nodes that are gone. */
struct bootplan_change {
	bool is_any;
	struct fab_machine before; /* borrows from the machine that was made first */
	struct fab_machine *old;   /* that one, if nodes are gone; else NULL */
	bool *was_down;		   /* [n_servers] */
	bool *is_gone;		   /* [nodes before]; NULL */
	uint32_t *old_node;	   /* [nodes now] the node before; NULL: the same */
};
/* Takes the machine over; the machine as it is now in *out. */
int bootplan_change_init(struct bootplan_change *c, const struct bootplan_params *p,
			 struct fab_machine *m, struct fab_machine **out,
			 struct fab_err *err) FAB_MUST_CHECK;
/* The limits of transfers on the machines before and now. */
void bootplan_change_limit(struct bootplan_change *c, const struct bootplan_params *p,
			   struct fab_machine *now);
void bootplan_change_fini(struct bootplan_change *c);
/* The same nodes before, with those that are gone now. fab_batch_fini(). */
void bootplan_batch_before(const struct bootplan_change *c, const struct fab_batch *batch,
			   struct fab_batch *out);
/* A mapping of the nodes before as one of those now, on the heap. */
uint32_t *bootplan_mapping_now(const struct bootplan_change *c,
			       const struct fab_machine *now, const uint32_t *before);

/* Those of --boot, or of each step of --sweep, into the outcome, whose machine is there.
 */
int bootplan_make_batches(const struct bootplan_params *p, struct bootplan_outcome *o,
			  struct fab_err *err) FAB_MUST_CHECK;

/* Add the other methods for the largest batch; interface_of is the best mapping for it,
 * NULL: no mapping has a server for every node. */
int bootplan_add_methods(const struct bootplan_params *p, struct bootplan_outcome *o,
			 const uint32_t *interface_of,
			 struct fab_err *err) FAB_MUST_CHECK;

/* With --store: add the outcome to the database. */
int bootplan_store(const struct bootplan_params *p, const struct bootplan_outcome *o,
		   struct fab_err *err) FAB_MUST_CHECK;

/* Draw the times of a sweep into a picture among the results. */
void bootplan_plot(const struct fab_cli_plot *plot, const struct bootplan_outcome *o,
		   struct fab_cli_results *results);

/* Is there such a file? "-" is standard input. */
bool bootplan_is_file(const char *path);
/* Its name in messages. */
const char *bootplan_label(const char *path);
/* The machine of a fabric whose servers are given by files or lists, or of --machine.
 * The caller frees. */
int bootplan_machine_of_fabric(const struct bootplan_params *p,
			       const struct fab_fabric *f,
			       const char *const *given_servers, size_t n_given,
			       struct fab_machine **out,
			       struct fab_err *err) FAB_MUST_CHECK;
int bootplan_machine_of_text(const char *given, struct fab_machine **out,
			     struct fab_err *err) FAB_MUST_CHECK;

/* `failover` of a result as rows, and the names in them. */
struct bootplan_failover_server {
	const char *algorithm, *server;
	uint32_t moved_nodes, nodes_before, nodes;
	char name[BOOTPLAN_NAME_BYTES];
};
struct bootplan_failover_rows {
	struct fab_rows rows;
	struct bootplan_failover_server *v; /* [rows.n] */
};
void bootplan_failover_rows(const struct bootplan_outcome *o,
			    const struct bootplan_result *result,
			    struct bootplan_failover_rows *out);
void bootplan_failover_rows_fini(struct bootplan_failover_rows *rows);

/* Kinds of segments on the path of a result, with their names. */
struct bootplan_segment {
	const char *algorithm, *name, *tightest;
	double capacity_mbps, share_mbps; /* not finite: no limit */
	uint32_t max_sharers;
};
struct bootplan_segments {
	uint32_t n;
	char bottleneck[BOOTPLAN_NAME_BYTES]; /* "N2+N5", empty: nothing limits */
	struct bootplan_segment v[FAB_SHARE_SEGMENTS_MAX];
	char names[FAB_SHARE_SEGMENTS_MAX][BOOTPLAN_NAME_BYTES];
	char tightest[FAB_SHARE_SEGMENTS_MAX][BOOTPLAN_NAME_BYTES];
};
void bootplan_segments_of(const struct fab_machine *m,
			  const struct bootplan_result *result,
			  struct bootplan_segments *out);

/* What a row of the main table is made of, and the store keeps; borrows the result. */
struct bootplan_row {
	struct bootplan_result a;
	const char *batch, *bottleneck, *slowest;
	uint32_t nodes;
	uint64_t within_target, verified; /* or FAB_UNKNOWN */
	uint32_t unserved_nodes;
	double retries, failed_nodes, moved_nodes, max_sharers; /* NaN: not asked for */
	struct fab_rows failover, segments;
	/* what these point to */
	char name[BOOTPLAN_NAME_BYTES];
	struct bootplan_segments segment;
	struct bootplan_failover_rows grown;
};
void bootplan_row_init(struct bootplan_row *row, const struct bootplan_outcome *o,
		       const struct bootplan_result *result);
void bootplan_row_fini(struct bootplan_row *row);

/* Columns of the main table: all that is known of a metric stands in its row. */
extern const struct fab_column bootplan_columns[];
extern const size_t bootplan_n_columns;
/* Columns of struct bootplan_segment. */
extern const struct fab_column bootplan_segment_columns[];
extern const size_t bootplan_segment_n_columns;

/* The quickest of the largest batch; there is a result. */
const struct bootplan_result *bootplan_best(const struct bootplan_outcome *o);

/* Parts of a boot that boot_seconds counts: firmware, DHCP and the start of a kernel are
 * not in it. Borrowed static text. */
const char *bootplan_time_covers(const struct bootplan_outcome *o);

/* The table for people. */
void bootplan_print_failover(struct fab_report *r, const struct bootplan_outcome *o);

/* The sentences that the report begins with. */
void bootplan_answer(struct fab_report *r, const struct bootplan_outcome *o);
/* Print the report. Fails with the errno of the write. */
int bootplan_report(FILE *out, const struct fab_report_options *options,
		    const struct bootplan_outcome *o, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Write who boots from where: JSON lines, one node of the batch each. `algorithm` is
 * what gave interface_of.
 */
int bootplan_write_mapping(FILE *out, const struct fab_machine *m,
			   const struct fab_batch *batch, const char *algorithm,
			   const uint32_t *interface_of,
			   struct fab_err *err) FAB_MUST_CHECK;
