import { Option, type Command } from 'commander';
import { bodyOf, serverTime, shortId } from '#client';
import { define, group, numberOption, resourceOption, type Call } from '../../program';
import { timeText } from '../../terminal/times';
import { showsPlan, trialOption, trialQuery, type TrialOptions } from './change-plan';
import { idsOf, listing, removing, short } from './things';

const DAY_MS = 24 * 60 * 60 * 1000;

export function registerStaticRules(program: Command): void {
  const rules = group(program, 'static-rules', 'addresses with lasting access (administrators)');
  define(rules, {
    ...listing('rule', {
      name: 'staticIpRules',
      columns: {
        address: ({ ipAddress }) => ipAddress,
        label: ({ label }) => label,
        status: ({ status }) => status,
        ends: ({ expiresAt }) => (expiresAt === null ? 'never' : timeText(expiresAt)),
        resources: ({ resources, closedOn }) =>
          [...resources, ...closedOn].map(({ resourceName }) => resourceName).join(', '),
        id: short,
      },
    }),
    examples: ['static-rules'],
  });
  define(rules, {
    usage: 'add <address>',
    about: 'allow an address or a range until it is removed, or its end',
    examples: [
      'static-rules add 198.51.100.0/24 --label office --resource database',
      'static-rules add 198.51.100.7 --label audit --resource database --days 30',
    ],
    required: [new Option('--label <text>', 'what it is'), resourceOption('a resource', 'none')],
    options: [
      numberOption('--days <n>', 'when it ends (default: never)', 1826),
      new Option('--until <time>', 'when it ends, as 2026-12-31T18:00:00Z').conflicts('days'),
      trialOption(),
    ],
    run: add,
  });
  define(rules, { ...removing('rule', 'end this access'), examples: ['static-rules remove office'] });
}

interface AddOptions extends TrialOptions {
  readonly label: string;
  readonly resource: readonly string[];
  readonly days?: number;
  readonly until?: string;
}

async function add({ api, connection, name, options, output }: Call<AddOptions>): Promise<void> {
  const { days, label, resource, until } = options;
  const resourceIds = await idsOf(api, 'resource', resource);
  const expiresAt =
    days === undefined
      ? (until ?? null)
      : new Date((await serverTime(connection.url)) + days * DAY_MS).toISOString();
  const body = { ipAddress: name, label, resourceIds, expiresAt };
  const rule = await bodyOf(api.POST('/api/v1/static-ip-rules', { params: trialQuery(options), body }));
  if (showsPlan(rule, output)) return;
  output.result(rule, `${shortId(rule.id)}  ${rule.ipAddress}  ${rule.status}`);
}
