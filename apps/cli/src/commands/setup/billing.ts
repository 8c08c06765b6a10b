import { Option, type Command } from 'commander';
import { type Api, bodyOf, definedFields, type Schemas } from '#client';
import { usageFailure } from '../../exit-codes';
import { define, group, type Call } from '../../program';
import { yes } from './things';

type Plan = Schemas['PlanDto'];

export function registerBilling(program: Command): void {
  const billing = group(program, 'billing', 'plan and limits (administrators)');
  define(billing, {
    usage: 'show',
    about: 'show the plans with their limits, and which one you have',
    isDefault: true,
    examples: ['billing'],
    run: show,
  });
  define(billing, {
    usage: 'subscribe',
    about: 'take the Paid plan: store the billing details that are given, and print the page to pay on',
    examples: [
      'billing subscribe --company Example --email invoices@example.com --address "1 Main Street" --city Berlin --postal-code 10115 --country DE',
      'billing subscribe',
    ],
    options: [
      new Option('--company <name>', 'whom the invoices are for'),
      new Option('--email <address>', 'where they are sent'),
      new Option('--address <line>', 'street and number'),
      new Option('--city <name>'),
      new Option('--postal-code <code>'),
      new Option('--country <code>'),
    ],
    run: subscribe,
  });
}

const plansOf = (api: Api): Promise<Plan[]> => bodyOf(api.GET('/api/v1/billing/plans', {}));

const NOT_BILLED = 'Nothing is billed here: every organization has the Paid plan';

async function show({ api, output }: Call): Promise<void> {
  const [plans, { subscriptionTier }] = await Promise.all([
    plansOf(api),
    bodyOf(api.GET('/api/v1/organization', {})),
  ]);
  const table = output.table(plans, {
    plan: ({ displayName }) => displayName,
    yours: ({ tier }) => yes(tier === subscriptionTier),
    price: priceText,
    'hours a session': ({ limits }) => String(limits.maxSessionDurationHours),
    resources: ({ limits }) => limitText(limits.maxResources),
    users: ({ limits }) => limitText(limits.maxUsers),
  });
  const isBilled = plans.some(({ priceCents }) => priceCents !== null);
  output.result({ subscriptionTier, plans }, isBilled ? table : `${NOT_BILLED}.\n${table}`);
}

const limitText = (limit: number | null): string => (limit === null ? 'no limit' : String(limit));

const priceText = ({ priceCents, currency, interval }: Plan): string =>
  priceCents ? `${(priceCents / 100).toFixed(2)} ${currency} a ${interval?.toLowerCase()}` : 'none';

interface SubscribeOptions {
  readonly company?: string;
  readonly email?: string;
  readonly address?: string;
  readonly city?: string;
  readonly postalCode?: string;
  readonly country?: string;
}

/** Prints the page's address alone. */
async function subscribe({ api, options, output }: Call<SubscribeOptions>): Promise<void> {
  const paid = (await plansOf(api)).find(({ priceCents, tier }) => tier === 'PAID' && priceCents !== null);
  if (!paid) throw usageFailure(NOT_BILLED);
  const body = definedFields({
    companyName: options.company,
    billingEmail: options.email,
    billingAddressLine1: options.address,
    billingCity: options.city,
    billingPostalCode: options.postalCode,
    billingCountry: options.country,
  });
  if (Object.keys(body).length > 0) await api.PATCH('/api/v1/organization/billing', { body });
  const answer = await bodyOf(api.POST('/api/v1/billing/subscribe', { body: { planId: paid.id } }));
  output.note(`the plan is yours once it is paid (${priceText(paid)}); open this page:`);
  output.result(answer, answer.redirectUrl);
}
