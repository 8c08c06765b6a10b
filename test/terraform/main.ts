import 'reflect-metadata';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { jobClaims, now, type OidcTrust } from '../builders/sso/oidc';
import { group, organization, sshTo, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { IdTokenEndpoint } from '../harness/issuers/id-token-endpoint';
import { OidcIssuer } from '../harness/issuers/oidc-issuer';
import acquireTestServer from '../harness/product/test-server';

/** More than one process of theirs has tests. */
const KEYS = 40;
const MODULE = resolve(__dirname, '../../integrations/terraform');
/** Their endpoint is what `host` and `port` come from. */
const ENDPOINT = 'db.example.com:5432';

type Claims = (issuer: OidcIssuer, audience: string) => Record<string, unknown>;

const plain = (issuer: OidcIssuer, aud: string): Record<string, unknown> => ({
  iss: issuer.url,
  aud,
  jti: randomUUID(),
  iat: now(),
  exp: now() + 300,
});

const GITLAB = { project_id: ['7'], ref_protected: ['true'] };
const HCP = {
  terraform_organization_id: ['org-1'],
  terraform_workspace_id: ['ws-1'],
  terraform_run_phase: ['apply'],
};
const GITHUB = { repository_id: ['74'], repository_owner_id: ['65'], environment: ['production'] };

/** The systems that issue ID tokens: the conditions of their trust, and the claims of a job that meets them. */
const SYSTEMS: Readonly<Record<string, { conditions: Record<string, string[]>; claims: Claims }>> = {
  GITHUB: { conditions: GITHUB, claims: jobClaims },
  GITLAB: {
    conditions: GITLAB,
    claims: (...at) => ({ ...plain(...at), project_id: '7', ref_protected: 'true' }),
  },
  HCP_TERRAFORM: {
    conditions: HCP,
    claims: (...at) => ({
      ...plain(...at),
      ...Object.fromEntries(Object.entries(HCP).map(([claim, [value]]) => [claim, value])),
    }),
  },
};

/**
 * Starts the product with simulated clouds, and runs the tests of the provider against it, or the program that is named by the
 * arguments. What they need is in DRAWBRIDGE_TEST, as JSON.
 */
async function main([program = 'go', ...given]: readonly string[]): Promise<number> {
  const releaseTestServer = await acquireTestServer();
  const issuer = await OidcIssuer.start();
  const drawbridge = await Drawbridge.start({ limitedAsShipped: true, api: { OIDC_ISSUERS: issuer.url } });
  const endpoints: IdTokenEndpoint[] = [];
  try {
    const org = await organization(drawbridge, sshTo(3));
    const { admin } = org;
    for (const id of org.resourceIds)
      await admin.expect(200, admin.patch(`/resources/${id}`, { endpoint: ENDPOINT }));
    const guarded = await admin.created<{ id: string }>('/roles', { name: 'Guarded', approvals: 1 });
    await admin.posted(`/roles/${guarded.id}/resources/${org.resourceIds[1]}`);
    await admin.expect(204, admin.delete(`/roles/${org.roleId}/resources/${org.resourceIds[1]}`));
    const roleIds = [org.roleId, guarded.id];
    const systems: Record<string, object> = {};
    let trust: OidcTrust | undefined;
    for (const [preset, { conditions, claims }] of Object.entries(SYSTEMS)) {
      const scopes = ['sessions:write', 'sessions:read'];
      const body = { name: preset, preset, issuer: issuer.url, conditions, scopes, roleIds };
      trust = await admin.created<OidcTrust>('/oidc-trusts', body);
      const endpoint = await IdTokenEndpoint.start((audience) => issuer.sign(claims(issuer, audience)));
      endpoints.push(endpoint);
      systems[preset] = endpoint.variables;
    }
    const apiKeys: string[] = [];
    for (let key = 0; key < KEYS; key += 1) apiKeys.push(await apiKey(org, trust!.serviceUserId));
    const test = {
      url: `http://127.0.0.1:${drawbridge.apiServer.port}`,
      simulator: drawbridge.cloud.url,
      // of what runs beside the tests
      apiKey: await apiKey(org, trust!.serviceUserId),
      apiKeys,
      adminToken: admin.identity && 'token' in admin.identity ? admin.identity.token : '',
      audience: trust!.audience,
      otherTarget: group(2),
      systems,
    };
    const args = given.length > 0 || program !== 'go' ? given : ['test', '-parallel', '8', './...'];
    const child = spawn(program, args, {
      cwd: program === 'go' ? MODULE : process.cwd(),
      env: { ...process.env, DRAWBRIDGE_TEST: JSON.stringify(test) },
      stdio: 'inherit',
    });
    return await new Promise((done, fail) => {
      child.once('error', fail);
      child.once('exit', (code) => done(code ?? 1));
    });
  } finally {
    await Promise.all(endpoints.map((endpoint) => endpoint.stop()));
    await drawbridge.stop();
    await issuer.stop();
    await releaseTestServer();
  }
}

async function apiKey({ admin }: Organization, userId: string): Promise<string> {
  const body = { name: `terraform ${randomUUID()}`, scopes: ['sessions:write', 'sessions:read'], userId };
  return (await admin.created<{ plainTextKey: string }>('/api-keys', body)).plainTextKey;
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);
