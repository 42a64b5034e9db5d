/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters, outcome and rows of fabric-bootplan. */
#pragma once

#include "base/mem.h"
#include "boot/addresses.h"
#include "boot/advice.h"
#include "boot/cost.h"
#include "boot/plan.h"
#include "boot/relay.h"
#include "boot/subnets.h"
#include "cli/command.h"
#include "cli/faults.h"
#include "export/boot.h"
#include "mcast/route.h"
#include "present/report.h"
#include "source/unpack.h"
#include "traffic/ends.h"

enum { BOOTPLAN_MAX_ENGINES = 16 };

/* Configuration for boot servers: --to and the options with it. */
struct bootplan_export {
	enum fab_boot_format format;
	const char *template;			       /* of --to=template:FILE */
	struct fab_boot_site site;		       /* texts of the options */
	const char *path, *folder, *hosts, *addresses; /* NULL: not given */
	bool is_dry, is_fresh;
	bool keeps; /* servers and addresses that the folder has, by `keep` */
	FAB_VEC(const char *) networks; /* of --network */
	const char *subnets;		/* file of --networks */
	bool has_second;		/* a second server for each node */
};

/* Options about other methods to distribute. */
struct bootplan_methods {
	struct fab_chosen_list multicast; /* from which complete() makes these */
	const struct fab_mcast_engine *engines[BOOTPLAN_MAX_ENGINES];
	size_t n_engines;
	bool has_engines; /* asked for, not the default */
	double repair;
	uint64_t chunk_bytes;
	bool simulates;
};

/* The command line. */
struct bootplan_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	const char *machine;
	FAB_VEC(const char *) servers;
	FAB_VEC(const char *) failed;
	FAB_VEC(const char *) with, without; /* --with-server, --without-node */
	enum fab_mapping_purpose purpose;
	double default_mbps;
	uint32_t rate; /* 1: signalling */
	const char *boot, *omit;
	bool is_sweep;
	const char *sweep;
	struct fab_chosen_list algorithms; /* from which complete() makes these */
	struct fab_mapping_choice choices[FAB_PLAN_CHOICES_MAX];
	size_t n_choices;
	bool has_algorithms; /* asked for, not the default */
	const char *loaded;
	enum fab_plan_model model;
	double target_seconds;
	FAB_VEC(const char *) images; /* of --image */
	bool has_model;
	const char *prices;
	bool check;
	const char *mapping_out, *dot_out;
	struct fab_cli_plot plot;
	struct fab_transfer_options transfer;
	const char *tftp; /* BLOCK:WINDOW:RTT */
	struct fab_limits limits;
	const char *hashed, *reserved; /* LEVEL:VALUE,... */
	double efficiency;
	double round_trip_seconds; /* 0: no table of services */
	struct bootplan_export export;
	struct bootplan_methods methods;
	struct fab_cli_store store;
	struct fab_cli_shard shard;
};

/* A method to get an image to the largest batch. */
struct bootplan_method {
	const char *method;    /* "multicast" */
	const char *algorithm; /* that made the trees; NULL: none */
	uint32_t n_trees;      /* 0: none */
	uint32_t n_servers;    /* that send; 0: as many as trees */
	double seconds;
	double simulated_seconds; /* NaN: not simulated, or it did not end */
	double times_faster;	  /* of the report */
};

/* The files of --to; zeroed: none were asked for. */
struct bootplan_exported {
	const char *format, *path;
	bool is_dry;
	struct fab_boot_written written;
	struct fab_cli_folder folder;
	bool is_by_interface;	     /* servers count by their interfaces */
	uint32_t n_of_several_ports; /* nodes whose host has several connected ports */
	char *port;		     /* of the first such node, on the heap */
};

/* A node in the folder of --to-dir before it is replaced. */
struct bootplan_kept {
	const char *node, *server;
	uint32_t id, interface; /* now; FAB_NONE: gone */
};

struct bootplan_node_change {
	const char *node, *change, *server_before, *server, *address_before, *address;
};

/* The folder before, and what differs now (previous.c). */
struct bootplan_previous {
	bool is_known; /* there is such a folder, and it was compared */
	FAB_VEC(struct bootplan_kept) kept;
	struct fab_host_addresses *addresses; /* NULL: none */
	struct fab_arena *arena;
	FAB_VEC(const char *) files; /* that differ, come or go */
	FAB_VEC(struct bootplan_node_change) nodes;
	uint32_t n_new, n_gone, n_moved, n_readdressed;
};

/* Plans by --prices for the largest batch. */
struct bootplan_costs {
	bool is_given, is_kept; /* the file; a plan keeps to the target: the cheapest */
	struct fab_cost_plan cheapest;
	uint32_t n;
	struct fab_cost_plan frontier[20];
};

struct bootplan_outcome {
	const struct bootplan_params *p;
	const struct fab_machine *m; /* at present */
	struct fab_plan plan;
	struct fab_plan_results results;
	struct fab_batch *batches; /* of the shard; ascending */
	uint32_t n_batches;
	const struct fab_batch *largest;	      /* the last one */
	uint32_t *interface_of[FAB_PLAN_CHOICES_MAX]; /* mappings of it */
	uint64_t fingerprint;			      /* of the machine as described */
	/* the problem of `balanced` for the largest batch, for advice */
	struct fab_mapping_problem problem;
	struct fab_advice advice[FAB_ADVICE_MAX];
	uint32_t n_advice;
	/* the largest batch of the sweep, of which a shard may have smaller ones only */
	uint32_t largest_nodes;
	const char *largest_text;
	FAB_VEC(struct bootplan_method) methods;
	struct bootplan_costs costs;
	bool has_broken_tree; /* with --verify */
	/* --image, NULL: not given; image_of[n_nodes], FAB_NONE: in no group */
	struct fab_image *images;
	uint32_t n_images, *image_of;
	uint64_t least_image, rest_bytes; /* smallest image; that of nodes in no group */
	double *image_seconds; /* [n_images + 1] the last one: in no group; NULL */
	uint32_t *second_of;   /* [n_nodes] second interfaces; NULL: not asked for */
	struct fab_seconds seconds;
	struct fab_subnets subnets; /* --network or --networks */
	struct bootplan_exported exported;
	struct bootplan_previous previous;
};

extern const struct fab_task bootplan_task; /* run.c */
/* Add the other methods for the largest batch; interface_of is the best mapping for it,
 * NULL: no mapping has a server for every node. */
int bootplan_add_methods(const struct bootplan_params *p, struct bootplan_outcome *o,
			 const uint32_t *interface_of,
			 struct fab_err *err) FAB_MUST_CHECK;

/* How the largest batch gets the image on a fabric: by one of these. */
struct bootplan_way {
	const uint32_t *interface_of; /* servers send to each node */
	const struct fab_relay *relay;
	const struct fab_groups *groups; /* multicast, with the trees */
	const struct fab_forest *forest;
	const uint32_t *source; /* ports that send to the groups */
	bool waits;	 /* a node sends when it has the whole image; else by chunks */
	bool one_by_one; /* target by target, in the order of the hops */
};
/* Plans by --prices (costs.c). */
int bootplan_add_costs(const struct bootplan_params *p, struct bootplan_outcome *o,
		       struct fab_err *err) FAB_MUST_CHECK;
void bootplan_answer_costs(struct fab_report *r, struct fab_arena *a,
			   const struct bootplan_outcome *o);
void bootplan_report_costs(struct fab_report *r, struct fab_arena *a,
			   const struct bootplan_outcome *o);

/* Simulations of packets (simulate.c); zeroed: none. EINVAL: too much. The caller calls
 * fini after open, whatever it returns. */
struct bootplan_sim {
	const struct bootplan_params *p;
	const struct bootplan_outcome *o;
	struct fab_flow_ends ends;
	uint32_t *end_of; /* [ports] endpoint; FAB_NONE */
	struct fab_faults *faults;
	struct fab_routes *routes;
};
int bootplan_sim_open(const struct bootplan_params *p, const struct bootplan_outcome *o,
		      struct bootplan_sim *sim, struct fab_err *err) FAB_MUST_CHECK;
void bootplan_sim_fini(struct bootplan_sim *sim);
int bootplan_sim_run(const struct bootplan_sim *sim, const struct bootplan_way *way,
		     double *seconds, struct fab_err *err) FAB_MUST_CHECK;

/* Files (export.c). The value of --to. */
int bootplan_take_format(void *params, const char *arg, struct fab_err *err);
/* Before anything is written: networks, and a server for every node. */
int bootplan_check_export(const struct bootplan_params *p, struct bootplan_outcome *o,
			  struct fab_err *err) FAB_MUST_CHECK;
int bootplan_export(struct fab_cli_results *results, const struct fab_work *w,
		    struct fab_err *err);
void bootplan_exported_fini(struct bootplan_exported *out);
int bootplan_write_mapping(FILE *out, const struct fab_work *w, struct fab_err *err);
int bootplan_write_dot(FILE *out, const struct fab_work *w, struct fab_err *err);
int bootplan_write_plot(FILE *out, const struct fab_work *w, struct fab_err *err);
/* Sentence and fields of the files; nothing without files. */
void bootplan_answer_exported(struct fab_report *r, const struct bootplan_outcome *o);
void bootplan_report_exported(struct fab_report *r, const struct bootplan_outcome *o);

/* Does the folder hold the mapping of its boot files? */
bool bootplan_has_previous(const char *folder);
/* Read the mapping and addresses of the folder; names in the arena. */
int bootplan_read_previous(const struct bootplan_params *p, const struct fab_machine *m,
			   struct fab_arena *a, struct bootplan_previous *out,
			   struct fab_err *err) FAB_MUST_CHECK;
void bootplan_previous_fini(struct bootplan_previous *x);
/* Its mapping into before[] of the nodes before, all FAB_NONE; old_node[] of the nodes
 * now, NULL: themselves. */
void bootplan_previous_mapping(const struct bootplan_previous *x,
			       const uint32_t *old_node, uint32_t *before);
/* Add its addresses to a plan, where they are in a network and of no other host. */
void bootplan_keep_addresses(const struct bootplan_previous *x,
			     const struct bootplan_outcome *o,
			     const struct fab_host_addresses *given,
			     struct fab_host_addresses *plan);
/* Write the mapping and the addresses into the new folder; compare it with the old one.
 * `given`: addresses of all hosts. */
void bootplan_write_state(struct fab_cli_folder *folder, const struct bootplan_outcome *o,
			  const struct fab_host_addresses *given);
void bootplan_compare_previous(struct bootplan_previous *x, struct fab_cli_folder *folder,
			       const struct bootplan_outcome *o,
			       const struct fab_host_addresses *given,
			       struct fab_arena *a);
/* Sentence, fields and table of the differences; nothing without such a folder. */
void bootplan_answer_previous(struct fab_report *r, const struct bootplan_outcome *o);
void bootplan_report_previous(struct fab_report *r, const struct bootplan_previous *x);

/* Kinds of segments on the path of a result, with their names. */
struct bootplan_segment {
	const char *algorithm, *name, *tightest;
	double capacity_mbps, share_mbps; /* not finite: no limit */
	uint32_t max_sharers;
};
struct bootplan_segments {
	uint32_t n;
	const char *bottleneck; /* "N2+N5", NULL: nothing limits */
	struct bootplan_segment v[FAB_SHARE_SEGMENTS_MAX];
};

/* A row of the main table, which the store keeps; borrows the result. */
struct bootplan_row {
	struct fab_plan_result a;
	const char *batch, *bottleneck, *slowest, *model, *shard;
	uint32_t nodes;
	uint64_t within_target, verified; /* or FAB_UNKNOWN */
	uint32_t unserved_nodes;
	double retries, failed_nodes, moved_nodes, max_sharers; /* NaN: not asked for */
	struct fab_rows failover, segments;
	/* memory of these */
	char name[FAB_MACHINE_NAME_BYTES];
	struct bootplan_segments segment;
};
/* Texts of the row come from the arena. */
void bootplan_row_init(struct bootplan_row *row, struct fab_arena *a,
		       const struct bootplan_outcome *o,
		       const struct fab_plan_result *result);

/* Columns of struct bootplan_row and of struct bootplan_segment. */
extern const struct fab_column bootplan_columns[], bootplan_segment_columns[];
extern const size_t bootplan_n_columns, bootplan_segment_n_columns;

extern const struct fab_option bootplan_settings[];

/* The quickest of the largest batch; there is a result. */
const struct fab_plan_result *bootplan_best(const struct bootplan_outcome *o);
void bootplan_report(struct fab_report *r, const struct fab_work *w);
void bootplan_draw(struct fab_drawing *d, const struct fab_work *w);
