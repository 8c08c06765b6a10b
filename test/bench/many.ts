import { group } from '../builders/accounts/organization';
import { PASSWORD } from '../builders/accounts/people';
import { CommandLine } from '../harness/product/command-line';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';

const ACCOUNTS = 300;
const RESOURCES = 2_000;
const TEAMS = 40;
const ROLE = 'arn:aws:iam::{account}:role/drawbridge';

interface Credential {
  readonly identity: { readonly issuer: string; readonly subject: string };
}

const accountOf = (index: number): string => String(200_000_000_000 + (index % ACCOUNTS));
const teamOf = (index: number): string => `team-${index % TEAMS}`;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** An administrator adds the resources of an organization of AWS, for its teams, by the command line. */
export async function many(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    issuer: true,
    simulator: { SIMULATOR_GROUPS: String(RESOURCES + 1) },
  });
  try {
    for (const index of numbers(ACCOUNTS)) {
      const targets = numbers(RESOURCES).filter((each) => accountOf(each) === accountOf(index));
      await drawbridge.cloud.account({
        provider: 'AWS',
        account: accountOf(index),
        roles: ['drawbridge'],
        targets: targets.map(group),
      });
    }
    const cli = new CommandLine();
    const done = async (args: readonly string[], input?: string): Promise<void> => {
      const { code, stderr } = await cli.run(args, input);
      if (code !== 0) throw new Error(`drawbridge ${args.join(' ')} ended with ${code}: ${stderr}`);
    };
    const url = `http://127.0.0.1:${drawbridge.apiServer.port}`;
    const account = ['--organization', 'Many', '--email', 'many@example.com', '--password-stdin'];
    await done(['register', '--url', url, ...account], `${PASSWORD}\n`);
    await drawbridge.query(`UPDATE organizations SET subscription_tier = 'PAID'`);
    const began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1000;
    const type = ['--provider', 'AWS', '--type', 'WEB_IDENTITY', '--set', `roleArn=${ROLE}`];
    const {
      identity: { issuer, subject },
    } = await cli.json<Credential>(['credentials', 'create', 'aws', ...type]);
    // what the cloud's administrator pastes
    await drawbridge.cloud.trust({ provider: 'AWS', issuer, subject });
    const columns = 'name,credential,type,identifier,region,account,ports,label:team';
    const rows = numbers(RESOURCES).map(
      (index) =>
        `db-${index},aws,SECURITY_GROUP,${group(index)},eu-central-1,${accountOf(index)},5432,${teamOf(index)}`,
    );
    await done(['resources', 'import', '-'], [columns, ...rows].join('\n'));
    const imported = seconds();
    // one line of a shell
    for (const index of numbers(TEAMS))
      await done(['roles', 'create', teamOf(index), '--selector', `team=${teamOf(index)}`]);
    const commanded = seconds();
    await until(
      'every resource is verified',
      async () => {
        const [row] = await drawbridge.query<{ count: number }>(
          'SELECT count(*)::int AS count FROM resources WHERE is_active',
        );
        return row!.count === RESOURCES;
      },
      1_200_000,
    );
    const verified = seconds();
    await cli.remove();
    return [
      figure('2,000 resources of 300 accounts are imported', 's', [imported]),
      figure('and reached by 40 roles', 's', [commanded]),
      figure('and every one is verified', 's', [verified], { atMost: 900 }),
    ];
  } finally {
    await drawbridge.stop();
  }
}
