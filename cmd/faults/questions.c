/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: options that ask for more than routing. */
#include <errno.h>
#include <stdlib.h>

#include "fabric/ranks.h"
#include "faults.h"
#include "unicast/criticality.h"
#include "unicast/reliability.h"

enum { PARTS_STORED_MAX = 100000 };
static const uint64_t CRITICALITY_STEPS = UINT64_C(4) * 1000 * 1000 * 1000;
/* Cases from which on two unknown faults at once take minutes. */
static const uint64_t REROUTE_CASES_MAX = 200 * 1000 * 1000;

static enum faults_kind kind_of(const struct fab_loss *loss)
{
	if (loss->part.is_cable)
		return FAULTS_LINK;
	return loss->is_leaf ? FAULTS_LEAF : FAULTS_ROOT;
}

static const char *kind_name(const struct fab_loss *loss)
{
	static const char *const names[] = {"leaf", "root", "link"};

	return names[kind_of(loss)];
}

/* Parts that go into the database one by one. */
static bool keeps_all(const struct faults_params *p, const struct fab_loss *loss)
{
	return p->store.path && loss->number < PARTS_STORED_MAX;
}

/* A row of what a loss costs; its name is on the heap. */
static struct faults_critical critical_of(const struct fab_fabric *f,
					  const struct fab_loss *loss,
					  const uint32_t *hosts)
{
	return (struct faults_critical){
		.number = loss->number,
		.name = fab_fault_text(f, loss->part),
		.kind = kind_name(loss),
		.host_ports = loss->part.is_cable ? 0 : hosts[loss->part.id],
		.pairs = loss->pairs,
		.interrupted = loss->interrupted,
		.unreachable = loss->unreachable,
		.rerouted = loss->unreachable_rerouted,
		.longer = loss->longer,
		.load = loss->load};
}

int faults_rank_parts(struct faults_params *p, struct faults_outcome *o,
		      struct fab_err *err)
{
	/* the last algorithm that was asked for; of the default ones the first */
	const struct faults_result *r =
		&o->results[p->has_algorithm || p->files.in.lfts ? o->n - 1 : 0];
	const struct fab_unicast_problem problem = faults_problem(p, o, o->faults);
	struct fab_cli_progress *bar =
		fab_cli_progress_new(&p->run, "single losses", "parts");
	const struct fab_losses_options options = {.steps = CRITICALITY_STEPS,
						   .shard = p->shard.part,
						   .progress = fab_cli_progress_tick,
						   .progress_context = bar};
	uint32_t *hosts = FAB_NEW(o->f->n_switches + 1, uint32_t);
	struct fab_losses losses;
	int rc = fab_losses_rank(&problem, r->engine, r->routes, &options, &losses, err);

	fab_cli_progress_free(bar);
	if (!rc && p->shard.part.count)
		rc = fab_cli_count_shard(&p->shard, losses.n_parts, "parts", err);
	if (rc) {
		free(hosts);
		return rc;
	}
	fab_ranks_count_hosts(o->f, hosts);
	for (size_t i = 0; i < losses.of.n; i++) {
		const struct fab_loss *loss = &losses.of.v[i];

		if (!loss->is_tried) { /* what it costs is not known */
			o->n_untried++;
			continue;
		}
		if (i < p->questions.criticality || keeps_all(p, loss))
			FAB_PUSH(&o->critical, critical_of(o->f, loss, hosts));
		if (o->worst[kind_of(loss)].n < p->questions.criticality)
			FAB_PUSH(&o->worst[kind_of(loss)],
				 critical_of(o->f, loss, hosts));
	}
	o->ranked = r;
	o->n_parts = losses.of.n;
	if (o->n_untried)
		fab_cli_warn(&p->run,
			     "--criticality: %llu parts with fewer pairs were not tried",
			     (unsigned long long)o->n_untried);
	free(losses.of.v);
	free(hosts);
	return 0;
}

int faults_local_reroute(const struct faults_params *p, struct faults_outcome *o,
			 struct fab_err *err)
{
	int rc = 0;

	if (!o->kfat)
		return fab_fail(err, EINVAL,
				"%s: --local-reroute needs a high-dimension fat tree; %s",
				p->input.fabric, o->kfat_error.text);
	for (unsigned burst = 1; burst <= FAB_LOCAL_REROUTE_BURST_MAX && !rc; burst++) {
		uint64_t n = o->kfat->n_leaves;
		struct fab_local_reroute d = {0};
		struct faults_local_reroutes row = {
			.unknown = burst, .known = (uint32_t)o->faults->named.n};

		if (burst > 1 && n * n * n > REROUTE_CASES_MAX) {
			fab_cli_warn(&p->run,
				     "--local-reroute: two unknown faults at once are "
				     "not tried, "
				     "%llu leaf switches are too many",
				     (unsigned long long)n);
			break;
		}
		rc = fab_local_reroute_all(o->kfat, o->faults, burst, p->run.threads, &d,
					   err);
		row.cases = d.cases;
		row.hops_more = d.segments_more * 2;
		row.stuck = d.stuck;
		FAB_PUSH(&o->rerouted, row);
	}
	return rc;
}
