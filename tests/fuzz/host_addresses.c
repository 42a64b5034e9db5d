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
	if ((*e->mac && strlen(e->mac) != 17) ||
	    strspn(e->mac, "0123456789abcdef:") != strlen(e->mac) ||
	    strspn(e->ip, "0123456789.") != strlen(e->ip) || strlen(e->ip) > 15)
		abort();
}

/* What is written has a line a node, and one a server where the format has them. */
static void export_all(const struct fab_machine *m,
		       const struct fab_host_addresses *addresses)
{
	uint32_t *of = FAB_NEW0(m->n_nodes, uint32_t);
	struct fab_batch batch;

	if (fab_batch_parse(m, "first:3", &batch, NULL))
		abort();
	for (int format = 0; format < FAB_N_BOOT_FORMATS; format++) {
		struct fab_err err = {""};
		char *text = NULL;
		size_t n = 0, lines = 0;
		FILE *out = open_memstream(&text, &n);
		int rc = fab_export_boot(out, (enum fab_boot_format)format, m, &batch, of,
					 addresses, "ipxe.efi", &err);

		fclose(out);
		for (size_t i = 0; i < n; i++)
			lines += text[i] == '\n';
		if (rc ? n || !*err.text : lines < batch.n || lines > batch.n + 5)
			abort();
		free(text);
	}
	fab_batch_fini(&batch);
	free(of);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_machine *m;
	struct fab_host_addresses *addresses = NULL;
	struct fab_err err = {""};
	char *copy, *rest, *word;

	if (!m)
		m = fuzz_small_machine();
	if (fab_host_addresses_read("input", (const char *)bytes, n, &addresses, &err)) {
		if (strncmp(err.text, "input:", 6) != 0)
			abort();
		return 0;
	}
	copy = rest = fab_strndup((const char *)bytes, n);
	while ((word = strsep(&rest, " \t\r\n#")) != NULL) {
		const struct fab_host_address *e =
			fab_host_addresses_find(addresses, word);

		if (e && !fab_is_host_name(word))
			abort();
		if (e)
			check(e);
	}
	export_all(m, addresses);
	free(copy);
	fab_host_addresses_free(addresses);
	return 0;
}
