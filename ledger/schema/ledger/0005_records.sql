-- What people believed, predicted and decided: experiments, design briefs, and the evidence they point
-- to. The rules of their states are triggers, so that no program can go around them.

-- table: Links from experiments and briefs to evidence. A link is taken back by a row that retracts it.
CREATE TABLE record_link (
  row INTEGER PRIMARY KEY,  -- order of appending
  link_id TEXT NOT NULL UNIQUE CHECK (length(link_id) = 26),  -- ULID made from what it links: the same on every host
  record_kind TEXT NOT NULL CHECK (record_kind IN ('experiment', 'brief')),  -- what links
  record_id TEXT NOT NULL CHECK (length(record_id) = 26),  -- experiment_id or brief_id
  role TEXT NOT NULL CHECK (role IN ('baseline', 'instrumented', 'abba', 'supports', 'contradicts')),  -- what the target is to it
  target_kind TEXT NOT NULL CHECK (target_kind IN ('run', 'capture', 'verdict', 'calibration', 'plan', 'artifact', 'experiment', 'brief')),  -- what is linked
  target_id TEXT NOT NULL CHECK (length(target_id) IN (26, 64)),  -- its id
  retracts INTEGER UNIQUE REFERENCES record_link (row),  -- link it takes back; NULL: it is a link
  note TEXT CHECK (note <> ''),  -- one line; NULL: none
  recorded_utc TEXT NOT NULL CHECK (recorded_utc GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]Z')  -- when
) STRICT;
CREATE INDEX record_link_record ON record_link (record_kind, record_id);
CREATE INDEX record_link_target ON record_link (target_kind, target_id);

CREATE TRIGGER record_link_retracts BEFORE INSERT ON record_link WHEN NEW.retracts IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'record_link: the retracted link is missing or a retraction itself; name the row of a link')
  WHERE NOT EXISTS (
    SELECT 1 FROM record_link AS l WHERE l.row = NEW.retracts AND l.retracts IS NULL);
  SELECT RAISE(ABORT, 'record_link: the link is retracted already; leave it')
  FROM record_link AS l
  WHERE l.retracts = NEW.retracts;
  SELECT RAISE(ABORT, 'record_link: a retraction repeats what it retracts; copy record, role and target')
  FROM record_link AS l
  WHERE l.row = NEW.retracts
    AND (l.record_kind <> NEW.record_kind OR l.record_id <> NEW.record_id OR l.role <> NEW.role
      OR l.target_kind <> NEW.target_kind OR l.target_id <> NEW.target_id);
END;

-- Records refer to links and not the other way round: a merge brings the links first, so that the
-- decision that rests on one finds it.

-- table: Revisions of experiment records. The newest revision of an experiment counts.
CREATE TABLE experiment (
  row INTEGER PRIMARY KEY,  -- order of appending
  revision_id TEXT NOT NULL UNIQUE CHECK (length(revision_id) = 26),  -- ULID of this revision
  experiment_id TEXT NOT NULL CHECK (length(experiment_id) = 26),  -- ULID of the experiment: that of its first revision
  supersedes INTEGER UNIQUE REFERENCES experiment (row),  -- revision it takes the place of; NULL: the first
  state TEXT NOT NULL CHECK (state IN ('draft', 'open', 'decided')),  -- draft, open or decided
  slug TEXT NOT NULL CHECK (slug GLOB '[a-z]*' AND slug NOT GLOB '*[^a-z0-9-]*'),  -- short name, part of its folder's name
  number INTEGER CHECK (number > 0),  -- number of its folder; NULL: never exported
  title TEXT NOT NULL CHECK (title <> ''),  -- one line
  recorded_utc TEXT NOT NULL CHECK (recorded_utc GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]Z'),  -- when this revision was made
  program_and_shape TEXT,  -- what is proven, on which shape; NULL: not stated
  identities TEXT,  -- binary, module, toolchain and device identities; NULL: not stated
  baseline TEXT,  -- verified-request and device-stage times it is held against; NULL: not stated
  dominant_mechanism TEXT,  -- what is believed to limit it; NULL: not stated
  predicted_movement TEXT,  -- the prediction, one item per line; NULL: not stated
  code_change TEXT,  -- what was changed; NULL: not stated
  parity_gates TEXT,  -- what must stay exactly equal; NULL: not stated
  instrumented_result TEXT,  -- what profilers showed; explains, decides nothing; NULL: not stated
  abba_result TEXT,  -- uninstrumented paired result; NULL: not stated
  memory_and_fallback_delta TEXT,  -- peak memory and fallbacks, before and after; NULL: not stated
  prediction_json TEXT CHECK (prediction_json IS NULL OR json_valid(prediction_json)),  -- the same prediction as a JSON list; NULL: none
  decision TEXT CHECK (decision IN ('keep', 'reject', 'investigate')),  -- keep, reject or investigate; NULL: undecided
  decision_reason TEXT,  -- why
  verdict_link INTEGER REFERENCES record_link (row),  -- link to the verdict the decision rests on
  no_verdict_reason TEXT,  -- why there is no verdict to rest on
  correction TEXT,  -- why a decided revision was revised
  CHECK ((predicted_movement IS NULL) = (prediction_json IS NULL))
) STRICT;
CREATE INDEX experiment_id_index ON experiment (experiment_id);
CREATE INDEX experiment_slug ON experiment (slug);
CREATE INDEX experiment_number ON experiment (number);

-- table: Revisions of design briefs. The newest revision of a brief counts.
CREATE TABLE brief (
  row INTEGER PRIMARY KEY,  -- order of appending
  revision_id TEXT NOT NULL UNIQUE CHECK (length(revision_id) = 26),  -- ULID of this revision
  brief_id TEXT NOT NULL CHECK (length(brief_id) = 26),  -- ULID of the brief: that of its first revision
  supersedes INTEGER UNIQUE REFERENCES brief (row),  -- revision it takes the place of; NULL: the first
  state TEXT NOT NULL CHECK (state IN ('draft', 'open', 'decided')),  -- draft, open or decided
  slug TEXT NOT NULL CHECK (slug GLOB '[a-z]*' AND slug NOT GLOB '*[^a-z0-9-]*'),  -- short name, part of its folder's name
  number INTEGER CHECK (number > 0),  -- number of its folder; NULL: never exported
  title TEXT NOT NULL CHECK (title <> ''),  -- one line
  recorded_utc TEXT NOT NULL CHECK (recorded_utc GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]Z'),  -- when this revision was made
  program_families_and_targets TEXT,  -- program families and target GPUs; NULL: not stated
  correctness_and_oracle TEXT,  -- correctness and final oracle; NULL: not stated
  measurement_boundary_and_profile TEXT,  -- measurement boundary and current profile; NULL: not stated
  program_nodes_and_barriers TEXT,  -- ProofProgram nodes and transcript barriers; NULL: not stated
  lifetime_alias_table TEXT,  -- resource lifetimes and what may share memory; NULL: not stated
  accounted_peak TEXT,  -- accounted peak and in-flight multiplier; NULL: not stated
  cache_identity TEXT,  -- module and plan cache identity; NULL: not stated
  stream_event_graph TEXT,  -- stream and event dependency graph; NULL: not stated
  graph_regions TEXT,  -- graph-capture regions and parameter updates; NULL: not stated
  passes_and_bytes TEXT,  -- global-memory passes and bytes by stage; NULL: not stated
  transfer_and_sync_plan TEXT,  -- host/device transfer and synchronization plan; NULL: not stated
  failure_ownership TEXT,  -- who owns what when a failure unwinds; NULL: not stated
  class_effects TEXT,  -- predicted structural-class effects; NULL: not stated
  validation_plan TEXT,  -- validation and ABBA plan; NULL: not stated
  decision TEXT CHECK (decision IN ('keep', 'reject', 'investigate')),  -- keep, reject or investigate; NULL: undecided
  decision_reason TEXT,  -- why
  verdict_link INTEGER REFERENCES record_link (row),  -- link to the verdict the decision rests on
  no_verdict_reason TEXT,  -- why there is no verdict to rest on
  correction TEXT  -- why a decided revision was revised
) STRICT;
CREATE INDEX brief_id_index ON brief (brief_id);
CREATE INDEX brief_slug ON brief (slug);
CREATE INDEX brief_number ON brief (number);

CREATE TRIGGER experiment_first BEFORE INSERT ON experiment WHEN NEW.supersedes IS NULL BEGIN
  SELECT RAISE(ABORT, 'experiment: a first revision is a draft; add it as a draft, then open it')
  WHERE NEW.state <> 'draft';
  SELECT RAISE(ABORT, 'experiment: a first revision gives the experiment its id; make experiment_id equal to revision_id')
  WHERE NEW.experiment_id <> NEW.revision_id;
END;

CREATE TRIGGER experiment_next BEFORE INSERT ON experiment WHEN NEW.supersedes IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'experiment: the superseded revision is missing; name the row of the newest revision')
  WHERE NOT EXISTS (SELECT 1 FROM experiment AS old WHERE old.row = NEW.supersedes);
  SELECT RAISE(ABORT, 'experiment: a revision of another experiment is superseded; keep the experiment_id')
  FROM experiment AS old
  WHERE old.row = NEW.supersedes AND old.experiment_id <> NEW.experiment_id;
  SELECT RAISE(ABORT, 'experiment: the superseded revision has a successor; supersede the newest revision')
  FROM experiment AS old
  WHERE old.supersedes = NEW.supersedes;
  SELECT RAISE(ABORT, 'experiment: the revision is older than the one it supersedes; set the clock right')
  FROM experiment AS old
  WHERE old.row = NEW.supersedes AND NEW.recorded_utc < old.recorded_utc;
  SELECT RAISE(ABORT, 'experiment: there is no way back to a draft; add a new experiment, or keep the state')
  FROM experiment AS old
  WHERE old.row = NEW.supersedes AND NEW.state = 'draft' AND old.state <> 'draft';
  SELECT RAISE(ABORT, 'experiment: a draft is opened before it is decided; add an open revision first')
  FROM experiment AS old
  WHERE old.row = NEW.supersedes AND NEW.state = 'decided' AND old.state = 'draft';
  SELECT RAISE(ABORT, 'experiment: a decision stays; correct it with a decided revision that has a correction')
  FROM experiment AS old
  WHERE old.row = NEW.supersedes AND NEW.state = 'open' AND old.state = 'decided';
  SELECT RAISE(ABORT, 'experiment: program and shape, baseline, mechanism and prediction stay as they were opened; add a new experiment for another claim')
  FROM experiment AS old
  WHERE old.row = NEW.supersedes AND old.state <> 'draft'
    AND (NEW.program_and_shape IS NOT old.program_and_shape OR NEW.baseline IS NOT old.baseline OR
      NEW.dominant_mechanism IS NOT old.dominant_mechanism OR
      NEW.predicted_movement IS NOT old.predicted_movement OR
      NEW.prediction_json IS NOT old.prediction_json);
  -- A number is an address: a decided revision may get one without being corrected.
  SELECT RAISE(ABORT, 'experiment: what is decided changes only by a correction; say in correction, anew, why')
  FROM experiment AS old
  WHERE old.row = NEW.supersedes AND NEW.state = 'decided' AND old.state = 'decided'
    AND (NEW.correction IS NULL OR trim(NEW.correction) = '' OR NEW.correction = old.correction)
    AND NOT (old.number IS NULL AND NEW.number IS NOT NULL
      AND NEW.slug IS old.slug AND NEW.title IS old.title AND
      NEW.program_and_shape IS old.program_and_shape AND NEW.identities IS old.identities AND
      NEW.baseline IS old.baseline AND NEW.dominant_mechanism IS old.dominant_mechanism AND
      NEW.predicted_movement IS old.predicted_movement AND
      NEW.code_change IS old.code_change AND NEW.parity_gates IS old.parity_gates AND
      NEW.instrumented_result IS old.instrumented_result AND
      NEW.abba_result IS old.abba_result AND
      NEW.memory_and_fallback_delta IS old.memory_and_fallback_delta AND
      NEW.prediction_json IS old.prediction_json AND NEW.decision IS old.decision AND
      NEW.decision_reason IS old.decision_reason AND NEW.verdict_link IS old.verdict_link AND
      NEW.no_verdict_reason IS old.no_verdict_reason AND NEW.correction IS old.correction);
  SELECT RAISE(ABORT, 'experiment: only what is decided can be corrected; leave correction out')
  FROM experiment AS old
  WHERE old.row = NEW.supersedes AND NEW.correction IS NOT NULL AND old.state <> 'decided';
END;

CREATE TRIGGER experiment_state BEFORE INSERT ON experiment BEGIN
  SELECT RAISE(ABORT, 'experiment: the prediction is no list; write prediction_json as a JSON list')
  WHERE json_type(NEW.prediction_json) <> 'array';
  SELECT RAISE(ABORT, 'experiment: nothing is opened without a prediction; predict at least one movement')
  WHERE NEW.state <> 'draft' AND coalesce(json_array_length(NEW.prediction_json), 0) = 0;
  SELECT RAISE(ABORT, 'experiment: program and shape, baseline and mechanism are needed to leave the draft; fill them in')
  WHERE NEW.state <> 'draft'
    AND (trim(coalesce(NEW.program_and_shape, '')) = '' OR trim(coalesce(NEW.baseline, '')) = '' OR
      trim(coalesce(NEW.dominant_mechanism, '')) = '');
  SELECT RAISE(ABORT, 'experiment: a decision, its reasons and corrections belong to the state decided; decide it')
  WHERE NEW.state <> 'decided'
    AND coalesce(NEW.decision, NEW.decision_reason, NEW.verdict_link, NEW.no_verdict_reason,
      NEW.correction) IS NOT NULL;
  SELECT RAISE(ABORT, 'experiment: what is decided has a decision; decide keep, reject or investigate')
  WHERE NEW.state = 'decided' AND NEW.decision IS NULL;
  SELECT RAISE(ABORT, 'experiment: a decision rests on a verdict; link one, or give no_verdict_reason')
  WHERE NEW.state = 'decided' AND NEW.verdict_link IS NULL AND trim(coalesce(NEW.no_verdict_reason, '')) = '';
  SELECT RAISE(ABORT, 'experiment: verdict_link is no link from this experiment to a verdict; link the verdict first')
  WHERE NEW.verdict_link IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM record_link AS l
    WHERE l.row = NEW.verdict_link AND l.retracts IS NULL AND l.target_kind = 'verdict'
      AND l.record_kind = 'experiment' AND l.record_id = NEW.experiment_id);
  -- A retraction made later leaves the decision as it was made.
  SELECT RAISE(ABORT, 'experiment: the verdict''s link was retracted before the decision; link a verdict that holds')
  WHERE EXISTS (
    SELECT 1 FROM record_link AS r
    WHERE r.retracts = NEW.verdict_link AND r.recorded_utc <= NEW.recorded_utc);
END;

CREATE TRIGGER brief_first BEFORE INSERT ON brief WHEN NEW.supersedes IS NULL BEGIN
  SELECT RAISE(ABORT, 'brief: a first revision is a draft; add it as a draft, then open it')
  WHERE NEW.state <> 'draft';
  SELECT RAISE(ABORT, 'brief: a first revision gives the brief its id; make brief_id equal to revision_id')
  WHERE NEW.brief_id <> NEW.revision_id;
END;

CREATE TRIGGER brief_next BEFORE INSERT ON brief WHEN NEW.supersedes IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'brief: the superseded revision is missing; name the row of the newest revision')
  WHERE NOT EXISTS (SELECT 1 FROM brief AS old WHERE old.row = NEW.supersedes);
  SELECT RAISE(ABORT, 'brief: a revision of another brief is superseded; keep the brief_id')
  FROM brief AS old
  WHERE old.row = NEW.supersedes AND old.brief_id <> NEW.brief_id;
  SELECT RAISE(ABORT, 'brief: the superseded revision has a successor; supersede the newest revision')
  FROM brief AS old
  WHERE old.supersedes = NEW.supersedes;
  SELECT RAISE(ABORT, 'brief: the revision is older than the one it supersedes; set the clock right')
  FROM brief AS old
  WHERE old.row = NEW.supersedes AND NEW.recorded_utc < old.recorded_utc;
  SELECT RAISE(ABORT, 'brief: there is no way back to a draft; add a new brief, or keep the state')
  FROM brief AS old
  WHERE old.row = NEW.supersedes AND NEW.state = 'draft' AND old.state <> 'draft';
  SELECT RAISE(ABORT, 'brief: a draft is opened before it is decided; add an open revision first')
  FROM brief AS old
  WHERE old.row = NEW.supersedes AND NEW.state = 'decided' AND old.state = 'draft';
  SELECT RAISE(ABORT, 'brief: a decision stays; correct it with a decided revision that has a correction')
  FROM brief AS old
  WHERE old.row = NEW.supersedes AND NEW.state = 'open' AND old.state = 'decided';
  SELECT RAISE(ABORT, 'brief: scope, oracle, measurement boundary, predicted effects and validation plan stay as they were opened; add a new brief for another claim')
  FROM brief AS old
  WHERE old.row = NEW.supersedes AND old.state <> 'draft'
    AND (NEW.program_families_and_targets IS NOT old.program_families_and_targets OR
      NEW.correctness_and_oracle IS NOT old.correctness_and_oracle OR
      NEW.measurement_boundary_and_profile IS NOT old.measurement_boundary_and_profile OR
      NEW.class_effects IS NOT old.class_effects OR
      NEW.validation_plan IS NOT old.validation_plan);
  -- A number is an address: a decided revision may get one without being corrected.
  SELECT RAISE(ABORT, 'brief: what is decided changes only by a correction; say in correction, anew, why')
  FROM brief AS old
  WHERE old.row = NEW.supersedes AND NEW.state = 'decided' AND old.state = 'decided'
    AND (NEW.correction IS NULL OR trim(NEW.correction) = '' OR NEW.correction = old.correction)
    AND NOT (old.number IS NULL AND NEW.number IS NOT NULL
      AND NEW.slug IS old.slug AND NEW.title IS old.title AND
      NEW.program_families_and_targets IS old.program_families_and_targets AND
      NEW.correctness_and_oracle IS old.correctness_and_oracle AND
      NEW.measurement_boundary_and_profile IS old.measurement_boundary_and_profile AND
      NEW.program_nodes_and_barriers IS old.program_nodes_and_barriers AND
      NEW.lifetime_alias_table IS old.lifetime_alias_table AND
      NEW.accounted_peak IS old.accounted_peak AND NEW.cache_identity IS old.cache_identity AND
      NEW.stream_event_graph IS old.stream_event_graph AND
      NEW.graph_regions IS old.graph_regions AND
      NEW.passes_and_bytes IS old.passes_and_bytes AND
      NEW.transfer_and_sync_plan IS old.transfer_and_sync_plan AND
      NEW.failure_ownership IS old.failure_ownership AND
      NEW.class_effects IS old.class_effects AND NEW.validation_plan IS old.validation_plan AND
      NEW.decision IS old.decision AND NEW.decision_reason IS old.decision_reason AND
      NEW.verdict_link IS old.verdict_link AND
      NEW.no_verdict_reason IS old.no_verdict_reason AND NEW.correction IS old.correction);
  SELECT RAISE(ABORT, 'brief: only what is decided can be corrected; leave correction out')
  FROM brief AS old
  WHERE old.row = NEW.supersedes AND NEW.correction IS NOT NULL AND old.state <> 'decided';
END;

CREATE TRIGGER brief_state BEFORE INSERT ON brief BEGIN
  SELECT RAISE(ABORT, 'brief: all fourteen fields are needed to leave the draft; fill them in')
  WHERE NEW.state <> 'draft'
    AND (trim(coalesce(NEW.program_families_and_targets, '')) = '' OR
      trim(coalesce(NEW.correctness_and_oracle, '')) = '' OR
      trim(coalesce(NEW.measurement_boundary_and_profile, '')) = '' OR
      trim(coalesce(NEW.program_nodes_and_barriers, '')) = '' OR
      trim(coalesce(NEW.lifetime_alias_table, '')) = '' OR
      trim(coalesce(NEW.accounted_peak, '')) = '' OR
      trim(coalesce(NEW.cache_identity, '')) = '' OR
      trim(coalesce(NEW.stream_event_graph, '')) = '' OR
      trim(coalesce(NEW.graph_regions, '')) = '' OR
      trim(coalesce(NEW.passes_and_bytes, '')) = '' OR
      trim(coalesce(NEW.transfer_and_sync_plan, '')) = '' OR
      trim(coalesce(NEW.failure_ownership, '')) = '' OR
      trim(coalesce(NEW.class_effects, '')) = '' OR trim(coalesce(NEW.validation_plan, '')) = '');
  SELECT RAISE(ABORT, 'brief: a decision, its reasons and corrections belong to the state decided; decide it')
  WHERE NEW.state <> 'decided'
    AND coalesce(NEW.decision, NEW.decision_reason, NEW.verdict_link, NEW.no_verdict_reason,
      NEW.correction) IS NOT NULL;
  SELECT RAISE(ABORT, 'brief: what is decided has a decision; decide keep, reject or investigate')
  WHERE NEW.state = 'decided' AND NEW.decision IS NULL;
  SELECT RAISE(ABORT, 'brief: a decision rests on a verdict; link one, or give no_verdict_reason')
  WHERE NEW.state = 'decided' AND NEW.verdict_link IS NULL AND trim(coalesce(NEW.no_verdict_reason, '')) = '';
  SELECT RAISE(ABORT, 'brief: verdict_link is no link from this brief to a verdict; link the verdict first')
  WHERE NEW.verdict_link IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM record_link AS l
    WHERE l.row = NEW.verdict_link AND l.retracts IS NULL AND l.target_kind = 'verdict'
      AND l.record_kind = 'brief' AND l.record_id = NEW.brief_id);
  -- A retraction made later leaves the decision as it was made.
  SELECT RAISE(ABORT, 'brief: the verdict''s link was retracted before the decision; link a verdict that holds')
  WHERE EXISTS (
    SELECT 1 FROM record_link AS r
    WHERE r.retracts = NEW.verdict_link AND r.recorded_utc <= NEW.recorded_utc);
END;

-- view: Newest revision of every experiment.
CREATE VIEW experiment_tip AS
SELECT
  e.row AS row,  -- row of the revision
  e.revision_id AS revision_id,  -- ULID of the revision
  e.experiment_id AS experiment_id,  -- ULID of the experiment
  e.state AS state,  -- draft, open or decided
  e.slug AS slug,  -- short name
  e.number AS number,  -- number of its folder; NULL: never exported
  e.title AS title,  -- one line
  e.recorded_utc AS recorded_utc,  -- when the revision was made
  e.program_and_shape AS program_and_shape,  -- what is proven, on which shape
  e.identities AS identities,  -- binary, module, toolchain and device identities
  e.baseline AS baseline,  -- verified-request and device-stage times it is held against
  e.dominant_mechanism AS dominant_mechanism,  -- what is believed to limit it
  e.predicted_movement AS predicted_movement,  -- the prediction, one item per line
  e.code_change AS code_change,  -- what was changed
  e.parity_gates AS parity_gates,  -- what must stay exactly equal
  e.instrumented_result AS instrumented_result,  -- what profilers showed; explains, decides nothing
  e.abba_result AS abba_result,  -- uninstrumented paired result
  e.memory_and_fallback_delta AS memory_and_fallback_delta,  -- peak memory and fallbacks, before and after
  e.prediction_json AS prediction_json,  -- the prediction as a JSON list
  e.decision AS decision,  -- keep, reject or investigate; NULL: undecided
  e.decision_reason AS decision_reason,  -- why
  e.verdict_link AS verdict_link,  -- row of the link to the verdict it rests on
  e.no_verdict_reason AS no_verdict_reason,  -- why there is no verdict
  e.correction AS correction  -- why a decided revision was revised
FROM experiment AS e
WHERE NOT EXISTS (SELECT 1 FROM experiment AS n WHERE n.supersedes = e.row);

-- view: Newest revision of every brief.
CREATE VIEW brief_tip AS
SELECT
  e.row AS row,  -- row of the revision
  e.revision_id AS revision_id,  -- ULID of the revision
  e.brief_id AS brief_id,  -- ULID of the brief
  e.state AS state,  -- draft, open or decided
  e.slug AS slug,  -- short name
  e.number AS number,  -- number of its folder; NULL: never exported
  e.title AS title,  -- one line
  e.recorded_utc AS recorded_utc,  -- when the revision was made
  e.program_families_and_targets AS program_families_and_targets,  -- program families and target GPUs
  e.correctness_and_oracle AS correctness_and_oracle,  -- correctness and final oracle
  e.measurement_boundary_and_profile AS measurement_boundary_and_profile,  -- measurement boundary and current profile
  e.program_nodes_and_barriers AS program_nodes_and_barriers,  -- ProofProgram nodes and transcript barriers
  e.lifetime_alias_table AS lifetime_alias_table,  -- resource lifetimes and what may share memory
  e.accounted_peak AS accounted_peak,  -- accounted peak and in-flight multiplier
  e.cache_identity AS cache_identity,  -- module and plan cache identity
  e.stream_event_graph AS stream_event_graph,  -- stream and event dependency graph
  e.graph_regions AS graph_regions,  -- graph-capture regions and parameter updates
  e.passes_and_bytes AS passes_and_bytes,  -- global-memory passes and bytes by stage
  e.transfer_and_sync_plan AS transfer_and_sync_plan,  -- host/device transfer and synchronization plan
  e.failure_ownership AS failure_ownership,  -- who owns what when a failure unwinds
  e.class_effects AS class_effects,  -- predicted structural-class effects
  e.validation_plan AS validation_plan,  -- validation and ABBA plan
  e.decision AS decision,  -- keep, reject or investigate; NULL: undecided
  e.decision_reason AS decision_reason,  -- why
  e.verdict_link AS verdict_link,  -- row of the link to the verdict it rests on
  e.no_verdict_reason AS no_verdict_reason,  -- why there is no verdict
  e.correction AS correction  -- why a decided revision was revised
FROM brief AS e
WHERE NOT EXISTS (SELECT 1 FROM brief AS n WHERE n.supersedes = e.row);

-- view: Links that nobody has retracted.
CREATE VIEW current_link AS
SELECT
  l.row AS row,  -- row of the link
  l.link_id AS link_id,  -- ULID of the link
  l.record_kind AS record_kind,  -- experiment or brief
  l.record_id AS record_id,  -- its id
  l.role AS role,  -- what the target is to it
  l.target_kind AS target_kind,  -- what is linked
  l.target_id AS target_id,  -- its id
  l.note AS note,  -- one line; NULL: none
  l.recorded_utc AS recorded_utc  -- when
FROM record_link AS l
WHERE l.retracts IS NULL AND NOT EXISTS (SELECT 1 FROM record_link AS r WHERE r.retracts = l.row);

-- view: Experiments as they stand, with the number of links by what they lead to.
CREATE VIEW experiment_board AS
SELECT
  t.experiment_id AS experiment_id,  -- ULID of the experiment
  t.number AS number,  -- number of its folder; NULL: never exported
  t.slug AS slug,  -- short name
  t.title AS title,  -- one line
  t.state AS state,  -- draft, open or decided
  t.recorded_utc AS recorded_utc,  -- when its newest revision was made
  t.predicted_movement AS predicted_movement,  -- the prediction, one item per line
  t.decision AS decision,  -- keep, reject or investigate; NULL: undecided
  t.no_verdict_reason AS no_verdict_reason,  -- why there is no verdict
  count(l.row) FILTER (WHERE l.target_kind = 'run') AS runs,  -- links to runs
  count(l.row) FILTER (WHERE l.target_kind = 'capture') AS captures,  -- links to captures
  count(l.row) FILTER (WHERE l.target_kind = 'verdict') AS verdicts,  -- links to verdicts
  count(l.row) FILTER (WHERE l.target_kind = 'calibration') AS calibrations,  -- links to calibrations
  count(l.row) FILTER (WHERE l.target_kind = 'plan') AS plans,  -- links to plans
  count(l.row) FILTER (WHERE l.target_kind = 'artifact') AS artifacts,  -- links to artifacts
  count(l.row) FILTER (WHERE l.target_kind IN ('experiment', 'brief')) AS records  -- links to other experiments and to briefs
FROM experiment_tip AS t
LEFT JOIN current_link AS l ON l.record_kind = 'experiment' AND l.record_id = t.experiment_id
GROUP BY t.experiment_id;

-- view: Hypotheses that are open: stated, and not yet decided.
CREATE VIEW open_hypotheses AS
SELECT
  t.experiment_id AS experiment_id,  -- ULID of the experiment
  t.number AS number,  -- number of its folder; NULL: never exported
  t.slug AS slug,  -- short name
  t.title AS title,  -- one line
  (SELECT min(o.recorded_utc) FROM experiment AS o WHERE o.experiment_id = t.experiment_id AND o.state = 'open') AS opened_utc,  -- when it was opened
  t.program_and_shape AS program_and_shape,  -- what is proven, on which shape
  t.dominant_mechanism AS dominant_mechanism,  -- what is believed to limit it
  t.predicted_movement AS predicted_movement,  -- the prediction, one item per line
  (SELECT count(*) FROM current_link AS l WHERE l.record_kind = 'experiment' AND l.record_id = t.experiment_id AND l.role = 'supports') AS supporting,  -- links that support it
  (SELECT count(*) FROM current_link AS l WHERE l.record_kind = 'experiment' AND l.record_id = t.experiment_id AND l.role = 'contradicts') AS contradicting  -- links that contradict it
FROM experiment_tip AS t
WHERE t.state = 'open';
