/** What tells this installation's rules from those of others. */
export const DEPLOYMENT = `
CREATE FUNCTION own_deployment_id() RETURNS text LANGUAGE sql AS
  $$ SELECT 'd-' || left(replace(gen_random_uuid()::text, '-', ''), 12) $$;

-- One row: the id in the marks of this installation's rules, whether services have started with it, and what the ids of rules
-- are derived from.
CREATE TABLE deployment (
  id integer PRIMARY KEY,
  deployment_id text NOT NULL,
  is_used boolean NOT NULL DEFAULT false,
  rule_id_seed text NOT NULL,
  CONSTRAINT deployment_one_row CHECK (id = 1)
);
INSERT INTO deployment (id, deployment_id, rule_id_seed) VALUES (1, own_deployment_id(), gen_random_uuid());

-- The last 12 digits of a rule's id follow from the others: an id in a mark shows whether this database has issued it, however
-- long ago, and although the rule is deleted.
CREATE FUNCTION rule_id_tail(head text) RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT left(encode(sha256((rule_id_seed || head)::bytea), 'hex'), 12) FROM deployment $$;

-- A UUID v4.
CREATE FUNCTION issue_rule_id() RETURNS uuid LANGUAGE sql VOLATILE AS
  $$ SELECT (head || rule_id_tail(head))::uuid
     FROM (SELECT left(replace(gen_random_uuid()::text, '-', ''), 20) AS head) random $$;

-- What is no UUID is no id of a rule: it proves nothing.
CREATE FUNCTION is_issued_rule_id(id text) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT digits !~ '^[0-9a-f]{32}$' OR right(digits, 12) = rule_id_tail(left(digits, 20))
     FROM (SELECT replace(lower(id), '-', '') AS digits) given $$;
`;
