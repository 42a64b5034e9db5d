/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/source.h"
#include "support/test.h"

#include <unistd.h>

char *data_path(const char *file)
{
	const char *data = getenv("FAB_TEST_DATA"), *source = getenv("FAB_SOURCE_DIR");
	OWN_HEAP char *folder = data && *data
					? fab_strdup(data)
					: fab_format("%s/../shared/topologies", source);

	if (access(folder, R_OK))
		cr_skip_test("no folder of real dumps (set FAB_TEST_DATA)");
	return fab_format("%s/%s", folder, file);
}

const char *const data_dumps[DATA_N_DUMPS + 1] = {
	"ibnetdiscover/ibtopotool-1.txt",
	"ibnetdiscover/ibtopotool-2.txt",
	"ibnetdiscover/psmn-x5-qdr.txt",
	"ibnetdiscover/selene-compute-hdr.txt",
	"ibnetdiscover/stage-qdr.txt",
	"ibnetdiscover/topograph-ndr.txt",
	"ibnetdiscover/ufm-director-puttylog.txt",
	"ibnetdiscover/ufm-lab-mixed.txt",
};

struct fab_fabric *data_open(const char *file)
{
	FAB_AUTOFREE char *path = data_path(file);
	struct fab_fabric *f = NULL;

	MUST(fab_source_open(path, NULL, &f, ERR));
	return f;
}

struct fab_fabric *text_open(const char *text)
{
	struct fab_fabric *f = NULL;

	MUST(fab_source_parse("t", text, strlen(text), NULL, &f, ERR));
	return f;
}

const char *text_error(const char *text)
{
	struct fab_fabric *f = NULL;

	FAILS(fab_source_parse("t", text, strlen(text), NULL, &f, ERR), -EINVAL, "");
	cr_assert_null(f);
	return test_err.text;
}

const struct fab_warning *find_warning(const struct fab_fabric *f, const char *code,
				       unsigned nth)
{
	for (uint32_t i = 0; i < f->n_warnings; i++)
		if (!strcmp(f->warnings[i].code, code) && !nth--)
			return &f->warnings[i];
	return NULL;
}

size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}
