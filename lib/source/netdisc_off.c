/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include <errno.h>

int fab_netdisc_read(struct fab_builder *b, const char *where, struct fab_err *err)
{
	(void)b;
	return fab_fail(
		err, ENOTSUP,
		"ib:%s: built without libibnetdisc, so that no fabric can be discovered",
		where);
}
