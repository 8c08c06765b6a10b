import { getRouteApi } from '@tanstack/react-router';
import { $api, api, asFailure, useAll, useList, type Schemas } from '../../api';
import {
  Action,
  Badge,
  ConfirmButton,
  Empty,
  Facts,
  Loaded,
  Muted,
  Pager,
  Problem,
  Section,
  Stack,
} from '../../ui';
import { Table, Time, type Tone } from '../../ui';
import { BillingDetails } from './billing-details';

type Plan = Schemas['PlanDto'];
type Subscription = Schemas['SubscriptionDto'];

const route = getRouteApi('/signed-in/administrator/organization');
const PAGE_SIZE = 20;

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
  const query = $api.useQuery('get', '/api/v1/billing/subscription');
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
            { head: 'Plan', cell: ({ displayName }) => displayName },
            { head: 'Price', cell: priceOf },
            { head: 'Limits', cell: ({ limits }) => limitsText(limits) },
            {
              head: '',
              cell: (plan) =>
                plan.tier === organization.data?.subscriptionTier ? (
                  <Badge tone="good">Your plan</Badge>
                ) : plan.priceCents ? (
                  <Action label={`Subscribe to ${plan.displayName}`} act={() => subscribe(plan.id)} />
                ) : null,
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

const STATUSES: Readonly<Record<Subscription['status'], readonly [text: string, tone: Tone]>> = {
  PENDING: ['Not paid yet', 'warn'],
  ACTIVE: ['Active', 'good'],
  PAST_DUE: ['Renewal unpaid', 'bad'],
  CANCELLED: ['Cancelled, paid until its end', 'warn'],
  EXPIRED: ['Ended', 'neutral'],
};

const SubscriptionFacts = ({ subscription: shown }: { readonly subscription: Subscription }) => (
  <Facts
    of={{
      Plan: shown.planDisplayName,
      Price: money(shown.priceCents, shown.currency),
      Status: <Badge tone={STATUSES[shown.status][1]}>{STATUSES[shown.status][0]}</Badge>,
      'Paid from': shown.currentPeriodStart && <Time at={shown.currentPeriodStart} />,
      'Paid until': shown.currentPeriodEnd && <Time at={shown.currentPeriodEnd} />,
      'Stays active until': shown.gracePeriodEnd && <Time at={shown.gracePeriodEnd} />,
      Renewal: shown.cancelAtPeriodEnd ? 'none: it ends with the paid time' : null,
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
  const { page = 0 } = route.useSearch();
  const payments = useList('/api/v1/billing/payments', { query: { page, size: PAGE_SIZE } });
  return (
    <Section title="Payments">
      <Loaded query={payments}>
        {({ items, total }) => (
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
            <Pager page={page} size={PAGE_SIZE} total={total} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
