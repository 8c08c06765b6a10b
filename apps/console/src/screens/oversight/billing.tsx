import { $api, api, asFailure, useAll, useList, type Schemas } from '../../api';
import { Action, Badge, ConfirmButton, Empty, Facts, Loaded, Muted, Problem, Section, Stack } from '../../ui';
import { Table, Time } from '../../ui';
import { BillingDetails } from './billing-details';
import { Lines } from './cells';

type Plan = Schemas['PlanDto'];
type Subscription = Schemas['SubscriptionDto'];

/** The plan, and what is paid for it; one sentence where nothing is paid. */
export function Billing() {
  const plans = useAll('/api/v1/billing/plans');
  return (
    <Loaded query={plans}>
      {(all) =>
        all.every(({ priceCents }) => priceCents === null) ? (
          <Section>
            <p>This service does not bill: there is nothing to pay.</p>
          </Section>
        ) : (
          <>
            <Current plans={all} />
            <Section title="Billing details">
              <Muted>Invoices show them. They are needed before you subscribe.</Muted>
              <BillingDetails />
            </Section>
            <Payments />
          </>
        )
      }
    </Loaded>
  );
}

function Current({ plans }: { readonly plans: readonly Plan[] }) {
  const organization = $api.useQuery('get', '/api/v1/organization');
  const query = $api.useQuery('get', '/api/v1/billing/subscription', {}, { refetchInterval: false });
  const error: unknown = query.error;
  // the API says so where there is none
  if (error && asFailure(error).status !== 404) return <Problem error={error} />;
  const subscription = query.data?.subscription ?? null;
  const mayCancel = subscription !== null && !['CANCELLED', 'EXPIRED'].includes(subscription.status);
  return (
    <>
      {subscription === null ? null : (
        <Section title="Subscription" actions={mayCancel ? <Cancel subscription={subscription} /> : null}>
          <SubscriptionFacts subscription={subscription} />
        </Section>
      )}
      <Section title="Plans">
        <Table
          caption="Plans"
          rows={plans}
          keyOf={({ id }) => id}
          empty={null}
          columns={[
            { head: 'Plan', cell: ({ displayName }) => <Lines>{displayName}</Lines> },
            { head: 'Price', cell: priceOf },
            { head: 'Limits', cell: ({ limits }) => limitsText(limits) },
            {
              head: '',
              cell: ({ id, displayName, tier, priceCents }) => (
                <Lines>
                  {tier === organization.data?.subscriptionTier ? <Badge tone="good">Your plan</Badge> : null}
                  {priceCents && subscription?.status !== 'ACTIVE' ? (
                    <Action label={`Subscribe to ${displayName}`} act={() => subscribe(id)} />
                  ) : null}
                </Lines>
              ),
            },
          ]}
        />
      </Section>
    </>
  );
}

/** Opens the page of the payment service. */
async function subscribe(planId: string): Promise<void> {
  const { data } = await api.POST('/api/v1/billing/subscribe', { body: { planId } });
  location.assign(data!.redirectUrl);
}

function money(cents: number, currency: string): string {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(cents / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

const priceOf = ({ priceCents, currency, interval }: Plan): string =>
  priceCents === null || currency === null || interval === null
    ? ''
    : `${money(priceCents, currency)} a ${interval.toLowerCase()}`;

const limitsText = ({ maxSessionDurationHours, maxResources, maxUsers }: Plan['limits']): string =>
  `sessions of ${maxSessionDurationHours} hours, ${maxResources ?? 'any number of'} resources, ${maxUsers ?? 'any number of'} users`;

const STATUSES: Readonly<Record<Subscription['status'], string>> = {
  PENDING: 'not paid yet',
  ACTIVE: 'active',
  PAST_DUE: 'the renewal is unpaid',
  CANCELLED: 'cancelled, active until the paid time ends',
  EXPIRED: 'ended',
};

const SubscriptionFacts = ({ subscription: shown }: { readonly subscription: Subscription }) => (
  <Facts
    of={{
      Plan: shown.planDisplayName,
      Price: money(shown.priceCents, shown.currency),
      Status: STATUSES[shown.status],
      'Paid from': shown.currentPeriodStart && <Time at={shown.currentPeriodStart} />,
      'Paid until': shown.currentPeriodEnd && <Time at={shown.currentPeriodEnd} />,
      'Stays active until': shown.gracePeriodEnd && <Time at={shown.gracePeriodEnd} />,
    }}
  />
);

const Cancel = ({
  subscription: { planDisplayName, status, currentPeriodEnd },
}: {
  subscription: Subscription;
}) => (
  <ConfirmButton
    label="Cancel the subscription"
    title={`Cancel the plan ${planDisplayName}?`}
    act={() => api.POST('/api/v1/billing/cancel')}
  >
    <Stack>
      <p>
        {status === 'PENDING' || currentPeriodEnd === null ? (
          'Nothing was paid yet: it ends at once.'
        ) : (
          <>
            It stays active until <Time at={currentPeriodEnd} />. Then the limits of the free plan apply.
          </>
        )}
      </p>
    </Stack>
  </ConfirmButton>
);

function Payments() {
  const payments = useList('/api/v1/billing/payments', { query: { size: 100 } });
  return (
    <Section title="Payments">
      <Loaded query={payments}>
        {({ items }) => (
          <>
            <Table
              caption="Payments, newest first"
              rows={items}
              keyOf={({ id }) => id}
              empty={<Empty title="Nothing was paid yet" />}
              columns={[
                { head: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
                { head: 'Amount', cell: ({ amountCents, currency }) => money(amountCents, currency) },
                {
                  head: 'Result',
                  cell: ({ status }) =>
                    status === 'SUCCEEDED' ? (
                      <Badge tone="good">Paid</Badge>
                    ) : (
                      <Badge tone="bad">Declined</Badge>
                    ),
                },
                {
                  head: 'Invoice',
                  cell: ({ reference }) => (reference ? <code>{reference}</code> : <Muted>none</Muted>),
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}
