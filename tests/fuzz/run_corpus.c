/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: TARGET FOLDER   try every file of a corpus, without libFuzzer */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a block of exactly its size, so that sanitizers see a step behind its end. */
static int try_file(const char *folder, const char *name)
{
	char path[4096];
	uint8_t *bytes;
	long n;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	in = fopen(path, "rb");
	if (!in || fseek(in, 0, SEEK_END) || (n = ftell(in)) < 0 ||
	    fseek(in, 0, SEEK_SET)) {
		perror(path);
		return 1;
	}
	bytes = malloc((size_t)n + !n);
	if (!bytes || fread(bytes, 1, (size_t)n, in) != (size_t)n) {
		perror(path);
		return 1;
	}
	fclose(in);
	printf("%s\n", name);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, (size_t)n);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent *entry;
	int tried = 0, failed = 0;
	DIR *folder;

	if (argc != 2)
		return 2;
	folder = opendir(argv[1]);
	if (!folder) {
		perror(argv[1]);
		return 1;
	}
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		failed += try_file(argv[1], entry->d_name);
		tried++;
	}
	closedir(folder);
	printf("%d files\n", tried);
	return failed || !tried;
}
