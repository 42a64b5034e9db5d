/* SPDX-License-Identifier: BSD-2-Clause */
/* The example fabrics: counts, shape, and that they are what was generated. */
#include "source/source.h"
#include "support/test.h"

static const struct {
	const char *file, *spec; /* spec: NULL when made by hand */
	uint32_t switches, adapters, hosts, switch_links;
	const char *shape;
} examples[] = {
	{"fattree", "fattree:radix=8,levels=3", 80, 128, 128, 256,
	 "fattree levels=3 roots=16"},
	{"tapered", "pgft:m=12/4,w=1/2,p=1/3", 6, 48, 48, 24, "fattree levels=2 roots=2"},
	{"torus", "torus:dims=4x4x4", 64, 64, 64, 192, "torus 4x4x4"},
	{"dragonfly", "dragonfly:a=4,p=2,h=2", 36, 72, 72, 54 + 36,
	 "dragonfly groups=9 a=4"},
	{"kfat", "kfat:dims=4x4,hosts=4", 24, 64, 64, 32, "kfat 4x4"},
	{"two-rail", NULL, 6, 16, 8, 16, "fattree levels=2 roots=2"},
};

static struct fab_fabric *open_example(const char *name)
{
	const char *source = getenv("FAB_SOURCE_DIR");
	struct fab_fabric *f = NULL;
	FAB_AUTOFREE char *path = NULL;

	cr_assert(source, "FAB_SOURCE_DIR is not set");
	path = fab_format("%s/examples/fabrics/%s.txt", source, name);
	MUST(fab_source_open(path, NULL, &f, ERR));
	return f;
}

Test(examples, counts_and_shapes)
{
	for (size_t i = 0; i < FAB_COUNT(examples); i++) {
		const char *name = examples[i].file;
		FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = open_example(name);
		FAB_AUTO(fab_shape_free_at)
		struct fab_shape *shape = fab_shape_recognize(f);
		char text[64];

		cr_assert_eq(f->n_switches, examples[i].switches, "%s", name);
		cr_assert_eq(f->n_adapters, examples[i].adapters, "%s", name);
		cr_assert_eq(f->n_hosts, examples[i].hosts, "%s: %u", name, f->n_hosts);
		cr_assert_eq(f->n_switch_links, examples[i].switch_links, "%s", name);
		cr_assert_eq(f->n_host_links, examples[i].adapters, "%s", name);
		cr_assert_eq(f->n_warnings, 0, "%s", name);
		cr_assert_str_eq(fab_shape_text(shape, text, sizeof(text)),
				 examples[i].shape, "%s", name);
	}
}

/* Through the exporter, ibsim and ibnetdiscover nothing has changed. */
Test(examples, are_what_was_generated)
{
	for (size_t i = 0; i < FAB_COUNT(examples); i++) {
		FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL, *g = NULL;

		if (!examples[i].spec)
			continue;
		f = open_example(examples[i].file);
		g = test_gen(examples[i].spec);
		cr_assert_eq(fab_fabric_fingerprint(f), fab_fabric_fingerprint(g), "%s",
			     examples[i].file);
	}
}
