/** Where audit records are sent to. */
export const WEBHOOKS = `
-- Receivers of an organization's audit records. URL and secrets are sealed. They stay until they are deleted.
CREATE TABLE webhooks (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  name text,
  format text NOT NULL CHECK (format IN ('standard', 'slack', 'teams')),
  shown_url text NOT NULL,
  sealed_data jsonb NOT NULL,
  former_secret_until timestamptz,
  event_types text[] NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  cursor bigint NOT NULL,
  leased_until timestamptz NOT NULL DEFAULT now(),
  failing_since timestamptz,
  last_error text,
  created_by_email text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id)
);
CREATE TRIGGER webhooks_of_deleted_organization BEFORE INSERT ON webhooks
  FOR EACH ROW EXECUTE FUNCTION refuse_in_deleted_organization();

-- What was sent to webhooks, and what is to be sent again: a record that was never tried has no row. They go after
-- 30 days.
CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  position bigint NOT NULL,
  record_id uuid NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL,
  attempts integer NOT NULL,
  due_at timestamptz,
  response_code integer,
  error text,
  sent_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (webhook_id, position),
  CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('PENDING', 'REDELIVERING', 'DELIVERED', 'FAILED')
    AND (due_at IS NOT NULL) = (status IN ('PENDING', 'REDELIVERING'))),
  CONSTRAINT webhook_deliveries_webhook_fkey FOREIGN KEY (organization_id, webhook_id)
    REFERENCES webhooks (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (webhook_id, created_at, position);
CREATE INDEX webhook_deliveries_created_at_idx ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
-- The one that later records of its webhook wait for.
CREATE UNIQUE INDEX webhook_deliveries_one_holds ON webhook_deliveries (webhook_id)
  WHERE status = 'PENDING' AND attempts < 3;
`;
