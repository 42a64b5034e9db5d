/* SPDX-License-Identifier: BSD-2-Clause */
/* What the worker of the plug-in does next, and its comparisons of tables with trees. */
#include "opensm/turn.h"
#include "support/test.h"

OWN_POINTER(fab_keeper)

/* Tables of one group: entries of a tree, as the test has them. */
static struct {
	bool exists;
	size_t n;
	struct fab_audit_entry entry[64];
} fake = {.exists = true};

static bool exists(void *context, uint32_t group)
{
	(void)context, (void)group;
	return fake.exists;
}

static size_t n_ports(void *context, uint32_t group)
{
	(void)context, (void)group;
	return fake.n;
}

static bool has_port(void *context, uint32_t group, uint64_t guid, uint8_t port)
{
	(void)context, (void)group;
	for (size_t i = 0; i < fake.n; i++)
		if (fake.entry[i].guid == guid && fake.entry[i].port == port)
			return true;
	return false;
}

static const char FABRIC[] = "fattree:radix=4,levels=3";

static struct fab_keeper *keeper(uint32_t n_groups)
{
	struct fab_fabric *f = test_gen(FABRIC);
	struct fab_keeper *k = fab_keeper_new(n_groups);
	uint64_t first[] = {0, 4, 8, 12}, guid[12];
	const struct fab_membership m = {.n = n_groups, .first = first, .guid = guid};
	struct fab_keeper_counts counts;

	for (uint32_t i = 0; i < 12; i++) {
		uint32_t adapter = (3 * (i % 4) + i / 4) % f->n_adapters;

		guid[i] = f->port_guid[fab_node_first_connected_port(f, f->n_switches +
										adapter)];
	}
	MUST(fab_keeper_renew(k, f, &m, &counts, ERR));
	return k;
}

Test(opensm_turn, trees_that_are_held_and_not)
{
	OWN(fab_keeper) *k = keeper(3);
	struct fab_audit_trees t = {0};
	const struct fab_audit_tables tables = {exists, n_ports, has_port, NULL};
	struct fab_live_tree tree = fab_keeper_tree(k, 0);

	/* part by part */
	cr_assert(fab_audit_add_part(k, 0, 3, 1, &t) == 1 && t.groups.n == 1);
	cr_assert_eq(t.entries.n, 2 * tree.n_edges + tree.n_members);
	cr_assert(fab_audit_add_part(k, 1, 3, 10000, &t) == 3 && t.groups.n == 3);
	for (size_t i = 0; i < 3; i++) {
		size_t first = i ? t.groups.v[i - 1].end : 0;
		size_t n = t.groups.v[i].end - first;

		cr_assert_leq(n, 63);
		memcpy(fake.entry, t.entries.v + first, n * sizeof(*fake.entry));
		/* one more, one less, another one */
		for (fake.n = n - 1; fake.n <= n + 1; fake.n++)
			cr_expect_eq(fab_audit_is_held(&tables, &t, i), fake.n == n);
		fake.n = n;
		fake.entry[n - 1].port++;
		cr_expect_not(fab_audit_is_held(&tables, &t, i));
		fake.entry[0].guid++;
		fake.exists = false;
		cr_expect(fab_audit_is_held(&tables, &t, i), "a group that has gone");
		fake.exists = true;
	}
	fab_audit_trees_fini(&t);
	/* no tree, nothing to hold */
	cr_assert_eq(fab_keeper_route(k, 1, NULL, 0, false, NULL), 1);
	fab_audit_add(k, 1, &t);
	cr_assert_eq(t.groups.n, 0);
}

/* A keeper that is to hold a port that the fabric has not: the others have their tree. */
Test(opensm_turn, ports_that_have_gone)
{
	OWN(fab_keeper) *k = keeper(1);
	struct fab_live_tree t = fab_keeper_tree(k, 0);
	uint64_t guid[5], first[] = {0, 5};
	bool is_held = true;
	struct fab_membership m = {1, first, guid, &is_held};
	struct fab_keeper_counts counts;

	for (uint32_t i = 0; i < 4; i++)
		guid[i] = fab_keeper_fabric(k)->port_guid[t.member[i]];
	guid[4] = 0x1234;
	cr_expect_eq(fab_keeper_route(k, 0, guid, 5, true, NULL), 0);
	cr_expect_eq(fab_keeper_tree(k, 0).n_members, 4);
	/* in a sweep likewise */
	MUST(fab_keeper_renew(k, test_gen(FABRIC), &m, &counts, ERR));
	cr_expect(counts.kept == 1 && counts.left == 0);
	is_held = false;
	MUST(fab_keeper_renew(k, test_gen(FABRIC), &m, &counts, ERR));
	cr_expect(counts.left == 1 && fab_keeper_route(k, 0, guid, 5, false, NULL) < 0);
}

static enum fab_audit_verdict judge(struct fab_audit *a, size_t n_wrong, bool has_error,
				    double now)
{
	const struct fab_audit_found found = {
		.is_quiet = true, .n_wrong = n_wrong, .has_error = has_error};

	return fab_audit_judge(a, &found, now);
}

Test(opensm_turn, attempts)
{
	struct fab_audit a = {0};
	double now = 1000;

	fab_audit_written(&a, now);
	fab_audit_written(&a, now + 1);
	cr_assert_eq(a.since, now);
	/* nothing is known while replies are outstanding */
	cr_assert_eq(fab_audit_judge(&a, &(struct fab_audit_found){.n_wrong = 1}, now),
		     FAB_AUDIT_AGAIN);
	cr_assert(a.is_due);
	cr_assert_float_eq(a.at, now + 0.2, 1e-9);
	cr_assert(judge(&a, 0, false, now) == FAB_AUDIT_HELD && !a.is_due);
	for (unsigned i = 0; i < FAB_AUDIT_ATTEMPTS; i++) {
		cr_assert(judge(&a, i % 2, true, now) == FAB_AUDIT_ASK_SWEEP && a.is_due);
		cr_assert_float_eq(a.at, now + (double)(1u << i), 1e-9);
		now = a.at;
	}
	cr_assert(judge(&a, 1, false, now) == FAB_AUDIT_LEFT && !a.is_due);
	cr_assert_eq(judge(&a, 1, false, now), FAB_AUDIT_SILENT);
	cr_assert_eq(judge(&a, 0, false, now), FAB_AUDIT_RECOVERED);
	cr_assert_eq(judge(&a, 0, false, now), FAB_AUDIT_HELD);
	cr_assert_eq(judge(&a, 1, false, now), FAB_AUDIT_ASK_PASS);
	cr_assert_float_eq(a.at, now + 1, 1e-9);
	/* attempts are forgotten after five minutes */
	for (int i = 0; i < 10; i++)
		judge(&a, 1, false, now);
	cr_assert_eq(judge(&a, 1, false, now + 300), FAB_AUDIT_SILENT);
	cr_assert_eq(judge(&a, 1, false, now + 301), FAB_AUDIT_ASK_PASS);
}

struct scene {
	struct fab_opensm_options o;
	struct fab_audit audit;
	struct fab_turn_state s;
	struct fab_pace *pace;
	double seconds;
};

static void scene_init(struct scene *c, const char *options, const char *groups)
{
	struct fab_announcements *list;

	*c = (struct scene){.pace = fab_pace_new()};
	fab_opensm_options_init(&c->o);
	MUST(fab_opensm_options_parse(options, &c->o, ERR));
	c->s = (struct fab_turn_state){.options = &c->o,
				       .audit = &c->audit,
				       .pace = c->pace,
				       .announced = fab_announced_new(4)};
	MUST(fab_announcements_parse("f", groups, &list, ERR));
	fab_announced_take(c->s.announced, list);
	fab_announcements_free(list);
}

static void scene_fini(struct scene *c)
{
	fab_pace_free(c->pace);
	fab_announced_free(c->s.announced);
}

static enum fab_turn next(struct scene *c, double now)
{
	return fab_turn_next(&c->s, now, &c->seconds);
}

Test(opensm_turn, modes)
{
	static const char *const modes[] = {"mode=off", "mode=own", "mode=dry-run"};

	for (size_t i = 0; i < FAB_COUNT(modes); i++) {
		FAB_AUTO(scene_fini) struct scene c;

		scene_init(&c, modes[i], "ff12::1 2");
		fab_pace_ask(c.pace);
		fab_audit_written(&c.audit, 1);
		cr_expect(next(&c, 1000) == FAB_TURN_WAIT && isinf(c.seconds));
		c.s.is_dry_due = true;
		cr_expect_eq(next(&c, 1000), i == 2 ? FAB_TURN_DRY_RUN : FAB_TURN_WAIT);
	}
	/* dry runs: once, and again for twice as many groups */
	for (uint32_t n = 0; n <= 10; n++)
		cr_expect(fab_turn_is_dry_run_due(n, 0) &&
			  fab_turn_is_dry_run_due(n, 5) == (n == 10));
}

Test(opensm_turn, steps_wait_for_comparisons)
{
	FAB_AUTO(scene_fini) struct scene c, other;

	scene_init(&c, "mode=on,min_interval=20", "");
	cr_expect(next(&c, 1000) == FAB_TURN_WAIT && isinf(c.seconds));
	fab_pace_ask(c.pace);
	cr_expect_eq(next(&c, 1000), FAB_TURN_BALANCE);
	c.s.has_found = true;
	cr_expect_eq(next(&c, 1000), FAB_TURN_WAIT, "what was found is written first");
	c.s.has_found = false;
	fab_audit_written(&c.audit, 1000);
	cr_expect_eq(next(&c, 1000), FAB_TURN_AUDIT);
	c.audit.at = 1005;
	cr_expect_eq(next(&c, 1001), FAB_TURN_WAIT);
	cr_expect_float_eq(c.seconds, 4, 1e-9);
	/* groups that change all the time: after the interval, steps all the same */
	c.audit.at = 1030;
	cr_expect(next(&c, 1019) == FAB_TURN_WAIT && next(&c, 1020) == FAB_TURN_BALANCE);
	fab_pace_begin(c.pace, 1020);
	cr_expect(next(&c, 1029) == FAB_TURN_WAIT && next(&c, 1030) == FAB_TURN_AUDIT);
	/* with no interval, no sooner than after ten seconds */
	scene_init(&other, "mode=on,min_interval=0", "");
	fab_audit_written(&other.audit, 1000);
	other.audit.at = 2000;
	fab_pace_ask(other.pace);
	cr_expect_eq(next(&other, 1009), FAB_TURN_WAIT);
	cr_expect_eq(next(&other, 1010), FAB_TURN_BALANCE);
}

Test(opensm_turn, announced_groups)
{
	static const struct fab_mgid mgid = {{0xff, 0x12, [15] = 1}};
	const uint64_t guid[] = {1, 2};
	struct fab_announced_group g = {.number = 0, .mgid = &mgid, .guid = guid, .n = 1};
	FAB_AUTO(scene_fini) struct scene c;
	FILE *null = fopen("/dev/null", "w");

	cr_assert_not_null(null);
	scene_init(&c, "mode=on,groups=/g,states=/s", "ff12::1 2 30");
	c.s.at[FAB_TURN_READ] = 99.99;
	cr_expect_eq(next(&c, 100), FAB_TURN_PUBLISH);
	c.s.at[FAB_TURN_PUBLISH] = 100;
	fab_announced_print(c.s.announced, 0, 9, 0, null);
	cr_expect_eq(next(&c, 100), FAB_TURN_WAIT);
	cr_expect_float_eq(c.seconds, 0.01, 1e-9);
	cr_expect_eq(next(&c, 100.02), FAB_TURN_READ);
	c.s.at[FAB_TURN_READ] = 1e9; /* no more */
	/* its states, no sooner than 10 ms after the last time, or 20 times as long as
	 * that took */
	fab_announced_decide(c.s.announced, &g, 100);
	c.s.at[FAB_TURN_LOOK] = 100;
	cr_expect_eq(next(&c, 100.005), FAB_TURN_WAIT);
	cr_expect_eq(next(&c, 100.011), FAB_TURN_PUBLISH);
	c.s.published_s = 0.01;
	cr_expect_eq(next(&c, 100.19), FAB_TURN_WAIT);
	cr_expect_eq(next(&c, 100.21), FAB_TURN_PUBLISH);
	fab_announced_print(c.s.announced, 0, 9, 0, null);
	cr_expect(next(&c, 100.9) == FAB_TURN_WAIT && next(&c, 101.1) == FAB_TURN_LOOK);
	c.s.at[FAB_TURN_LOOK] = 1e9;
	cr_expect_eq(next(&c, 129), FAB_TURN_WAIT);
	cr_expect_float_eq(c.seconds, 1, 1e-9);
	cr_expect_eq(next(&c, 130), FAB_TURN_EXPIRE);
	/* complete: looked for in the tables, more seldom as time goes on */
	g.n = 2;
	fab_announced_decide(c.s.announced, &g, 101);
	fab_announced_print(c.s.announced, 0, 9, 0, null);
	c.s.written_at = c.s.at[FAB_TURN_CONFIRM] = 101;
	cr_expect_eq(next(&c, 101.004), FAB_TURN_WAIT);
	cr_expect_eq(next(&c, 101.006), FAB_TURN_CONFIRM);
	c.s.at[FAB_TURN_CONFIRM] = 102;
	cr_expect_eq(next(&c, 102.05), FAB_TURN_WAIT);
	cr_expect_eq(next(&c, 102.15), FAB_TURN_CONFIRM);
	c.s.at[FAB_TURN_CONFIRM] = 110;
	cr_expect_eq(next(&c, 110.21), FAB_TURN_CONFIRM);
	fclose(null);
}
