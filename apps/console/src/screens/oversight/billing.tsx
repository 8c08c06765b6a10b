import { useState } from 'react';
import { $api, api, asFailure, useList, type Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { Lines, sentence, wordsOf } from '../../parts/words';
import { Badge, ConfirmButton, DialogButton, Empty, Facts, Form, Loaded, Loading, Problem } from '../../ui';
import { Code, Section, Table, TextField, Time, type Column } from '../../ui';

type Plan = Schemas['PlanDto'];
type Payment = Schemas['PaymentDto'];
type Details = Schemas['BillingDetailsDto'];

/** The plan, and what is paid for it; one sentence where nothing is paid. */
export function Billing() {
  const plans = useList('/api/v1/billing/plans');
  return (
    <Loaded query={plans}>
      {({ items }) =>
        items.every(({ priceCents }) => priceCents === null) ? (
          <Section>
            <p>This service does not bill: there is nothing to pay.</p>
          </Section>
        ) : (
          <Billed plans={items} />
        )
      }
    </Loaded>
  );
}

const PAYMENTS: readonly Column<Payment>[] = [
  { head: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Amount', cell: ({ amountCents, currency }) => money(amountCents, currency) },
  { head: 'Result', cell: ({ status }) => sentence(wordsOf(status)) },
  { head: 'Invoice', cell: ({ reference }) => reference && <Code>{reference}</Code> },
];

function Billed({ plans }: { plans: readonly Plan[] }) {
  const [hasOpened, setHasOpened] = useState(false);
  const { data: organization } = $api.useQuery('get', '/api/v1/organization');
  const payments = useList('/api/v1/billing/payments', { query: { size: 1 } });
  // where nothing was ever subscribed, there is none to ask for
  const enabled = organization?.subscriptionTier === 'PAID' || Boolean(payments.data?.total);
  const { data } = $api.useQuery('get', '/api/v1/billing/subscription', {}, { enabled });
  const isActive = data?.subscription.status === 'ACTIVE';
  return (
    <>
      {data ? <Subscription subscription={data.subscription} /> : null}
      <Section title="Plans">
        <Table
          caption="Plans"
          rows={plans}
          keyOf={({ id }) => id}
          empty={null}
          columns={[
            { head: 'Plan', cell: ({ displayName }) => displayName },
            { head: 'Price', cell: priceOf },
            { head: 'Limits', cell: limitsOf },
            {
              head: '',
              cell: ({ id, displayName, tier, priceCents }) => (
                <Lines>
                  {tier === organization?.subscriptionTier ? <Badge tone="good">Your plan</Badge> : null}
                  {priceCents && !isActive && tier !== organization?.subscriptionTier ? (
                    <DialogButton label={`Subscribe to ${displayName}`} title="To whom do invoices go?">
                      {() => <BillingDetails submit="Continue to the payment" then={() => subscribe(id)} />}
                    </DialogButton>
                  ) : null}
                </Lines>
              ),
            },
          ]}
        />
      </Section>
      <Section title="Billing details">
        <details onToggle={({ currentTarget }) => setHasOpened(currentTarget.open || hasOpened)}>
          <summary>Show what is on invoices</summary>
          {hasOpened ? <BillingDetails submit="Save the billing details" /> : null}
        </details>
      </Section>
      <Section title="Payments">
        <Collection
          caption="Payments, newest first"
          path="/api/v1/billing/payments"
          columns={PAYMENTS}
          empty={<Empty title="No payments yet" />}
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

const limitsOf = ({ limits: { maxSessionDurationHours, maxResources, maxUsers } }: Plan): string =>
  `sessions of ${maxSessionDurationHours} hours, ${maxResources ?? 'any number of'} resources, ${maxUsers ?? 'any number of'} users`;

function Subscription({ subscription: shown }: { subscription: Schemas['SubscriptionDto'] }) {
  const mayCancel = shown.status !== 'CANCELLED' && shown.status !== 'EXPIRED';
  return (
    <Section
      title="Subscription"
      actions={
        mayCancel ? (
          <ConfirmButton
            label="Cancel the subscription"
            title={`Cancel the plan ${shown.planDisplayName}?`}
            act={() => api.POST('/api/v1/billing/cancel')}
          >
            <p>It stays active for the time that is paid. Then the limits of the free plan apply.</p>
          </ConfirmButton>
        ) : null
      }
    >
      <Facts
        of={{
          Plan: shown.planDisplayName,
          Price: money(shown.priceCents, shown.currency),
          Status: sentence(wordsOf(shown.status)),
          'Paid from': shown.currentPeriodStart && <Time at={shown.currentPeriodStart} />,
          'Paid until': shown.currentPeriodEnd && <Time at={shown.currentPeriodEnd} />,
          'Stays active until': shown.gracePeriodEnd && <Time at={shown.gracePeriodEnd} />,
        }}
      />
    </Section>
  );
}

/** Fields, their labels, whether an invoice needs them, and what a browser fills in. */
const FIELDS: readonly (readonly [keyof Details, label: string, isNeeded: boolean, autoComplete: string])[] =
  [
    ['companyName', 'Company', true, 'organization'],
    ['billingContactName', 'Contact', false, 'name'],
    ['billingEmail', 'E-mail for invoices', true, 'email'],
    ['billingAddressLine1', 'Address', true, 'address-line1'],
    ['billingAddressLine2', 'Address, second line', false, 'address-line2'],
    ['billingPostalCode', 'Postal code', true, 'postal-code'],
    ['billingCity', 'City', true, 'address-level2'],
    ['billingState', 'State', false, 'address-level1'],
    ['billingCountry', 'Country', true, 'country'],
    ['vatNumber', 'VAT number', false, 'off'],
  ];

/** To whom invoices go. @param then what follows, once they are saved */
function BillingDetails({ submit, then }: { submit: string; then?: () => Promise<void> }) {
  const query = $api.useQuery('get', '/api/v1/organization/billing', {}, { refetchInterval: false });
  const error: unknown = query.error;
  // until they are set, the API says that there are none
  if (error && asFailure(error).status !== 404) return <Problem error={error} />;
  if (query.data === undefined && !error) return <Loading />;
  return (
    <Form
      submit={submit}
      done="Saved."
      send={async (entered) => {
        // an emptied field is deleted
        const body = Object.fromEntries(FIELDS.map(([name]) => [name, entered.optional(name) ?? null]));
        await api.PATCH('/api/v1/organization/billing', { body });
        await then?.();
      }}
    >
      {FIELDS.map(([name, label, isNeeded, autoComplete]) => (
        <TextField
          key={name}
          name={name}
          label={label}
          required={isNeeded}
          autoComplete={autoComplete}
          type={name === 'billingEmail' ? 'email' : 'text'}
          maxLength={200}
          defaultValue={query.data?.[name] ?? ''}
        />
      ))}
    </Form>
  );
}
