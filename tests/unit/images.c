/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/images.h"
#include "boot/plan.h"
#include "boot/transfer.h"
#include "support/boots.h"
#include "support/test.h"

enum { NODES_MAX = 6, IMAGE_MB = 100, ROUNDS = 60 / TEST_SHARE };

static const struct fab_transfer_options options = {.image_bytes = IMAGE_MB * 1000000,
						    .n_files = 1};

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

Test(images, forms)
{
	char bad[] = "|4GB|:4GB|n1:|n1:0MB|n1:4Gb|n1:4GB:|n1:4GB:,i|n1:4GB:k,";
	struct fab_image x;

	MUST(fab_image_parse("login*:4GB", &memory, &x, ERR));
	cr_expect_str_eq(x.nodes, "login*");
	cr_expect_eq(x.bytes, UINT64_C(4000000000));
	cr_expect_null(x.kernel);
	cr_expect_null(x.initrd);
	MUST(fab_image_parse("a:b,c[1-2]:1MiB:http://{server}:80/k,http://x/i", &memory,
			     &x, ERR));
	cr_expect_str_eq(x.nodes, "a:b,c[1-2]");
	cr_expect_str_eq(x.kernel, "http://{server}:80/k");
	cr_expect_str_eq(x.initrd, "http://x/i");
	for (char *text, *rest = bad; (text = strsep(&rest, "|"));)
		FAILS(fab_image_parse(text, &memory, &x, ERR), -EINVAL,
		      "expected GROUP:SIZE");
}

Test(images, groups)
{
	static const struct fab_image images[] = {{.nodes = "rack1", .bytes = 2000},
						  {.nodes = "node[0-1]", .bytes = 1000},
						  {.nodes = "node2", .bytes = 1000}};
	static const struct fab_image twice[] = {{.nodes = "rack0", .bytes = 1},
						 {.nodes = "node1", .bytes = 1}};
	static const struct fab_image server = {.nodes = "server0", .bytes = 1};
	static const struct fab_image unknown = {.nodes = "rack7", .bytes = 1};
	static const struct fab_image rest = {.bytes = 2000};
	OWN(fab_machine) *m = boots_machine("rack=2@2G,node=3@1G/server=2@1G");
	uint32_t of[NODES_MAX];

	MUST(fab_images_find(m, images, 3, of, ERR));
	cr_expect_arr_eq(of, ((uint32_t[]){1, 1, 2, 0, 0, 0}), sizeof(of));
	fab_images_merge(images, 3, &rest, of, NODES_MAX);
	cr_expect_arr_eq(of, ((uint32_t[]){1, 1, 1, FAB_NONE, FAB_NONE, FAB_NONE}),
			 sizeof(of));
	FAILS(fab_images_find(m, twice, 2, of, ERR), -EINVAL,
	      "'node1' is in 'rack0' and in 'node1'");
	FAILS(fab_images_find(m, &server, 1, of, ERR), -EINVAL, "is no node that boots");
	FAILS(fab_images_find(m, &unknown, 1, of, ERR), -ENOENT, "rack7");
}

/* The end of a mapping by a model, in seconds. */
static double end_of(const struct fab_machine *m, const struct fab_batch *all,
		     const uint32_t *of, bool is_max_min)
{
	FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};
	struct fab_share share;

	MUST(fab_share_of(m, all, of, &share, ERR));
	cr_expect_float_eq(fab_share_pace(&share), fab_share_slowest_brute(m, all, of),
			   1e-9 * fab_share_pace(&share));
	if (!is_max_min)
		return fab_transfer_equal_share_seconds(&share, &options);
	MUST(fab_transfer_run(m, all, of, &options, &t, ERR));
	/* what is left to the last node grows only */
	cr_expect_leq(t.last_s,
		      fab_transfer_equal_share_seconds(&share, &options) * (1 + 1e-9));
	return t.last_s;
}

static const char *const machines[] = {
	"rack=2@2G,node=3@1G/server=2@1G",
	"rack=3@300M,node=2@1G/server=2@1G",
	"rack=2@2G,node=3@1G/cascade=2@500M,server=2@1G",
};

/* All mappings of a small machine: none is better than the bound, nor is `balanced`
 * better than the best or much worse. */
TEST_EACH(number, FAB_COUNT(machines), images, balanced_by_brute_force)
{
	static const double sizes[] = {1, 0.5, 0.3, 0.1};
	OWN(fab_machine) *m = boots_machine(machines[*number]);
	OWN(fab_batch) all = boots_batch(m, "all");
	struct fab_rng rng;
	uint32_t n_best[2] = {0};

	fab_rng_init(&rng, 7 + (uint64_t)*number);
	for (int round = 0; round < ROUNDS; round++) {
		double part[NODES_MAX], least[2] = {INFINITY, INFINITY}, bound;
		uint32_t of[NODES_MAX], n_all = 1;

		for (uint32_t k = 0; k < m->n_nodes; k++) {
			part[k] = k ? sizes[fab_rng_below(&rng, 4)] : 1;
			n_all *= m->n_interfaces;
		}
		m->image_part = part;
		bound = IMAGE_MB * 8 / fab_mapping_upper_bound_mbps(m, &all);
		for (uint32_t x = 0; x < n_all; x++) {
			for (uint32_t k = 0, left = x; k < m->n_nodes;
			     k++, left /= m->n_interfaces)
				of[k] = left % m->n_interfaces;
			for (int model = 0; model < 2; model++)
				least[model] =
					fmin(least[model], end_of(m, &all, of, model));
		}
		for (int model = 0; model < 2; model++) {
			struct fab_mapping_problem p = {
				.m = m, .batch = &all, .timed = model ? &options : NULL};
			double own;

			MUST(boots_engine("balanced")->map(&p, of, ERR));
			own = end_of(m, &all, of, model);
			cr_expect_leq(bound, least[model] * (1 + 1e-9));
			cr_expect_geq(own, least[model] * (1 - 1e-9));
			cr_expect_leq(own, least[model] * 1.5);
			n_best[model] += own <= least[model] * (1 + 1e-9);
		}
		m->image_part = NULL;
	}
	/* by max-min moves are tried; by equal shares two rules */
	cr_expect_geq(n_best[1], ROUNDS * 9 / 10, "%u of %d", n_best[1], ROUNDS);
	cr_expect_geq(n_best[0], ROUNDS / 3, "%u of %d", n_best[0], ROUNDS);
}
