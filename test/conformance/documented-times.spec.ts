import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DriverRegistry } from '#drivers';
import { PROVIDERS, targetTimes } from '#rules';

/** By row: the types that it is about. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  'AWS security groups and prefix lists, Google Cloud, APISIX, Vercel': [
    'SECURITY_GROUP',
    'PREFIX_LIST',
    'FIREWALL',
    'ROUTE',
    'SERVICE',
    'CONSUMER_GROUP',
    'PLUGIN_CONFIG',
    'GLOBAL_RULE',
    'FIREWALL_RULE',
  ],
  'Azure network security groups': ['NETWORK_SECURITY_GROUP'],
  'MongoDB Atlas': ['PROJECT'],
  'hosts with an agent': ['HOST_FIREWALL'],
  'SQL servers': ['SQL_SERVER'],
  'PostgreSQL and MySQL flexible servers': ['POSTGRESQL_FLEXIBLE_SERVER', 'MYSQL_FLEXIBLE_SERVER'],
  'key vaults': ['KEY_VAULT'],
  'container registries': ['CONTAINER_REGISTRY'],
  'storage accounts': ['STORAGE_ACCOUNT'],
  'AI services accounts': ['AI_SERVICES_ACCOUNT'],
  'IP sets of AWS WAF': ['WAF_IP_SET'],
  'public endpoints of EKS clusters': ['EKS_CLUSTER'],
};
const WRITTEN: Readonly<Record<number, string>> = { 5: 'seconds', 120: 'about a minute', 600: 'minutes' };
const CUTS = { yes: 'each request', no: 'no', depends: 'it depends' };

const rowsOf = (page: string): string[][] => {
  const text = readFileSync(resolve(__dirname, '../..', page), 'utf8');
  const [, table = ''] =
    /^\| target +\| written and removed within.*\n\|[-| ]+\n((?:\|.*\n)+)/m.exec(text) ?? [];
  return table
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
};

const types = new Map(
  PROVIDERS.flatMap((provider) => Object.entries(DriverRegistry.facts(provider).resourceTypes)),
);

const cellsOf = (resourceType: string): string[] => {
  const { effect, revocation } = types.get(resourceType)!;
  const { usualSeconds, atMostSeconds } = effect;
  return [
    WRITTEN[targetTimes(resourceType).closesWithinSeconds]!,
    atMostSeconds === 0 ? 'at once' : `${usualSeconds} s, ${atMostSeconds / 60} min`,
    CUTS[revocation.cutsConnections],
  ];
};

describe.each(['docs/guarantees.md', 'README.md'])('The table of times in %s', (page) => {
  it('has what the facts of each type say', () => {
    expect(Object.values(ROWS).flat().toSorted()).toEqual([...types.keys()].toSorted());
    expect(rowsOf(page)).toEqual(Object.entries(ROWS).map(([row, [type]]) => [row, ...cellsOf(type!)]));
    for (const [first, ...others] of Object.values(ROWS))
      for (const other of others) expect([other, cellsOf(other)]).toEqual([other, cellsOf(first!)]);
  });
});
