-- SPDX-License-Identifier: BSD-2-Clause
-- From version 2 to 3: metrics belong to a command and come with its runs; what was asked
-- for; indexes for the filters of fabric-compare.

CREATE INDEX run_of_label ON run (label COLLATE NOCASE);
CREATE INDEX run_of_command ON run (command);
CREATE INDEX result_of_algorithm ON result (algorithm, run);

-- What the run was asked for, where it is no number: patterns of groups, faults, batches.
CREATE TABLE asked (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

ALTER TABLE metric_kind RENAME TO old_kind;
-- Which metrics a command has, and whether less or more of one is better. Every run brings
-- those of its command.
CREATE TABLE metric_kind (
  command TEXT NOT NULL,
  name TEXT NOT NULL,
  position INTEGER NOT NULL,                      -- the order in which people read them
  better TEXT CHECK (better IN ('less', 'more')), -- null: neither
  is_time INTEGER NOT NULL DEFAULT 0,             -- 1: differs from run to run
  unit TEXT,                                      -- s, Mb/s, B; null: a plain number
  help TEXT NOT NULL,
  PRIMARY KEY (command, name)
) STRICT, WITHOUT ROWID;
INSERT INTO metric_kind (command, name, position, better, is_time, unit, help)
  SELECT CASE WHEN position <= 12 THEN 'fabric-mcroute'
      WHEN position <= 16 THEN 'fabric-bootplan' ELSE 'fabric-faults' END,
    name, position, better, is_time,
    CASE WHEN is_time OR name = 'boot_seconds' THEN 's'
      WHEN name = 'bandwidth_mbps' THEN 'Mb/s' END,
    help
  FROM old_kind;
-- two that commands share
INSERT INTO metric_kind (command, name, position, better, is_time, unit, help)
  SELECT column1, name, 100 + position, better, is_time, unit,
    iif(is_time, 'all of it', '1: checked and sound, 0: not sound')
  FROM metric_kind JOIN (VALUES ('fabric-bootplan'), ('fabric-faults'))
  WHERE command = 'fabric-mcroute' AND name IN ('verified', 'seconds.total');
DROP TABLE old_kind;
