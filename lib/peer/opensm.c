/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer/opensm.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/progress.h"
#include "export/fabrics.h"
#include "peer/child.h"
#include "source/scan.h"
#include "source/unpack.h"
#include "unicast/faults.h"
#include "unicast/lfts.h"

enum { LAST_LID = 0xbfff, MAX_LMC = 7, POLL_US = 20000, FAILED_SWEEPS_MAX = 3 };

/* Our plug-in for OpenSM, which writes service levels. */
#define PLUGIN "fabkit-path-sl"

/* One routing: programs, folder, what was found. */
struct run {
	const struct fab_opensm *o;
	const struct fab_unicast_problem *problem;
	const char *engine;
	double start, until;
	struct fab_arena memory;
	char *opensm, *ibsim, *preload;
	const char *plugin_dir;	 /* NULL: not installed */
	char *dir;		 /* NULL: not made yet */
	char *name;		 /* of ibsim's socket */
	struct fab_fabric *left; /* the simulated fabric: what is alive */
	struct fab_fabric seen;	 /* the fabric with the GUIDs that are simulated */
	uint16_t *lid;		 /* [ports of left] of ends */
	unsigned lmc;
	bool has_switch_lmc;
	struct fab_child sim;
	/* texts of all parts together */
	char *lfts, *lanes, *levels;
	size_t n_lfts, n_lanes, n_levels;
	FILE *lfts_out, *lanes_out, *levels_out;
	char *version, *used, *why; /* NULL: not known (yet), nothing */
	bool without_levels;	    /* a part has service levels that are not known */
};

/* Engines that choose a service level for each pair; they need quality of service. */
static bool has_levels(const char *engine)
{
	static const char *const engines[] = {"lash", "torus-2QoS", "dfsssp", "nue"};

	for (size_t i = 0; i < FAB_COUNT(engines); i++)
		if (!strcmp(engine, engines[i]))
			return true;
	return false;
}

static char *find_file(const char *pattern)
{
	char *found = NULL;
	glob_t all;

	if (glob(pattern, 0, NULL, &all) == 0 && all.gl_pathc)
		found = fab_strdup(all.gl_pathv[0]);
	globfree(&all);
	return found;
}

/* The folder of the plug-in: in a build next to the program, else where it is installed.
 */
static const char *find_plugin(struct fab_arena *memory)
{
	const char *dirs[] = {FAB_PLUGIN_DIR, FAB_PLUGIN_DIR};
	char exe[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	if (slash)
		dirs[0] = fab_arena_format(memory, "%.*s/../lib/opensm",
					   (int)(slash - exe), exe);
	for (size_t i = 0; i < FAB_COUNT(dirs); i++) {
		FAB_AUTOFREE char *file = fab_format("%s/lib" PLUGIN ".so", dirs[i]);

		if (access(file, R_OK) == 0)
			return dirs[i];
	}
	return NULL;
}

static int find_programs(struct run *x, struct fab_err *err)
{
	static const char *const patterns[] = {"/usr/lib/*/umad2sim/libumad2sim.so",
					       "/usr/lib*/umad2sim/libumad2sim.so",
					       "/usr/local/lib*/umad2sim/libumad2sim.so"};

	x->opensm = fab_child_find("opensm");
	x->ibsim = fab_child_find("ibsim");
	for (size_t i = 0; i < FAB_COUNT(patterns) && !x->preload; i++)
		x->preload = find_file(patterns[i]);
	x->plugin_dir = find_plugin(&x->memory);
	if (x->opensm && x->ibsim && x->preload)
		return 0;
	return fab_fail(
		err, ENOENT,
		"no %s found: it needs the packages opensm and ibsim-utils (libumad2sim)",
		!x->opensm  ? "opensm"
		: !x->ibsim ? "ibsim"
			    : "libumad2sim.so");
}

static FILE *create(const struct run *x, const char *part, const char *name,
		    struct fab_err *err)
{
	FAB_AUTOFREE char *path = fab_format("%s/%s%s", x->dir, part, name);
	FILE *file = fopen(path, "we");

	if (!file)
		fab_fail(err, errno, "%s: cannot make it: %s", path, strerror(errno));
	return file;
}

static int finish(FILE *file, struct fab_err *err)
{
	int failed = ferror(file), closed = fclose(file);

	return failed || closed ? fab_fail(err, EIO, "cannot write the files for OpenSM")
				: 0;
}

/* The node GUID from which ibsim gets the port GUIDs of an adapter right: it adds the
 * port number, whatever the net file says. */
static uint64_t base_of(const struct fab_fabric *f, uint32_t node)
{
	uint32_t p = fab_node_first_connected_port(f, node);

	if (fab_node_is_switch(f, node) || p == FAB_NONE || !f->port_guid[p])
		return f->node_guid[node];
	return f->port_guid[p] - f->port_num[p];
}

/* GUIDs of nodes and ports as ibsim will have them. Where that of an adapter is another's
 * already it keeps its own. EINVAL: GUIDs that several nodes have. */
static int choose_guids(struct run *x, struct fab_err *err)
{
	const struct fab_fabric *f = x->problem->f;
	struct fab_fabric *left = x->left;
	FAB_AUTO(fab_map64_free_at)
	struct fab_map64 *nodes = fab_guids_new(f, f->n_nodes);
	FAB_AUTO(fab_map64_free_at)
	struct fab_map64 *taken = fab_map64_new(left->n_nodes);
	int rc = fab_guids_differ(left, left->n_nodes, "simulated fabrics", err);

	x->seen = *f;
	x->seen.node_guid = FAB_NEW((size_t)f->n_nodes + 1, uint64_t);
	x->seen.port_guid = FAB_NEW0((size_t)f->n_ports + 1, uint64_t);
	memcpy(x->seen.node_guid, f->node_guid, f->n_nodes * sizeof(*f->node_guid));
	for (uint32_t node = 0; node < left->n_nodes && !rc; node++) {
		uint64_t own = left->node_guid[node], guid = base_of(left, node);
		uint32_t in_f = fab_map64_get(nodes, own);

		if (fab_map64_put(taken, guid, node) != node) {
			guid = own;
			if (fab_map64_put(taken, guid, node) != node)
				in_f = FAB_SHARED;
		}
		if (in_f == FAB_SHARED) {
			rc = fab_fail(
				err, EINVAL,
				"the GUID of \"%.60s\" is that of another node, too",
				fab_node_name(left, node));
			break;
		}
		left->node_guid[node] = x->seen.node_guid[in_f] = guid;
		for (uint32_t p = left->node_first_port[node];
		     p < left->node_first_port[node + 1]; p++)
			left->port_guid[p] = guid + left->port_num[p];
		for (uint32_t p = f->node_first_port[in_f];
		     p < f->node_first_port[in_f + 1]; p++)
			x->seen.port_guid[p] = guid + f->port_num[p];
	}
	return rc;
}

/* Is the port a destination: port 0 of a switch, a port of an adapter? */
static bool is_end(const struct fab_fabric *f, uint32_t port)
{
	return !fab_node_is_switch(f, f->port_node[port]) || !f->port_num[port];
}

/* Take n LIDs from `lid` on if they are free. */
static bool take_lids(bool *is_taken, uint32_t lid, uint32_t n)
{
	if (!lid || lid % n || lid + n - 1 > LAST_LID)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (is_taken[lid + i])
			return false;
	memset(is_taken + lid, true, n);
	return true;
}

static uint32_t lids_of(const struct run *x, uint32_t port)
{
	bool is_switch = fab_node_is_switch(x->left, x->left->port_node[port]);

	return is_switch && !x->has_switch_lmc ? 1 : 1u << x->lmc;
}

/* LIDs of all ends: their own where OpenSM can have them, the next free ones for others.
 */
static int choose_lids(struct run *x, struct fab_err *err)
{
	const struct fab_fabric *f = x->left;
	FAB_AUTOFREE bool *is_taken = FAB_NEW0(LAST_LID + 1, bool);
	uint32_t lid = 0;

	x->lid = FAB_NEW0((size_t)f->n_ports + 1, uint16_t);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (!is_end(f, p))
			continue;
		if (f->port_lmc[p] > x->lmc)
			x->lmc = f->port_lmc[p] & MAX_LMC;
		x->has_switch_lmc |=
			f->port_lmc[p] && fab_node_is_switch(f, f->port_node[p]);
	}
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (is_end(f, p) && take_lids(is_taken, f->port_lid[p], lids_of(x, p)))
			x->lid[p] = f->port_lid[p];
	for (uint32_t p = 0; p < f->n_ports && lid <= LAST_LID; p++) {
		if (!is_end(f, p) || x->lid[p])
			continue;
		while (++lid <= LAST_LID && !take_lids(is_taken, lid, lids_of(x, p)))
			;
		x->lid[p] = (uint16_t)lid;
	}
	return lid > LAST_LID
		       ? fab_fail(err, EINVAL, "more ports than the %d LIDs of a subnet",
				  LAST_LID)
		       : 0;
}

static int write_lids(const struct run *x, const char *part, struct fab_err *err)
{
	FILE *file = create(x, part, "guid2lid", err);

	if (!file)
		return -EIO;
	for (uint32_t p = 0; p < x->left->n_ports; p++)
		if (x->lid[p])
			fprintf(file, "0x%016" PRIx64 " 0x%04x 0x%04x\n\n",
				x->left->port_guid[p], x->lid[p],
				x->lid[p] + lids_of(x, p) - 1);
	return finish(file, err);
}

static int write_roots(const struct run *x, const char *part, struct fab_err *err)
{
	const struct fab_unicast_problem *p = x->problem;
	FILE *file = create(x, part, "roots", err);

	if (!file)
		return -EIO;
	for (uint32_t i = 0; i < p->n_roots; i++)
		if (fab_switch_is_live(p->faults, p->roots[i]))
			fprintf(file, "0x%016" PRIx64 "\n", p->f->node_guid[p->roots[i]]);
	return finish(file, err);
}

/* The site's options, then those of this run: of two lines the last one counts. */
static int write_conf(const struct run *x, const char *part, struct fab_err *err)
{
	FILE *file = create(x, part, "opensm.conf", err);
	bool sets_qos = false;
	int rc;

	if (!file)
		return -EIO;
	rc = x->o->conf ? fab_opensm_conf_copy(x->o->conf, file, &sets_qos, err) : 0;
	if (has_levels(x->engine) && !sets_qos)
		fputs("qos TRUE\n", file);
	if (x->problem->n_roots)
		fprintf(file, "root_guid_file %s/%sroots\n", x->dir, part);
	if (x->plugin_dir)
		fprintf(file,
			"event_plugin_name " PLUGIN
			"\nevent_plugin_options %s/%slevels\n",
			x->dir, part);
	/* 0x43: errors, what happens, and files with the tables */
	fprintf(file,
		"routing_engine %s\nlmc %u\nlmc_esp0 %s\n"
		"honor_guid2lid_file TRUE\nreassign_lids FALSE\nsweep_interval 0\n"
		"max_wire_smps 64\nmax_wire_smps2 64\ntransaction_timeout 1000\n"
		"log_file %s/%sopensm.log\nlog_flags 0x43\nforce_log_flush TRUE\n"
		"per_module_logging_file %s/%snone\ndump_files_dir %s/%s\n"
		"fsync_high_avail_files FALSE\n",
		x->engine, x->lmc, x->has_switch_lmc ? "TRUE" : "FALSE", x->dir, part,
		x->dir, part, x->dir, part);
	if (!rc)
		return finish(file, err);
	fclose(file);
	return rc;
}

static int write_net(const struct run *x, struct fab_err *err)
{
	FILE *file = create(x, "", "net", err);
	int rc;

	if (!file)
		return -EIO;
	rc = fab_export_ibnetdiscover(file, x->left, err);
	if (!rc)
		return finish(file, err);
	fclose(file);
	return rc;
}

/* The whole of a file that a program wrote, "" for none; on the heap. */
static char *text_of(const struct run *x, const char *part, const char *name, size_t *n)
{
	FAB_AUTOFREE char *path = fab_format("%s/%s%s", x->dir, part, name);
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	bool is_there = fab_input_read_tables(path, &in, NULL) == 0;

	*n = is_there ? in.n : 0;
	return fab_strndup(is_there ? in.bytes : "", *n);
}

/* The last line of a text that is not empty, cut for a sentence; on the heap. */
static char *last_line(const char *text)
{
	size_t n = strlen(text), from;

	while (n && strchr("\n\r\t ", text[n - 1]))
		n--;
	for (from = n; from && text[from - 1] != '\n'; from--)
		;
	return n - from ? fab_strndup(text + from, n - from < 200 ? n - from : 200)
			: fab_strdup("no message");
}

/* Wait a moment for `what`. ETIMEDOUT: no time is left. */
static int wait_more(const struct run *x, const char *what, struct fab_err *err)
{
	double now = fab_now();

	fab_progress_report("OpenSM", "seconds", (uint64_t)(now - x->start), 0);
	if (now >= x->until)
		return fab_fail(err, ETIMEDOUT,
				"%s did not end within the limit of %g s (time-limit)",
				what, x->o->limit_seconds);
	usleep(POLL_US);
	return 0;
}

static int start_sim(struct run *x, struct fab_err *err)
{
	static atomic_uint number;
	const struct fab_fabric *f = x->left;
	uint64_t n_ports = 64;
	char nodes[16], switches[16], ports[24], lids[16], net[] = "net";
	char *const argv[] = {x->ibsim, (char[]){"-s"}, (char[]){"-n"}, (char[]){"-N"},
			      nodes,	(char[]){"-S"}, switches,	(char[]){"-P"},
			      ports,	(char[]){"-L"}, lids,		net,
			      NULL};
	const char *env[] = {NULL, NULL};
	int rc;

	for (uint32_t node = 0; node < f->n_nodes; node++)
		n_ports += f->node_n_ports[node] + 1u;
	snprintf(nodes, sizeof(nodes), "%u", f->n_nodes + 8);
	snprintf(switches, sizeof(switches), "%u", f->n_switches + 8);
	snprintf(ports, sizeof(ports), "%" PRIu64, n_ports);
	snprintf(lids, sizeof(lids), "%d", LAST_LID + 1);
	x->name = fab_arena_format(&x->memory, "IBSIM_SOCKNAME=fabkit-%ld-%u",
				   (long)getpid(), atomic_fetch_add(&number, 1));
	env[0] = x->name;
	rc = fab_child_start(&x->sim, argv, env, x->dir, "ibsim.out", err);
	while (!rc) {
		size_t n;
		FAB_AUTOFREE char *text = text_of(x, "", "ibsim.out", &n);
		bool is_ready = strstr(text, "simulator ready") != NULL;

		if (!is_ready && fab_child_has_ended(&x->sim)) {
			FAB_AUTOFREE char *last = last_line(text);

			rc = fab_fail(err, EPROTO, "ibsim %s: %s", x->sim.end, last);
		}
		if (is_ready || rc)
			break;
		rc = wait_more(x, "ibsim", err);
	}
	return rc;
}

/* The end of OpenSM before the subnet was up. */
static int fail_early(const struct run *x, const char *part, const struct fab_child *sm,
		      const struct fab_opensm_log *s, struct fab_err *err)
{
	size_t n;
	FAB_AUTOFREE char *out = text_of(x, part, "opensm.out", &n);
	FAB_AUTOFREE char *last = s->error ? fab_strdup(s->error) : last_line(out);
	int rc;

	if (*sm->end)
		rc = fab_fail(err, EPROTO, "opensm %s: %s", sm->end, last);
	else
		rc = fab_fail(err, EPROTO, "OpenSM fails to set the subnet up: %s", last);
	return rc;
}

static bool exists(const struct run *x, const char *part, const char *name)
{
	FAB_AUTOFREE char *path = fab_format("%s/%s%s", x->dir, part, name);

	return access(path, F_OK) == 0;
}

/* Until the subnet is up and the service levels are written. */
static int await_tables(const struct run *x, const char *part, struct fab_child *sm,
			struct fab_opensm_log *s, struct fab_err *err)
{
	FAB_AUTOFREE char *path = fab_format("%s/%sopensm.log", x->dir, part);
	int rc = 0;

	while (!rc) {
		bool has_ended = fab_child_has_ended(sm);

		fab_opensm_log_read(s, path);
		if (s->version && strncmp(s->version, "3.3.", 4) != 0)
			rc = fab_fail(
				err, EPROTO,
				"OpenSM %s is installed: the files of 3.3 are known",
				s->version);
		else if (s->is_up && (!s->has_plugin || exists(x, part, "levels")))
			break;
		else if (has_ended || s->n_failed >= FAILED_SWEEPS_MAX)
			rc = fail_early(x, part, sm, s, err);
		if (!rc)
			rc = wait_more(x, "opensm", err);
	}
	return rc;
}

static int start_opensm(struct run *x, const char *part, uint32_t sw,
			struct fab_child *sm, struct fab_err *err)
{
	const char *libraries = getenv("LD_LIBRARY_PATH");
	struct fab_arena *a = &x->memory;
	const char *dir = fab_arena_format(a, "%s/%s", x->dir, part);
	char *conf = fab_arena_format(a, "%sopensm.conf", dir);
	char *const argv[] = {x->opensm, (char[]){"-F"}, conf, NULL};
	const char *const vars[] = {
		x->name,
		fab_arena_format(a, "SIM_HOST=S-%016" PRIx64, x->left->node_guid[sw]),
		fab_arena_format(a, "OSM_CACHE_DIR=%s", dir),
		fab_arena_format(a, "OSM_TMP_DIR=%s", dir),
		fab_arena_format(a, "LD_PRELOAD=%s", x->preload),
		fab_arena_format(a, "LD_LIBRARY_PATH=%s:%s",
				 x->plugin_dir ? x->plugin_dir : "",
				 libraries ? libraries : ""),
		NULL,
	};

	return fab_child_start(sm, argv, vars, dir, "opensm.out", err);
}

static void append(const struct run *x, const char *part, const char *name, FILE *out)
{
	size_t n;
	FAB_AUTOFREE char *text = text_of(x, part, name, &n);

	fwrite(text, 1, n, out);
}

/* Note what a part says; the first part that fell back is named. */
static void take_said(struct run *x, struct fab_opensm_log *s)
{
	if (!x->version || (s->why && !x->why)) {
		FAB_FREE_ALL(x->version, x->used, x->why);
		x->version = s->version;
		x->used = s->used;
		x->why = s->why;
		s->version = s->used = s->why = NULL;
	}
	fab_opensm_log_fini(s);
}

/* One part of what is alive, by an OpenSM on one of its switches: ibsim has no other port
 * 1 for programs on adapters, and where the subnet manager is does not matter here. */
static int route_part(struct run *x, uint32_t number, uint32_t sw, struct fab_err *err)
{
	FAB_AUTOFREE char *part = fab_format("part-%u/", number),
			  *dir = fab_format("%s/%s", x->dir, part);
	struct fab_child sm = {0};
	struct fab_opensm_log s = {0};
	int rc = mkdir(dir, 0700) == 0
			 ? 0
			 : fab_fail(err, errno, "%s: %s", dir, strerror(errno));

	if (!rc)
		rc = write_lids(x, part, err);
	if (!rc && x->problem->n_roots)
		rc = write_roots(x, part, err);
	if (!rc)
		rc = write_conf(x, part, err);
	if (!rc)
		rc = start_opensm(x, part, sw, &sm, err);
	if (!rc)
		rc = await_tables(x, part, &sm, &s, err);
	fab_child_stop(&sm);
	if (!rc && !s.used)
		rc = fab_fail(err, EPROTO,
			      "the log of OpenSM does not say which engine routed");
	if (!rc) {
		append(x, part, "opensm-lfts.dump", x->lfts_out);
		if (has_levels(s.used)) {
			append(x, part, "opensm-sl2vl.dump", x->lanes_out);
			append(x, part, "levels", x->levels_out);
			x->without_levels |= !s.has_plugin;
		}
	}
	take_said(x, &s);
	return rc;
}

/* Each part of the graph of switches with several ends. */
static int route_parts(struct run *x, struct fab_err *err)
{
	const struct fab_fabric *f = x->left;
	FAB_AUTOFREE uint32_t *part = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *n_ends = FAB_NEW0((size_t)f->n_switches + 1, uint32_t);
	uint32_t n = fab_fabric_components(f, part), n_routed = 0;
	int rc = 0;

	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t sw = fab_port_switch(f, p);

		if (sw != FAB_NONE && is_end(f, p))
			n_ends[part[sw]]++;
	}
	/* parts are numbered by their lowest switch */
	for (uint32_t sw = 0; sw < f->n_switches && !rc; sw++)
		if (part[sw] == n_routed && n_routed < n) {
			if (n_ends[n_routed] > 1)
				rc = route_part(x, n_routed, sw, err);
			n_routed++;
		}
	if (!rc && !x->version)
		rc = fab_fail(err, EINVAL, "nothing is left to route");
	return rc;
}

/* Columns as engines have them: all LIDs of live ends by port. Those that OpenSM did not
 * route lead nowhere. Returns OpenSM's LID of each. */
static void arrange_columns(const struct run *x, struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE struct fab_destination *all = NULL;
	uint32_t n = fab_destinations(f, x->problem->faults, &all), n_read = r->n_columns;
	FAB_AUTOFREE uint32_t *first = FAB_NEW((size_t)f->n_ports + 1, uint32_t);
	FAB_AUTOFREE uint32_t *of_port = r->column_port;
	FAB_AUTOFREE uint16_t *lid = r->column_lid;
	uint32_t empty = FAB_NONE;

	memset(first, 0xff, f->n_ports * sizeof(*first));
	for (uint32_t c = n_read; c-- > 0;)
		first[of_port[c]] = c;
	free(r->column_switch);
	r->n_columns = n;
	r->column_switch = FAB_NEW((size_t)n + 1, uint32_t);
	r->column_port = FAB_NEW((size_t)n + 1, uint32_t);
	r->column_lid = FAB_NEW0((size_t)n + 1, uint16_t);
	r->column_row = FAB_NEW((size_t)n + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_destination *d = &all[i];
		uint32_t from =
			first[d->port] == FAB_NONE ? n_read : first[d->port] + d->offset;

		r->column_switch[d->column] = d->sw;
		r->column_port[d->column] = d->port;
		if (from < n_read && of_port[from] == d->port) {
			r->column_row[d->column] = from;
			r->column_lid[d->column] = lid[from];
			continue;
		}
		if (empty == FAB_NONE) {
			empty = fab_routes_add_row(r);
			for (uint32_t s = 0; s < f->n_switches; s++)
				r->next[(size_t)empty * f->n_switches + s] = FAB_ARC_NONE;
		}
		r->column_row[d->column] = empty;
	}
}

/* The LIDs that the fabric has, none where it has none. */
static void restore_lids(struct fab_routes *r)
{
	for (uint32_t c = 0, offset = 0; c < r->n_columns; c++) {
		uint32_t port = r->column_port[c], lid = r->f->port_lid[port];

		offset = c && r->column_port[c - 1] == port ? offset + 1 : 0;
		r->column_lid[c] = (uint16_t)(lid ? lid + offset : 0);
	}
}

static void forget_files(struct fab_routes *r)
{
	FAB_FREE_ALL(r->files->has_table, r->files->strange_lids.v,
		     r->files->strange_switches.v, r->files);
	r->files = NULL;
}

/* Tables, levels and lanes out of the dumps. */
static int read_dumps(const struct run *x, struct fab_routes **out, struct fab_err *err)
{
	const struct fab_unicast_problem *p = x->problem;
	const struct fab_fabric *f = p->f;
	struct fab_routes *r;
	FAB_AUTOFREE char *before = NULL;
	int rc = fab_routes_from_lfts(&x->seen, p->faults, "opensm-lfts.dump", x->lfts,
				      x->n_lfts, &r, err);

	if (rc)
		return rc;
	arrange_columns(x, r);
	if (x->n_levels)
		rc = fab_routes_add_path_sl(r, "levels", x->levels, x->n_levels, err);
	if (!rc && x->n_lanes)
		rc = fab_routes_add_sl2vl(r, "opensm-sl2vl.dump", x->lanes, x->n_lanes,
					  err);
	if (rc) {
		fab_routes_free(r);
		return rc;
	}
	/* one lane: nothing of it comes from a file */
	if (!x->n_levels && !x->n_lanes && !x->without_levels)
		forget_files(r);
	r->f = f;
	restore_lids(r);
	r->leaf = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	r->n_leaves = fab_destination_switches(f, p->faults, p->kfat, r->leaf);
	before = r->note;
	r->note = fab_format("OpenSM %s, %.1f s", x->version, fab_now() - x->start);
	if (strcmp(x->used, x->engine) != 0) {
		r->instead = fab_strdup(x->used);
		fab_append(&r->note, ": ", "%s routed, for %s could not: %s", x->used,
			   x->engine, x->why ? x->why : "its log gives no reason");
	}
	if (before)
		fab_append(&r->note, "; ", "%s", before);
	if (x->without_levels)
		fab_append(&r->note, "; ",
			   "service levels are not known without the plug-in " PLUGIN
			   ", which needs libopensm-dev when fabkit is built");
	*out = r;
	return 0;
}

static void run_fini(struct run *x)
{
	FILE *const files[] = {x->lfts_out, x->lanes_out, x->levels_out};

	for (size_t i = 0; i < FAB_COUNT(files); i++)
		if (files[i])
			fclose(files[i]);
	fab_child_stop(&x->sim);
	if (x->dir)
		fab_child_dir_remove(x->dir);
	FAB_FREE_ALL(x->lfts, x->lanes, x->levels, x->opensm, x->ibsim, x->preload,
		     x->lid, x->version, x->used, x->why, x->seen.node_guid,
		     x->seen.port_guid);
	fab_fabric_free(x->left);
	fab_arena_free(&x->memory);
}

static int run(struct run *x, struct fab_routes **out, struct fab_err *err)
{
	const char *tmp = getenv("TMPDIR");
	int rc = find_programs(x, err);

	if (!rc)
		rc = fab_fabric_without(x->problem->f, x->problem->faults, &x->left, err);
	if (!rc)
		rc = choose_guids(x, err);
	if (!rc)
		rc = choose_lids(x, err);
	if (!rc)
		rc = fab_child_dir_new(tmp && *tmp ? tmp : "/tmp", &x->dir, err);
	if (!rc)
		rc = write_net(x, err);
	if (!rc)
		rc = start_sim(x, err);
	if (rc)
		return rc;
	x->lfts_out = fab_text_stream(&x->lfts, &x->n_lfts);
	x->lanes_out = fab_text_stream(&x->lanes, &x->n_lanes);
	x->levels_out = fab_text_stream(&x->levels, &x->n_levels);
	rc = route_parts(x, err);
	fflush(x->lfts_out);
	fflush(x->lanes_out);
	fflush(x->levels_out);
	return rc ? rc : read_dumps(x, out, err);
}

int fab_opensm_route(const struct fab_unicast_outside *self,
		     const struct fab_unicast_problem *problem, const char *engine,
		     struct fab_routes **out, struct fab_err *err)
{
	const struct fab_opensm *o = (const struct fab_opensm *)self;
	FAB_AUTO(run_fini)
	struct run x = {.o = o, .problem = problem, .engine = engine, .start = fab_now()};
	int rc;

	x.until = x.start + o->limit_seconds;
	rc = run(&x, out, err);
	if (rc) {
		FAB_AUTOFREE char *name = fab_format("opensm:%s", engine);

		fab_err_prefix(err, name);
	}
	return rc;
}
