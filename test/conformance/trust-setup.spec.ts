import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DriverRegistry } from '#drivers';
import type { Provider } from '#rules';

const ISSUER = 'https://drawbridge.example.com/oidc/one';
const SUBJECT = 'org:one:credential:two';

/** Prints its own name and each argument in brackets. */
const RECORDER = '#!/bin/sh\nprintf "%s" "${0##*/}" >> calls\nprintf " [%s]" "$@" >> calls\necho >> calls\n';

interface Pasted {
  /** one for each command, with each argument in brackets */
  readonly calls: readonly string[];
  readonly file: (name: string) => string;
}

/** Pastes the commands into a shell where the clouds' command lines only record what they are given. */
function pasted(provider: Provider, type: string, hints: Record<string, string>): Pasted {
  const folder = mkdtempSync(join(tmpdir(), 'trust-setup-'));
  try {
    for (const name of ['aws', 'gcloud', 'az']) {
      writeFileSync(join(folder, name), RECORDER);
      chmodSync(join(folder, name), 0o755);
    }
    const { setup } = DriverRegistry.facts(provider).credentialTypes[type]!;
    execFileSync('sh', ['-eu'], {
      cwd: folder,
      input: setup!({ issuer: ISSUER, subject: SUBJECT, hints }),
      env: { PATH: `${folder}:${process.env['PATH']}` },
    });
    const names = ['calls', 'trust.json', 'policy.json', 'role.yaml', 'role.json'];
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
    return { calls: files.get('calls')!.trimEnd().split('\n'), file: (name) => files.get(name)! };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('The commands that make a cloud trust the issuer can be pasted into a shell', () => {
  it('for AWS', () => {
    const roleArn = 'arn:aws-cn:iam::210987654321:role/teams/door-keeper';
    const { calls, file } = pasted('AWS', 'WEB_IDENTITY', { roleArn });
    const name = '[--role-name] [door-keeper]';
    expect(calls).toEqual([
      `aws [iam] [create-open-id-connect-provider] [--url] [${ISSUER}] [--client-id-list] [sts.amazonaws.com]`,
      `aws [iam] [create-role] ${name} [--path] [/teams/] [--assume-role-policy-document] [file://trust.json]`,
      `aws [iam] [put-role-policy] ${name} [--policy-name] [drawbridge] [--policy-document] [file://policy.json]`,
    ]);
    expect(file('policy.json')).toBe(DriverRegistry.facts('AWS').policy);
    const provider = 'drawbridge.example.com/oidc/one';
    expect(JSON.parse(file('trust.json'))).toMatchObject({
      Statement: [
        {
          Principal: { Federated: `arn:aws-cn:iam::210987654321:oidc-provider/${provider}` },
          Condition: {
            StringEquals: { [`${provider}:aud`]: 'sts.amazonaws.com', [`${provider}:sub`]: SUBJECT },
          },
        },
      ],
    });
  });

  const POOL = { project_id: 'shop', projectNumber: '123456', poolId: 'doors', providerId: 'one' };
  const PRINCIPAL = `principal://iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/doors/subject/${SUBJECT}`;

  it('for Google Cloud', () => {
    const { calls, file } = pasted('GCP', 'FEDERATION', POOL);
    expect(calls.slice(1)).toEqual([
      'gcloud [iam] [workload-identity-pools] [create] [doors] [--project=shop] [--location=global]',
      'gcloud [iam] [roles] [create] [drawbridge] [--project=shop] [--file=role.yaml]',
      'gcloud [iam] [workload-identity-pools] [providers] [create-oidc] [one] [--project=shop] [--location=global] ' +
        `[--workload-identity-pool=doors] [--issuer-uri=${ISSUER}] [--attribute-mapping=google.subject=assertion.sub] ` +
        `[--attribute-condition=assertion.sub=="${SUBJECT}"]`,
      'gcloud [projects] [add-iam-policy-binding] [shop] [--role=projects/shop/roles/drawbridge] ' +
        `[--member=${PRINCIPAL}]`,
    ]);
    expect(file('role.yaml')).toBe(DriverRegistry.facts('GCP').policy);
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
    const { calls, file } = pasted('AZURE', 'FEDERATED', { clientId: 'the-app', subscriptionId });
    const [trust, ...rest] = calls;
    const [, parameters] = /\[--id\] \[the-app\] \[--parameters\] \[(.*)\]$/.exec(trust!)!;
    expect(JSON.parse(parameters!)).toEqual({
      name: 'drawbridge-two',
      issuer: ISSUER,
      subject: SUBJECT,
      audiences: ['api://AzureADTokenExchange'],
    });
    expect(rest).toEqual([
      'az [role] [definition] [create] [--role-definition] [@role.json]',
      `az [role] [assignment] [create] [--assignee] [the-app] [--role] [Drawbridge] [--scope] [/subscriptions/${subscriptionId}]`,
    ]);
    expect(JSON.parse(file('role.json'))).toMatchObject({
      AssignableScopes: [`/subscriptions/${subscriptionId}`],
    });
  });

  it('whatever the fields contain', () => {
    const { calls } = pasted('GCP', 'FEDERATION', { ...POOL, poolId: `a'; touch stolen; '$(id)` });
    expect(calls[1]).toContain(`[create] [a'; touch stolen; '$(id)] [--project=shop]`);
  });
});
