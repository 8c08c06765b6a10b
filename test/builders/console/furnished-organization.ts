import { randomUUID } from 'node:crypto';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { documentedOperations } from '../../harness/contract/documented-operations';
import { asked, asks } from '../requests/access-requests';
import { BILLING_DETAILS } from '../billing/billing';
import { colleague } from '../accounts/colleague';
import { REGISTERED } from '../sso/identity-providers';
import { organization, type Organization, type ResourcePlan } from '../accounts/organization';

/** An organization with one object of each kind. */
export interface FurnishedOrganization extends Organization {
  readonly sessionId: string;
  readonly staticIpRuleId: string;
  readonly apiKeyId: string;
  readonly userId: string;
  readonly oidcTrustId: string;
  readonly webhookId: string;
  readonly identityProviderId: string;
  readonly accessRequestId: string;
}

export async function furnishedOrganization(
  drawbridge: Drawbridge,
  plan: ResourcePlan,
  ipv4Address: string,
): Promise<FurnishedOrganization> {
  const org = await organization(drawbridge, [plan]);
  const { admin, resourceIds } = org;
  const made = async (path: string, body: object): Promise<string> => (await admin.created(path, body)).id;
  await admin.patched('/organization/billing', BILLING_DETAILS);
  const plans = await admin.read<{ id: string; tier: string }[]>('/billing/plans');
  const planId = plans.find(({ tier }) => tier === 'PAID')!.id;
  await admin.posted('/billing/subscribe', { planId });
  const { id: sessionId } = await org.started({ ipv4Address });
  await colleague(org);
  await asks(org, { approvals: 1, approverRoleIds: [org.roleId] });
  const { id: accessRequestId } = await asked(org, admin, { ipv4Address });
  await asks(org, { approvals: 0 });
  return Object.assign(org, {
    accessRequestId,
    sessionId,
    staticIpRuleId: await made('/static-ip-rules', { label: 'Office', ipAddress: ipv4Address, resourceIds }),
    apiKeyId: await made('/api-keys', { name: 'pipeline', scopes: ['sessions:read'] }),
    oidcTrustId: await made('/oidc-trusts', {
      name: 'Deploy',
      preset: 'GITLAB',
      conditions: { project_id: ['7'], ref_protected: ['true'] },
      scopes: ['sessions:write'],
    }),
    webhookId: await made('/webhooks', { url: 'http://127.0.0.1:9/' }),
    identityProviderId: await made('/identity-providers', REGISTERED),
    userId: await made('/users', { email: `${randomUUID()}@example.com`, roleIds: [org.roleId] }),
  });
}

/** The furnished resources are no hosts. */
const isForAgents = (template: string): boolean =>
  template.startsWith('/agents/') || template === '/resources/{id}/guard';

/** Every readable path, lists and single objects, with the organization's ids. */
export async function readablePaths(org: FurnishedOrganization): Promise<string[]> {
  const ids: Readonly<Record<string, string>> = {
    sessions: org.sessionId,
    resources: org.resourceIds[0]!,
    credentials: org.credentialId,
    roles: org.roleId,
    users: org.userId,
    'static-ip-rules': org.staticIpRuleId,
    'oidc-trusts': org.oidcTrustId,
    webhooks: org.webhookId,
    'identity-providers': org.identityProviderId,
    'access-requests': org.accessRequestId,
    organizations: org.organizationId,
  };
  const operations = await documentedOperations(`http://127.0.0.1:${org.drawbridge.apiServer.port}/api/v1`);
  return operations
    .filter(({ method, guarded, template }) => method === 'GET' && guarded && !isForAgents(template))
    .map(({ template }) => {
      // a report needs a subject and a time
      const question = template === '/reports/access' ? `?userId=${org.userId}&at=2026-01-31` : '';
      const path = template.replace(
        /([\w-]+)\/\{id\}/,
        (_, collection: string) => `${collection}/${ids[collection]}`,
      );
      return `${path}${question}`;
    });
}
