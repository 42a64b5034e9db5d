/* SPDX-License-Identifier: BSD-2-Clause */
/* Who sends to whom, by the bits of the hosts' numbers. */
#include <errno.h>

#include "traffic/permutation.h"

/* Bits of a number of hosts; EINVAL: it is no power of two. */
static int count_bits(const struct fab_permutation_problem *p, const char *name,
		      unsigned *bits, struct fab_err *err)
{
	uint32_t n = p->ends->n;

	if (!n || n & (n - 1))
		return fab_fail(
			err, EINVAL,
			"permutation %s needs a power of two of live hosts, there "
			"are %u",
			name, n);
	*bits = (unsigned)__builtin_ctz(n);
	return 0;
}

static int complement(const struct fab_permutation_problem *p, const char *argument,
		      uint32_t *to, struct fab_err *err)
{
	unsigned bits = 0;
	int rc = count_bits(p, "bitcomp", &bits, err);

	(void)argument;
	for (uint32_t i = 0; i < p->ends->n && !rc; i++)
		to[i] = ~i & (p->ends->n - 1);
	return rc;
}

static int reverse_bits(const struct fab_permutation_problem *p, const char *argument,
			uint32_t *to, struct fab_err *err)
{
	unsigned bits = 0;
	int rc = count_bits(p, "bitrev", &bits, err);

	(void)argument;
	for (uint32_t i = 0; i < p->ends->n && !rc; i++) {
		to[i] = 0;
		for (unsigned b = 0; b < bits; b++)
			to[i] |= (i >> b & 1) << (bits - 1 - b);
	}
	return rc;
}

const struct fab_permutation fab_permutation_bitcomp = {
	.form = "bitcomp",
	.summary = "all bits of the number turned over",
	.manual =
		"To the host whose number has every bit the other way; needs a power of "
		"two "
		"of hosts, as `bitrev` does.",
	.make = complement,
};

const struct fab_permutation fab_permutation_bitrev = {
	.form = "bitrev",
	.summary = "the bits of the number in reverse order",
	.manual = "To the host whose number has the bits in reverse order.",
	.make = reverse_bits,
};
