/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The OpenSM that is installed as a routing algorithm: it routes what is alive of a
 * fabric under ibsim, the simulator of ibsim-utils, in a private folder and unprivileged,
 * and its own dumps become the tables. Engines are thus exactly those of the installed
 * version.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "unicast/engine.h"

struct fab_opensm {
	struct fab_unicast_outside outside; /* for problems */
	const char *conf;     /* opensm.conf of the site, borrowed; NULL: none */
	double limit_seconds; /* of one routing, start and end included */
};
#define FAB_OPENSM                                                                       \
	{                                                                                \
		.outside = { fab_opensm_route }                                          \
	}

/*
 * Tables by an engine of OpenSM, which is a name of those of unicast/engine/engine.c.
 * `self` is the head of a struct fab_opensm. Of its `conf` the options that routing
 * depends on count (roots, hosts, orders, lanes, qos, partitions); what concerns the
 * machine of the subnet manager (log files, ports, keys, plug-ins) does not.
 *
 * The tables are by LID. Ports keep their LIDs where OpenSM can have them (by
 * guid2lid); of a fabric without LIDs the tables have none. Each part of what is alive
 * that has an adapter is routed for itself. With roots in the problem these are OpenSM's
 * (root_guid_file). The service levels are those that the engine gives for each pair
 * (`path_sl`), the lanes those of OpenSM's SL2VL tables. routes->note names the version,
 * the engine that routed, why it is another one, and the seconds.
 *
 * ENOENT: programs are missing, with the names of their packages; or files. EINVAL: the
 * site's file, the fabric. ETIMEDOUT: the limit. EPROTO: OpenSM or ibsim ended early, is
 * of an unknown version, or its dumps are not of this fabric. O(what OpenSM takes).
 */
int fab_opensm_route(const struct fab_unicast_outside *self,
		     const struct fab_unicast_problem *problem, const char *engine,
		     struct fab_routes **out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Copy the options of the site's opensm.conf that routing depends on to `out`; names of
 * files become absolute. *sets_qos: it says whether there is quality of service. EINVAL,
 * ENOENT: `file:line: ` and what is wrong: a line without a value, a list of GUIDs that
 * cannot be read. O(bytes).
 */
int fab_opensm_conf_copy(const char *path, FILE *out, bool *sets_qos,
			 struct fab_err *err) FAB_MUST_CHECK;

/* State of OpenSM according to its log. All zero: nothing was read yet. Texts are on the
 * heap; NULL: not in the log. */
struct fab_opensm_log {
	char *version;	   /* "3.3.23" */
	char *used;	   /* the engine whose tables the switches have: "minhop" */
	char *why;	   /* of the first engine that could not route: its reason */
	char *error;	   /* the last one */
	char *reason;	   /* the last thing said that may be a reason */
	unsigned n_failed; /* sweeps that ended with errors */
	bool is_up;	   /* SUBNET UP */
	bool has_plugin;   /* fabkit-path-sl was loaded */
	size_t n_read;	   /* bytes, by fab_opensm_log_read() */
};

/* Take the whole lines of a text. O(bytes). */
void fab_opensm_log_take(struct fab_opensm_log *log, const char *text, size_t n);
/* Take the lines that the file has got since the last time; none where there is no file.
 * O(new bytes). */
void fab_opensm_log_read(struct fab_opensm_log *log, const char *path);
void fab_opensm_log_fini(struct fab_opensm_log *log);
