/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/source.h"
#include "support/test.h"

#include <unistd.h>

char *data_path(const char *file)
{
	const char *data = getenv("FAB_TEST_DATA"), *source = getenv("FAB_SOURCE_DIR");
	char *folder = data && *data ? fab_strdup(data)
				     : fab_format("%s/../shared/topologies", source);
	char *path;

	if (access(folder, R_OK)) {
		free(folder);
		cr_skip_test("no folder of real dumps (set FAB_TEST_DATA)");
	}
	path = fab_format("%s/%s", folder, file);
	free(folder);
	return path;
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
	struct fab_fabric *f = NULL;
	struct fab_err err = {""};
	FAB_AUTOFREE char *path = data_path(file);
	int rc = fab_source_open(path, NULL, &f, &err);

	cr_assert(!rc, "%s: %s", file, err.text);
	return f;
}

struct fab_fabric *text_open(const char *text)
{
	struct fab_fabric *f = NULL;
	struct fab_err err = {""};
	int rc = fab_source_parse("t", text, strlen(text), NULL, &f, &err);

	cr_assert(!rc, "%s", err.text);
	return f;
}

const char *text_error(const char *text)
{
	static struct fab_err err;
	struct fab_fabric *f = NULL;
	int rc = fab_source_parse("t", text, strlen(text), NULL, &f, &err);

	cr_assert_eq(rc, -EINVAL, "read although it should not: %s", text);
	cr_assert_null(f);
	return err.text;
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
