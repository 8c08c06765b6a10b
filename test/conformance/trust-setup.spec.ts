import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DriverRegistry, firstTypeOf } from '#drivers';
import type { Provider } from '#rules';

const ISSUER = 'https://drawbridge.example.com/oidc/one';
const SUBJECT = 'org:one:credential:two';

/** Words of commands that only ask whether something exists. */
const ASKS = /\[(?:describe|show|list|get-[a-z-]+)\]/;

/**
 * Records its own name and each argument in brackets. As the clouds' command lines do, it fails when it is asked for
 * something that does not exist, and when it is to create something that does; a list is empty instead.
 */
const RECORDER = `#!/bin/sh
printf "%s" "\${0##*/}" >> calls
printf " [%s]" "$@" >> calls
echo >> calls
case " $* " in
  *" list "*) test ! -e again || echo found ;;
  *" describe "* | *" show "* | *" get-"*) test -e again ;;
  *" assignment create "*) ;;
  *" create "* | *" create-"*) test ! -e again ;;
esac
`;

interface Pasted {
  /** the commands that only ask, with each argument in brackets */
  readonly asked: readonly string[];
  /** one for each command that asks nothing, with each argument in brackets */
  readonly calls: readonly string[];
  /** the same, when the commands are pasted again and everything exists */
  readonly callsAgain: readonly string[];
  readonly file: (name: string) => string;
}

/** Pastes the commands, twice, into a shell where the clouds' command lines only record what they are given. */
function pasted(provider: Provider, type: string, hints: Record<string, string>): Pasted {
  const folder = mkdtempSync(join(tmpdir(), 'trust-setup-'));
  try {
    for (const name of ['aws', 'gcloud', 'az']) {
      writeFileSync(join(folder, name), RECORDER);
      chmodSync(join(folder, name), 0o755);
    }
    const facts = DriverRegistry.facts(provider);
    const { setup } = facts.credentialTypes[type]!;
    const paste = (): Pick<Pasted, 'asked' | 'calls'> => {
      execFileSync('sh', ['-eu'], {
        cwd: folder,
        input: setup!({ issuer: ISSUER, subject: SUBJECT, hints }, firstTypeOf(facts).policy),
        env: { PATH: `${folder}:${process.env['PATH']}` },
      });
      const calls = readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
      rmSync(join(folder, 'calls'));
      return {
        asked: calls.filter((call) => ASKS.test(call)),
        calls: calls.filter((call) => !ASKS.test(call)),
      };
    };
    const first = paste();
    writeFileSync(join(folder, 'again'), '');
    const callsAgain = paste().calls;
    const names = ['trust.json', 'policy.json', 'role.yaml', 'role.json'];
    const files = new Map(
      names.flatMap((name) => {
        try {
          return [[name, readFileSync(join(folder, name), 'utf8')] as const];
        } catch {
          // the commands of another cloud write it
          return [];
        }
      }),
    );
    return { ...first, callsAgain, file: (name) => files.get(name)! };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('The commands that make a cloud trust the issuer can be pasted into a shell, once and again', () => {
  it('for AWS', () => {
    const roleArn = 'arn:aws-cn:iam::210987654321:role/teams/door-keeper';
    const { asked, calls, callsAgain, file } = pasted('AWS', 'WEB_IDENTITY', { roleArn });
    const name = '[--role-name] [door-keeper]';
    expect(calls).toEqual([
      `aws [iam] [create-open-id-connect-provider] [--url] [${ISSUER}] [--client-id-list] [sts.amazonaws.com]`,
      `aws [iam] [create-role] ${name} [--path] [/teams/] [--assume-role-policy-document] [file://trust.json]`,
      `aws [iam] [put-role-policy] ${name} [--policy-name] [drawbridge] [--policy-document] [file://policy.json]`,
    ]);
    const provider = 'drawbridge.example.com/oidc/one';
    const providerArn = `arn:aws-cn:iam::210987654321:oidc-provider/${provider}`;
    expect(asked).toEqual([
      `aws [iam] [get-open-id-connect-provider] [--open-id-connect-provider-arn] [${providerArn}]`,
      `aws [iam] [get-role] ${name}`,
    ]);
    expect(callsAgain).toEqual(calls.slice(-1));
    expect(file('policy.json')).toBe(firstTypeOf(DriverRegistry.facts('AWS')).policy);
    expect(JSON.parse(file('trust.json'))).toMatchObject({
      Statement: [
        {
          Principal: { Federated: providerArn },
          Condition: {
            StringEquals: { [`${provider}:aud`]: 'sts.amazonaws.com', [`${provider}:sub`]: SUBJECT },
          },
        },
      ],
    });
  });

  it("for AWS through Drawbridge's own identity, with a word where the external id belongs", () => {
    const { calls, file } = pasted('AWS', 'ASSUME_ROLE', { roleArn: 'arn:aws:iam::210987654321:role/doors' });
    expect(calls).toEqual([
      `aws [iam] [create-role] [--role-name] [doors] [--assume-role-policy-document] [file://trust.json]`,
      `aws [iam] [put-role-policy] [--role-name] [doors] [--policy-name] [drawbridge] [--policy-document] [file://policy.json]`,
    ]);
    const Condition = { StringEquals: { 'sts:ExternalId': 'EXTERNAL_ID' } };
    expect(JSON.parse(file('trust.json'))).toMatchObject({
      Statement: [{ Action: 'sts:AssumeRole', Condition }],
    });
  });

  const POOL = { project_id: 'shop', projectNumber: '123456', poolId: 'doors', providerId: 'one' };
  const PRINCIPAL = `principal://iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/doors/subject/${SUBJECT}`;

  it('for Google Cloud', () => {
    const { asked, calls, callsAgain, file } = pasted('GCP', 'FEDERATION', POOL);
    expect(calls.slice(1)).toEqual([
      'gcloud [iam] [workload-identity-pools] [create] [doors] [--project=shop] [--location=global]',
      'gcloud [iam] [roles] [create] [drawbridge] [--project=shop] [--file=role.yaml]',
      'gcloud [iam] [workload-identity-pools] [providers] [create-oidc] [one] [--project=shop] [--location=global] ' +
        `[--workload-identity-pool=doors] [--issuer-uri=${ISSUER}] [--attribute-mapping=google.subject=assertion.sub] ` +
        `[--attribute-condition=assertion.sub=="${SUBJECT}"]`,
      'gcloud [projects] [add-iam-policy-binding] [shop] [--role=projects/shop/roles/drawbridge] ' +
        `[--member=${PRINCIPAL}]`,
    ]);
    expect(asked).toEqual([
      'gcloud [iam] [workload-identity-pools] [describe] [doors] [--project=shop] [--location=global]',
      'gcloud [iam] [roles] [describe] [drawbridge] [--project=shop]',
      'gcloud [iam] [workload-identity-pools] [providers] [describe] [one] [--project=shop] [--location=global] ' +
        '[--workload-identity-pool=doors]',
    ]);
    expect(callsAgain).toEqual([calls[0], calls.at(-1)]);
    expect(file('role.yaml')).toBe(firstTypeOf(DriverRegistry.facts('GCP')).policy);
  });

  it('for Google Cloud with a service account, which gets the role', () => {
    const email = 'doors@shop.iam.gserviceaccount.com';
    const { calls } = pasted('GCP', 'FEDERATION', { ...POOL, serviceAccountEmail: email });
    expect(calls.slice(-2)).toEqual([
      `gcloud [projects] [add-iam-policy-binding] [shop] [--role=projects/shop/roles/drawbridge] [--member=serviceAccount:${email}]`,
      `gcloud [iam] [service-accounts] [add-iam-policy-binding] [${email}] [--project=shop] ` +
        `[--role=roles/iam.workloadIdentityUser] [--member=${PRINCIPAL}]`,
    ]);
  });

  it('for Azure', () => {
    const subscriptionId = '00000000-0000-4000-8000-000000000001';
    const { asked, calls, callsAgain, file } = pasted('AZURE', 'FEDERATED', {
      clientId: 'the-app',
      subscriptionId,
    });
    const [trust, ...rest] = calls;
    const [, parameters] = /\[--id\] \[the-app\] \[--parameters\] \[(.*)\]$/.exec(trust!)!;
    expect(JSON.parse(parameters!)).toEqual({
      name: 'drawbridge-two',
      issuer: ISSUER,
      subject: SUBJECT,
      audiences: ['api://AzureADTokenExchange'],
    });
    // unique in the tenant, which may have other subscriptions
    const role = `Drawbridge ${subscriptionId}`;
    expect(rest).toEqual([
      'az [role] [definition] [create] [--role-definition] [@role.json]',
      `az [role] [assignment] [create] [--assignee] [the-app] [--role] [${role}] [--scope] [/subscriptions/${subscriptionId}]`,
    ]);
    expect(asked).toEqual([
      'az [ad] [app] [federated-credential] [show] [--id] [the-app] [--federated-credential-id] [drawbridge-two]',
      `az [role] [definition] [list] [--name] [${role}] [--scope] [/subscriptions/${subscriptionId}] ` +
        '[--query] [[].id] [--output] [tsv]',
    ]);
    expect(callsAgain).toEqual(calls.slice(-1));
    expect(JSON.parse(file('role.json'))).toMatchObject({
      Name: role,
      AssignableScopes: [`/subscriptions/${subscriptionId}`],
    });
  });

  it('whatever the fields contain', () => {
    const { calls } = pasted('GCP', 'FEDERATION', { ...POOL, poolId: `a'; touch stolen; '$(id)` });
    expect(calls[1]).toContain(`[create] [a'; touch stolen; '$(id)] [--project=shop]`);
  });
});
