-- SPDX-License-Identifier: BSD-2-Clause
-- From version 1 to 2: what fabric-bootplan measures.
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
