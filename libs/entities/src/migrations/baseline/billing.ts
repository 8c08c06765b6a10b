/** Who pays for an organization, and what was paid. */
export const BILLING = `
-- Billing details as shown on invoices. They go when a deleted organization is closed.
CREATE TABLE billing_details (
  organization_id uuid PRIMARY KEY REFERENCES organizations,
  company_name text,
  billing_contact_name text,
  billing_email text,
  billing_address_line1 text,
  billing_address_line2 text,
  billing_city text,
  billing_postal_code text,
  billing_state text,
  billing_country text,
  vat_number text,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Subscriptions, at most one of an organization current. They stay.
CREATE TABLE subscriptions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations,
  plan_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'PENDING'
    CHECK (status IN ('PENDING', 'ACTIVE', 'PAST_DUE', 'CANCELLED', 'EXPIRED')),
  price_cents integer NOT NULL,
  currency text NOT NULL,
  current_period_start timestamptz,
  current_period_end timestamptz,
  grace_period_end timestamptz,
  cancel_at_period_end boolean NOT NULL DEFAULT false,
  adapter text NOT NULL,
  checkout_reference text,
  adapter_reference text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, id)
);
CREATE UNIQUE INDEX subscriptions_one_current ON subscriptions (organization_id) WHERE status <> 'EXPIRED';
CREATE INDEX subscriptions_ends_idx ON subscriptions (least(current_period_end, grace_period_end))
  WHERE status <> 'EXPIRED';
CREATE INDEX subscriptions_adapter_reference_idx ON subscriptions (adapter, adapter_reference);
CREATE INDEX subscriptions_checkout_reference_idx ON subscriptions (adapter, checkout_reference);

-- Payments. They stay.
CREATE TABLE payments (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  amount_cents integer NOT NULL,
  currency text NOT NULL,
  status text NOT NULL CHECK (status IN ('SUCCEEDED', 'FAILED')),
  adapter_reference text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT payments_subscription_fkey FOREIGN KEY (organization_id, subscription_id)
    REFERENCES subscriptions (organization_id, id)
);
CREATE INDEX payments_organization_id_idx ON payments (organization_id, created_at);

-- Processed events of payment adapters, so that each is applied once. They go after 400 days.
CREATE TABLE payment_events (
  adapter text NOT NULL,
  event_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (adapter, event_id)
);
CREATE INDEX payment_events_created_at_idx ON payment_events (created_at);
`;
