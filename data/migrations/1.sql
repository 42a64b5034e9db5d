-- SPDX-License-Identifier: BSD-2-Clause
-- From version 1 to 2: what fabric-bootplan and fabric-faults measure.

-- What a result is made of: sets of faults, numbers of faults. One number a row.
CREATE TABLE detail (
  result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  position INTEGER NOT NULL, -- of the part in the result, from 0
  part TEXT NOT NULL,        -- its name: what is dead
  name TEXT NOT NULL,        -- what is measured, as the field in the JSON output
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'real')),
  PRIMARY KEY (result, position, name)
) STRICT, WITHOUT ROWID;

-- One batch of nodes that boot together by one mapping and model: what fabric-bootplan computed
-- for every batch of a sweep. Those of the largest batch are results, too.
CREATE TABLE batch (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  position INTEGER NOT NULL, -- in the run, from 0
  algorithm TEXT NOT NULL,   -- as in result
  name TEXT NOT NULL,        -- as --boot has it
  nodes INTEGER NOT NULL,
  servers INTEGER NOT NULL,
  bandwidth_mbps REAL, -- null: no limit
  boot_seconds REAL,   -- null: some nodes never boot
  bottleneck TEXT,     -- null: no limit
  UNIQUE (run, position)
) STRICT;

-- The kinds of segments on the way of a batch, by equal shares.
CREATE TABLE segment (
  batch INTEGER NOT NULL REFERENCES batch ON DELETE CASCADE,
  position INTEGER NOT NULL, -- from 0, the nodes' first
  name TEXT NOT NULL,
  capacity_mbps REAL,            -- of the tightest one; null: no limit
  max_sharers INTEGER NOT NULL,  -- most nodes on any one
  share_mbps REAL NOT NULL,      -- least share of a node
  tightest TEXT NOT NULL,        -- which one that is
  PRIMARY KEY (batch, position)
) STRICT, WITHOUT ROWID;

INSERT INTO metric_kind (position, name, better, is_time, help) VALUES
  (13, 'boot_seconds', 'less', 0, 'time until the slowest node has its image'),
  (14, 'bandwidth_mbps', 'more', 0, 'Mb/s that the slowest node gets'),
  (15, 'max_sharers', 'less', 0, 'nodes on the segment that limits them'),
  (16, 'servers', NULL, 0, 'servers that serve a node of the batch');

-- For people: a line for each mapping and model of each run of fabric-bootplan.
CREATE VIEW bootplan AS
  SELECT run.id AS run, time, label, source, fingerprint, algorithm,
    (SELECT value FROM fact WHERE fact.run = run.id AND name = 'nodes') AS nodes,
    max(iif(metric.name = 'servers', value, NULL)) AS servers,
    max(iif(metric.name = 'bandwidth_mbps', value, NULL)) AS bandwidth_mbps,
    max(iif(metric.name = 'boot_seconds', value, NULL)) AS boot_seconds
  FROM run JOIN result ON result.run = run.id JOIN metric ON metric.result = result.id
  WHERE command = 'fabric-bootplan'
  GROUP BY result.id ORDER BY run.id, position;

INSERT INTO metric_kind (position, name, better, is_time, help) VALUES
  (17, 'unreachable', 'less', 0, 'ordered pairs without a way'),
  (18, 'pairs', NULL, 0, 'ordered pairs of sound leaf switches or end ports'),
  (19, 'max_hops', 'less', 0, 'switch-to-switch hops of the longest way'),
  (20, 'minimal', NULL, 0, 'pairs with a shortest way'),
  (21, 'vls', 'less', 0, 'virtual lanes that are used'),
  (22, 'sls', 'less', 0, 'service levels that are used'),
  (23, 'deadlock_free', 'more', 0, '1: no cycle of channel dependencies'),
  (24, 'cycle_channels', 'less', 0, 'channels in cycles'),
  (25, 'pairs_on_cycles', 'less', 0, 'pairs whose way follows a cycle'),
  (26, 'entries_changed', 'less', 0, 'table entries that differ from those without faults'),
  (27, 'load', 'less', 0, 'fullest direction of a cable, in what one host sends'),
  (28, 'seconds.route', 'less', 1, 'time for tables and lanes'),
  (29, 'seconds.judge', 'less', 1, 'time to trace all pairs and look for cycles'),
  (30, 'sets_unreachable', 'less', 0, 'sets of faults with unreachable pairs'),
  (31, 'sets_with_cycle', 'less', 0, 'sets of faults with a cycle'),
  (32, 'probability', 'less', 0, 'that some pair of sound leaf switches is unreachable'),
  (33, 'unreachable_share', 'less', 0, 'mean share of pairs that are unreachable');

-- For people: a line for each algorithm of each run of fabric-faults.
CREATE VIEW faults AS
  SELECT run.id AS run, time, label, source, fingerprint, algorithm,
    (SELECT value FROM fact WHERE fact.run = run.id AND name = 'faults') AS faults,
    (SELECT value FROM fact WHERE fact.run = run.id AND name = 'sets') AS sets,
    max(iif(metric.name = 'pairs', value, NULL)) AS pairs,
    max(iif(metric.name = 'unreachable', value, NULL)) AS unreachable,
    max(iif(metric.name = 'vls', value, NULL)) AS vls,
    max(iif(metric.name = 'sls', value, NULL)) AS sls,
    max(iif(metric.name = 'deadlock_free', value, NULL)) AS deadlock_free,
    max(iif(metric.name = 'load', value, NULL)) AS load
  FROM run JOIN result ON result.run = run.id JOIN metric ON metric.result = result.id
  WHERE command = 'fabric-faults'
  GROUP BY result.id ORDER BY run.id, position;

-- For people: a line for each batch, mapping and model of each run of fabric-bootplan.
CREATE VIEW sweep AS
  SELECT run.id AS run, time, label, source, fingerprint, algorithm, batch.name AS batch, nodes,
    servers, bandwidth_mbps, boot_seconds, bottleneck
  FROM run JOIN batch ON batch.run = run.id
  ORDER BY run.id, position;

-- For people: the same, a line for each kind of segment on the way.
CREATE VIEW share AS
  SELECT run, algorithm, batch.name AS batch, nodes, segment.name AS segment, capacity_mbps,
    max_sharers, share_mbps, tightest
  FROM batch JOIN segment ON segment.batch = batch.id
  ORDER BY run, batch.position, segment.position;
