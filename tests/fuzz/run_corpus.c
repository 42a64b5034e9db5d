/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: TARGET FOLDER   try every file of a corpus, without libFuzzer */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

/* In a block of exactly its size, so that sanitizers see a step behind its end. */
static bool try_file(const char *folder, const char *name)
{
	FAB_AUTOFREE char *path = fab_format("%s/%s", folder, name);
	FAB_AUTOFREE uint8_t *bytes = NULL;
	FILE *in = fopen(path, "rb");
	struct stat file;
	size_t n = 0;

	if (in && !fstat(fileno(in), &file)) {
		n = (size_t)file.st_size;
		bytes = malloc(n);
	}
	if (!bytes || fread(bytes, 1, n, in) != n) {
		perror(path);
		return false;
	}
	fclose(in);
	puts(name);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, n);
	return true;
}

int main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	int tried = 0, failed = 0;
	struct dirent *entry;

	if (!folder) {
		perror(argv[argc - 1]);
		return 2;
	}
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.') {
			failed += !try_file(argv[1], entry->d_name);
			tried++;
		}
	closedir(folder);
	printf("%d files\n", tried);
	return failed || !tried;
}
