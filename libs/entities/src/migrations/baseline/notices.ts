/** Who was told what by mail. */
export const NOTICES = `
-- Up to where in its chain an organization's people were told: one row for what is told at once, one for what is collected.
-- None without a mail server. They go when a deleted organization is closed.
CREATE TABLE notice_cursors (
  organization_id uuid NOT NULL REFERENCES organizations,
  is_collected boolean NOT NULL,
  position bigint NOT NULL,
  due_at timestamptz,
  leased_until timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, is_collected)
);
`;
