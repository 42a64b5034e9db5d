/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/order.h"
#include "fabric/ranks.h"
#include "fabric/resolver.h"
#include "source/unpack.h"
#include "unicast/engine.h"
#include "unicast/faults.h"

#define ADDRESS(row) &fab_unicast_##row,
const struct fab_unicast_engine *const fab_unicast_engines[] = {
	FAB_UNICAST_ENGINES(ADDRESS)};
const size_t fab_unicast_n_engines = FAB_COUNT(fab_unicast_engines);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_unicast_engine *e = fab_unicast_engines[i];

	return (struct fab_choice){e->name, e->summary, e->manual,
				   .is_in_all = !e->is_outside,
				   .is_whole = e->is_outside};
}

/* Routing engines of OpenSM that have no row. */
static const char *hint_on(const char *name, size_t len)
{
	static const char *const engines[] = {"dnup", "file", "ftree",	"lash",
					      "nue",  "sssp", "dfsssp", "torus-2QoS"};

	for (size_t i = 0; i < FAB_COUNT(engines); i++)
		if (len == strlen(engines[i]) && !strncasecmp(name, engines[i], len))
			return "a routing engine of OpenSM: opensm:ENGINE runs it where OpenSM is installed, and --lfts=FILE reads its tables";
	return NULL;
}

const struct fab_choices fab_unicast_choices = {.what = "algorithm",
						.n = FAB_COUNT(fab_unicast_engines),
						.at = choice_at,
						.hint = hint_on};

const struct fab_unicast_engine *fab_unicast_engine_find(const char *name, size_t len)
{
	uint32_t i = fab_choices_find(&fab_unicast_choices, name, len);

	return i == FAB_NONE ? NULL : fab_unicast_engines[i];
}

int fab_unicast_fits(const struct fab_unicast_engine *engine,
		     const struct fab_unicast_problem *problem, struct fab_err *err)
{
	const struct fab_kfat *kfat = problem->kfat;

	if (engine->needs_kfat && !kfat)
		return fab_fail(err, EINVAL, "%s needs a high-dimension fat tree",
				engine->name);
	if (kfat && engine->n_dims && engine->n_dims != kfat->n_dims)
		return fab_fail(err, EINVAL,
				"%s is for %" PRIu32
				" dimensions, the fabric has %" PRIu32,
				engine->name, engine->n_dims, kfat->n_dims);
	return engine->fits ? engine->fits(engine, problem, err) : 0;
}

int fab_unicast_route(const struct fab_unicast_engine *engine,
		      const struct fab_unicast_problem *problem, struct fab_routes **out,
		      struct fab_err *err)
{
	/* those for kfats of some dimensions have arrays of that many */
	int rc = engine->n_dims ? fab_unicast_fits(engine, problem, err) : 0;

	*out = NULL;
	return rc ? rc : engine->route(engine, problem, out, err);
}

int fab_unicast_refuse(const char *source, const struct fab_unicast_engine *engine,
		       const struct fab_unicast_problem *problem,
		       const struct fab_err *no_kfat, struct fab_err *err)
{
	bool wants_kfat = engine->needs_kfat && !problem->kfat;
	FAB_AUTOFREE char *names = fab_strdup("");
	struct fab_err why = {""};

	if (!fab_unicast_fits(engine, problem, &why))
		why.text[0] = '\0';
	for (size_t i = 0; i < fab_unicast_n_engines; i++)
		if (!fab_unicast_engines[i]->is_outside &&
		    !fab_unicast_fits(fab_unicast_engines[i], problem, NULL))
			fab_append(&names, ", ", "%s", fab_unicast_engines[i]->name);
	return fab_fail(err, EINVAL, "%s: algorithm %s%s%s; what routes it: %s", source,
			why.text, wants_kfat ? "; " : "", wants_kfat ? no_kfat->text : "",
			names);
}

/* Nanoseconds of a core for each switch and each arc of a destination: radix 32, 3 levels
 * took 0.64 s by minhop and a torus 24x24x24 21 s, with the analysis. */
static const double SWITCH_NS = 45, ARC_NS = 1.5;

/* The switch at which packets to a port leave, FAB_NONE: it takes none or is dead. */
static uint32_t exit_switch(const struct fab_fabric *f, const struct fab_faults *faults,
			    uint32_t port)
{
	if (fab_node_is_switch(f, f->port_node[port]) && f->port_num[port])
		return FAB_NONE;
	return fab_faults_port_switch(f, faults, port);
}

struct fab_effort fab_unicast_effort(const struct fab_unicast_engine *engine,
				     const struct fab_unicast_problem *problem)
{
	const struct fab_fabric *f = problem->f;
	bool by_leaf = engine->needs_kfat && problem->kfat;
	uint64_t n = by_leaf ? problem->kfat->n_leaves : 0;
	double per_destination =
		SWITCH_NS * f->n_switches + ARC_NS * f->arc_first[f->n_switches];

	for (uint32_t p = 0; !by_leaf && p < f->n_ports; p++)
		if (exit_switch(f, problem->faults, p) != FAB_NONE)
			n += fab_port_n_lids(f, p);
	return (struct fab_effort){
		.destinations = n,
		.table_bytes = n * f->n_switches * sizeof(uint16_t),
		.cpu_seconds = (double)n * per_destination / 1e9,
	};
}

/* An end in the order of OpenSM: adapters' ports before switches. */
struct end {
	bool is_switch;
	uint32_t n_ends; /* on its switch */
	uint64_t guid;	 /* of the switch, as it lies on the wire */
	uint32_t num;	 /* port of the switch */
	uint32_t port, sw;
};

FAB_ORDER_MIXED(by_order, struct end,
		FAB_UP(is_switch) FAB_DOWN(n_ends) FAB_UP(guid) FAB_UP(sw) FAB_UP(num)
			FAB_UP(port))

static uint32_t list_ends(const struct fab_fabric *f, const struct fab_faults *faults,
			  struct end *ends, uint32_t *n_all)
{
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *on = FAB_NEW0((size_t)f->n_switches + 1, uint32_t);

	*n_all = 0;
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t sw = exit_switch(f, faults, p);
		bool is_switch = fab_node_is_switch(f, f->port_node[p]);

		if (sw == FAB_NONE)
			continue;
		*n_all += fab_port_n_lids(f, p);
		on[sw] += !is_switch;
		ends[n++] = (struct end){
			.is_switch = is_switch,
			.guid = __builtin_bswap64(f->node_guid[sw]),
			.num = is_switch ? 0 : f->port_num[fab_port_peer(f, p)],
			.port = p,
			.sw = sw};
	}
	for (uint32_t i = 0; i < n; i++)
		ends[i].n_ends = ends[i].is_switch ? 0 : on[ends[i].sw];
	return n;
}

uint32_t fab_destinations(const struct fab_fabric *f, const struct fab_faults *faults,
			  struct fab_destination **out)
{
	FAB_AUTOFREE struct end *ends = FAB_NEW((size_t)f->n_ports + 1, struct end);
	FAB_AUTOFREE uint32_t *column = FAB_NEW((size_t)f->n_ports + 1, uint32_t);
	uint32_t n_all, n_ends = list_ends(f, faults, ends, &n_all), n = 0;

	for (uint32_t i = 0, at = 0; i < n_ends;
	     at += fab_port_n_lids(f, ends[i].port), i++)
		column[ends[i].port] = at;
	if (n_ends)
		qsort(ends, n_ends, sizeof(*ends), by_order);
	*out = FAB_NEW((size_t)n_all + 1, struct fab_destination);
	for (uint32_t offset = 0; n < n_all; offset++)
		for (uint32_t i = 0; i < n_ends; i++)
			if (offset < fab_port_n_lids(f, ends[i].port))
				(*out)[n++] = (struct fab_destination){
					ends[i].port, ends[i].sw, offset,
					column[ends[i].port] + offset};
	return n;
}

uint32_t fab_destination_switches(const struct fab_fabric *f,
				  const struct fab_faults *faults,
				  const struct fab_kfat *kfat, uint32_t *sw_of)
{
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *hosts = FAB_NEW(f->n_switches + 1, uint32_t);

	fab_ranks_count_hosts(f, hosts);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (fab_switch_is_live(faults, sw) &&
		    (kfat ? kfat->leaf_of[sw] != FAB_NONE : hosts[sw] > 0))
			sw_of[n++] = sw;
	return n;
}

struct reading {
	struct fab_lookup lookup;
	struct fab_ids *out;
};

static int take_line(void *context, struct fab_item line, struct fab_err *err)
{
	const struct reading *r = context;

	/* a name may follow a GUID */
	if (line.len > 2 && line.text[0] == '0' && (line.text[1] | 32) == 'x') {
		size_t n = 2;

		while (n < line.len && line.text[n] != ' ' && line.text[n] != '\t')
			n++;
		line.len = n;
	}
	return fab_lookup_list(&r->lookup, line.text, line.len, r->out, NULL, err);
}

int fab_root_list_read(const struct fab_fabric *f, const char *path, struct fab_ids *out,
		       struct fab_err *err)
{
	FAB_AUTO(fab_resolver_free_at)
	struct fab_resolver *resolver = fab_resolver_new(f);
	struct reading r = {fab_resolver_lookup(resolver, FAB_WANT_SWITCH), out};
	int rc = fab_list_file_read(path, take_line, &r, err);

	if (!rc && !out->of.n)
		rc = fab_fail(err, EINVAL, "%s: expected the GUIDs of roots, a line each",
			      path);
	return rc;
}

enum { FREE = 0xff };
static const uint64_t BYTES_MAX = UINT64_C(1) << 30;

struct fab_sl_packer {
	struct fab_routes *routes;
	unsigned n_levels;
	uint64_t *first;
	uint8_t *lane;
	bool is_kept;
	FAB_VEC(uint64_t) fixed; /* entries, from the first mark on */
};

int fab_sl_packer_new(struct fab_routes *routes, unsigned n_levels,
		      struct fab_sl_packer **out, struct fab_err *err)
{
	const struct fab_fabric *f = routes->f;
	uint64_t *first = FAB_NEW(f->n_switches + 1, uint64_t);

	first[0] = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint64_t d = fab_degree(f, sw);

		first[sw + 1] = first[sw] + (d + 1) * (d + 1) * FAB_SLS_MAX;
	}
	if (first[f->n_switches] > BYTES_MAX) {
		free(first);
		return fab_fail(
			err, ERANGE,
			"tables of lanes by service level and ports would take more than 1 GiB");
	}
	*out = FAB_NEW0(1, struct fab_sl_packer);
	(*out)->routes = routes;
	(*out)->n_levels = n_levels;
	(*out)->first = first;
	(*out)->lane = FAB_NEW(first[f->n_switches] + 1, uint8_t);
	memset((*out)->lane, FREE, first[f->n_switches]);
	return 0;
}

void fab_sl_packer_free(struct fab_sl_packer *packer)
{
	if (!packer)
		return;
	FAB_FREE_ALL(packer->first, packer->lane, packer->fixed.v, packer);
}

static uint8_t *entry(const struct fab_sl_packer *p, const struct fab_hop *hop,
		      unsigned sl)
{
	uint64_t d = fab_degree(p->routes->f, hop->sw);

	return p->lane + p->first[hop->sw] +
	       (hop->in * (d + 1) + hop->out) * FAB_SLS_MAX + sl;
}

bool fab_sl_packer_fits(const struct fab_sl_packer *p, const struct fab_hop *hops,
			const uint8_t *lanes, uint32_t n, unsigned sl)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t has = *entry(p, &hops[i], sl);

		if (has != FREE && has != lanes[i])
			return false;
	}
	return true;
}

static void fix(struct fab_sl_packer *p, uint8_t *at, uint8_t lane)
{
	if (*at == FREE && p->is_kept)
		FAB_PUSH(&p->fixed, (uint64_t)(at - p->lane));
	*at = lane;
}

unsigned fab_sl_packer_add(struct fab_sl_packer *p, const struct fab_hop *hops,
			   const uint8_t *lanes, uint32_t n, unsigned first)
{
	for (unsigned sl = first; sl < p->n_levels; sl++) {
		if (!fab_sl_packer_fits(p, hops, lanes, n, sl))
			continue;
		for (uint32_t i = 0; i < n; i++)
			fix(p, entry(p, &hops[i], sl), lanes[i]);
		return sl;
	}
	return FAB_SL_NONE;
}

void fab_sl_packer_set(struct fab_sl_packer *p, const struct fab_hop *hop, unsigned sl,
		       uint8_t lane)
{
	fix(p, entry(p, hop, sl), lane);
}

size_t fab_sl_packer_mark(struct fab_sl_packer *p)
{
	p->is_kept = true;
	return p->fixed.n;
}

void fab_sl_packer_back(struct fab_sl_packer *p, size_t mark)
{
	while (p->fixed.n > mark)
		p->lane[p->fixed.v[--p->fixed.n]] = FREE;
}

void fab_sl_packer_finish(struct fab_sl_packer *p)
{
	struct fab_routes *r = p->routes;

	for (uint64_t i = 0; i < p->first[r->f->n_switches]; i++)
		if (p->lane[i] == FREE)
			p->lane[i] = 0;
	r->lanes = FAB_LANES_TABLE;
	r->vl_first = p->first;
	r->sl2vl = p->lane;
	p->first = NULL;
	p->lane = NULL;
}

/*
 * Engines of the OpenSM that is installed: a row for each, whose tables it makes itself.
 * The problem says how it is run; peer/opensm.h does that.
 */
static int fits_opensm(const struct fab_unicast_engine *self,
		       const struct fab_unicast_problem *problem, struct fab_err *err)
{
	(void)self;
	if (!problem->opensm)
		return fab_fail(err, EINVAL,
				"opensm:ENGINE is not for this: nothing runs OpenSM");
	return 0;
}

static int route_opensm(const struct fab_unicast_engine *self,
			const struct fab_unicast_problem *problem,
			struct fab_routes **out, struct fab_err *err)
{
	int rc = fits_opensm(self, problem, err);

	return rc ? rc
		  : problem->opensm->route(problem->opensm, problem,
					   strchr(self->name, ':') + 1, out, err);
}

#define ENGINE(id, engine, what)                                                         \
	const struct fab_unicast_engine fab_unicast_opensm_##id = {                      \
		.name = "opensm:" engine,                                                \
		.summary = what ", as the installed OpenSM routes it",                   \
		.manual = what ".",                                                      \
		.is_outside = true,                                                      \
		.fits = fits_opensm,                                                     \
		.route = route_opensm,                                                   \
	}

ENGINE(minhop, "minhop", "Fewest hops, balanced by LID");
ENGINE(updn, "updn", "Up, then down, from roots");
ENGINE(dnup, "dnup",
       "As updn, also where adapters are nearer to the roots than some switches");
ENGINE(ftree, "ftree", "Fat trees, balanced for shifts");
ENGINE(lash, "lash",
       "Fewest hops, the pairs of switches spread over lanes without loops");
ENGINE(dor, "dor", "Dimension by dimension: meshes and hypercubes");
ENGINE(torus_2qos, "torus-2QoS", "Tori, by `torus_config` of `--opensm-conf`");
ENGINE(sssp, "sssp", "Fewest hops, balanced by weights");
ENGINE(dfsssp, "dfsssp",
       "Fewest hops, balanced by weights, the paths on lanes without loops");
ENGINE(nue, "nue", "Any fabric without loops in the available lanes (`nue_max_num_vls`)");
