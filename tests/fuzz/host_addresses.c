/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of hosts, and the configuration that is written with them. */
#include "boots.h"
#include "export/boot.h"

/* What is written has a line a node, but in formats of lists and of JSON. */
static void export_all(const struct fab_machine *m,
		       const struct fab_host_addresses *addresses)
{
	FAB_AUTOFREE uint32_t *of = FAB_NEW0(m->n_nodes, uint32_t);
	const struct fab_boot_site site = {.addresses = addresses,
					   .kernel = "http://{address}/vmlinuz",
					   .params = "quiet"};
	FAB_AUTO(fab_batch_fini) struct fab_batch batch;

	OK(fab_batch_parse(m, "first:3", &batch, ERR));
	for (int format = 0; format < FAB_BOOT_TEMPLATE; format++) {
		FAB_AUTO(fab_boot_written_fini) struct fab_boot_written written;
		FAB_AUTO(fuzz_file_fini) struct fuzz_file file = {0};
		const struct fab_boot_target target = {.out = fuzz_open(&file)};
		bool is_list = format >= FAB_BOOT_IPXE;
		size_t lines = 0;
		int rc = fuzz_close(&file,
				    fab_export_boot(&target, (enum fab_boot_format)format,
						    m, &batch, of, &site, &written, ERR));

		for (size_t i = 0; i < file.n; i++)
			lines += file.text[i] == '\n';
		NEVER(is_refused(rc) ? file.n : lines < (is_list ? 1 : batch.n));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_machine *m = fuzz_small_machine();
	struct fab_host_addresses *addresses = NULL;
	FAB_AUTOFREE char *copy = fab_strndup((const char *)bytes, n);
	char *rest = copy, *word;

	if (is_refused_at(fab_host_addresses_read("input", (const char *)bytes, n,
						  &addresses, ERR)))
		return 0;
	while ((word = strsep(&rest, " \t\r\n#"))) {
		const struct fab_host_address *e =
			fab_host_addresses_find(addresses, word);

		if (!e)
			continue;
		/* nothing in an address can end a word or a line */
		NEVER(!fab_is_host_name(word) || (*e->mac && strlen(e->mac) != 17) ||
		      strspn(e->mac, "0123456789abcdef:") != strlen(e->mac) ||
		      strspn(e->ip, "0123456789.") != strlen(e->ip) ||
		      strlen(e->ip) > 15 || strlen(e->ip6) > 45 ||
		      strspn(e->ip6, "0123456789abcdef:.") != strlen(e->ip6));
	}
	export_all(m, addresses);
	fab_host_addresses_free(addresses);
	return 0;
}
