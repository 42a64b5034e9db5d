/* SPDX-License-Identifier: BSD-2-Clause */
/* The iPXE script of a server: kernel and initial file system from there. */
#include <stdlib.h>

#include "export/boot_impl.h"

void boot_write_ipxe(const struct boot_part *part)
{
	const struct fab_boot_site *site = part->plan->site;

	for (uint32_t i = part->first; i < part->end; i++) {
		const struct boot_server *s = &part->plan->server[i];
		char *kernel = boot_expand(site->kernel, s, "", false);
		char *initrd =
			site->initrd ? boot_expand(site->initrd, s, "", false) : NULL;
		char *params =
			site->params ? boot_expand(site->params, s, "", false) : NULL;

		fprintf(part->out,
			"#!ipxe\n# %s serves %u\n:again\nimgfree\nkernel %s%s%s%s || "
			"goto wait\n",
			s->name, s->n, kernel, initrd ? " initrd=initrd" : "",
			params ? " " : "", params ? params : "");
		if (initrd)
			fprintf(part->out, "initrd --name initrd %s || goto wait\n",
				initrd);
		fputs("boot || goto wait\n:wait\nsleep 10\ngoto again\n", part->out);
		free(kernel);
		free(initrd);
		free(params);
	}
}
