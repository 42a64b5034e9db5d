/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that exits runs in a process of its own, its outputs in files of a folder that the
 * test removes at the end.
 */
#pragma once

enum { TEMP_SIZE = 256 };

struct folder {
	char path[TEMP_SIZE];
};

/* Make an empty folder in TMPDIR, else in /tmp, and go into it; leave it and remove it.
 */
void folder_init(struct folder *f);
void folder_fini(struct folder *f);
/* The same for each test: TestSuite(name, .init = enter_folder, .fini = leave_folder). */
void enter_folder(void);
void leave_folder(void);

/* Wait status of `body`; standard output and error go to the files named. */
int run(void (*body)(void), const char *out, const char *err);

/* Contents of a small file, in a static buffer; "" when it does not exist. */
const char *slurp(const char *path);
void put(const char *path, const char *text);

/* Files in the working directory but `out` and `err`, hidden ones too. */
int n_files(void);
