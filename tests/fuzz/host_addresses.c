/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of hosts, and the configuration that is written with them. */
#include "fuzz.h"

#include "base/mem.h"
#include "boots.h"
#include "export/boot.h"

#include <stdio.h>

/* Nothing in an address can end a word or a line. */
static void check(const struct fab_host_address *e)
{
	NEVER((*e->mac && strlen(e->mac) != 17) ||
	      strspn(e->mac, "0123456789abcdef:") != strlen(e->mac) ||
	      strspn(e->ip, "0123456789.") != strlen(e->ip) || strlen(e->ip) > 15 ||
	      strspn(e->ip6, "0123456789abcdef:.") != strlen(e->ip6) ||
	      strlen(e->ip6) > 45);
}

/* What is written has a line a node, but in formats of lists and of JSON. */
static void export_all(const struct fab_machine *m,
		       const struct fab_host_addresses *addresses)
{
	FAB_AUTOFREE uint32_t *of = FAB_NEW0(m->n_nodes, uint32_t);
	const struct fab_boot_site site = {.addresses = addresses,
					   .kernel = "http://{address}/vmlinuz",
					   .params = "quiet"};
	FAB_AUTO(fab_batch_fini) struct fab_batch batch;

	NEVER(fab_batch_parse(m, "first:3", &batch, NULL));
	for (int format = 0; format < FAB_BOOT_TEMPLATE; format++) {
		FAB_AUTO(fab_boot_written_fini) struct fab_boot_written written;
		struct fab_err err = {""};
		FAB_AUTOFREE char *text = NULL;
		size_t n = 0, lines = 0;
		FILE *out = open_memstream(&text, &n);
		bool is_list = format >= FAB_BOOT_IPXE;
		int rc = fab_export_boot(&(struct fab_boot_target){.out = out},
					 (enum fab_boot_format)format, m, &batch, of,
					 &site, &written, &err);

		fclose(out);
		for (size_t i = 0; i < n; i++)
			lines += text[i] == '\n';
		NEVER(rc ? n || !*err.text : lines < (is_list ? 1 : batch.n));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_machine *m = fuzz_small_machine();
	struct fab_host_addresses *addresses = NULL;
	char *rest, *word;
	FAB_AUTOFREE char *copy = NULL;

	if (is_refused_at(fab_host_addresses_read("input", (const char *)bytes, n,
						  &addresses, ERR)))
		return 0;
	copy = rest = fab_strndup((const char *)bytes, n);
	while ((word = strsep(&rest, " \t\r\n#")) != NULL) {
		const struct fab_host_address *e =
			fab_host_addresses_find(addresses, word);

		NEVER(e && !fab_is_host_name(word));
		if (e)
			check(e);
	}
	export_all(m, addresses);
	fab_host_addresses_free(addresses);
	return 0;
}
