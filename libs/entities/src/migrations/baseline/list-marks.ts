/** Positions in long lists. */
export const LIST_MARKS = `
-- How many rows of an organization's list were older than a time when the mark was set. Marks go with the rows they count.
CREATE TABLE list_marks (
  organization_id uuid NOT NULL,
  list uuid NOT NULL,
  at timestamptz NOT NULL,
  rows_before bigint NOT NULL,
  kind text NOT NULL DEFAULT '',
  PRIMARY KEY (organization_id, list, at)
);
CREATE INDEX list_marks_rows_before_idx ON list_marks (organization_id, list, rows_before);
CREATE INDEX list_marks_kind_idx ON list_marks (organization_id, kind, at);
`;
