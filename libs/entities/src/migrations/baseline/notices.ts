/** Who got which notices by mail. */
export const NOTICES = `
-- Up to where in its chain an organization's people were notified: a row for what is urgent for administrators, one for those who
-- hold access, ask for it or decide, one for what is collected for administrators. None without a mail server. They go when a deleted organization is closed.
CREATE TABLE notice_cursors (
  organization_id uuid NOT NULL REFERENCES organizations,
  kind text NOT NULL CHECK (kind IN ('URGENT', 'HOLDERS', 'COLLECTED')),
  position bigint NOT NULL,
  due_at timestamptz,
  leased_until timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, kind)
);
`;
