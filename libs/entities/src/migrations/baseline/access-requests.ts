/** What people ask others to let them open, and what they opened without asking. */
export const ACCESS_REQUESTS = `
-- A request for a session that others have to approve; with break_glass, a session that was started at once and is to be
-- reviewed. due_at: until when it can be decided (WAITING) or used (APPROVED). One goes 90 days after its end, which is the
-- review of one with break_glass.
CREATE TABLE access_requests (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  requester_id uuid NOT NULL,
  resource_ids uuid[] NOT NULL,
  duration_hours integer NOT NULL,
  reason text NOT NULL,
  ticket text,
  ipv4_address text,
  ipv6_address text,
  break_glass boolean NOT NULL DEFAULT false,
  approvals_needed integer NOT NULL,
  approvals integer NOT NULL DEFAULT 0,
  approver_role_ids uuid[] NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'WAITING',
  due_at timestamptz,
  session_id uuid,
  ended_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id),
  CONSTRAINT access_requests_status_check
    CHECK (status IN ('WAITING', 'APPROVED', 'DENIED', 'EXPIRED', 'CANCELLED', 'USED', 'LAPSED')
      AND (due_at IS NOT NULL) = (status IN ('WAITING', 'APPROVED')) AND (session_id IS NOT NULL) = (status = 'USED')),
  -- whatever decided it: nothing is opened with fewer approvals than it needs
  CONSTRAINT access_requests_approvals_check CHECK (status NOT IN ('APPROVED', 'USED', 'LAPSED') OR approvals >= approvals_needed),
  CONSTRAINT access_requests_requester_fkey FOREIGN KEY (organization_id, requester_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX access_requests_list_idx ON access_requests (organization_id, created_at, id);
CREATE INDEX access_requests_of_requester_idx ON access_requests (requester_id, created_at, id);
CREATE INDEX access_requests_waiting_idx ON access_requests (organization_id, created_at, id) WHERE status = 'WAITING';
CREATE INDEX access_requests_review_idx ON access_requests (organization_id, created_at, id)
  WHERE break_glass AND ended_at IS NULL;
CREATE INDEX access_requests_due_at_idx ON access_requests (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX access_requests_ended_at_idx ON access_requests (ended_at) WHERE ended_at IS NOT NULL;

-- Who approved, denied or reviewed a request: each person once. They go with the request.
CREATE TABLE access_request_decisions (
  request_id uuid NOT NULL,
  user_id uuid NOT NULL,
  organization_id uuid NOT NULL,
  decision text NOT NULL CHECK (decision IN ('APPROVED', 'DENIED', 'REVIEWED')),
  note text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (request_id, user_id),
  CONSTRAINT access_request_decisions_request_fkey FOREIGN KEY (organization_id, request_id)
    REFERENCES access_requests (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT access_request_decisions_user_fkey FOREIGN KEY (organization_id, user_id)
    REFERENCES users (organization_id, id) ON DELETE CASCADE
);
`;
