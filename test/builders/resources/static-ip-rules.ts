import type { Schemas } from '#client';
import type { Answer } from '../../harness/product/api-client';
import { until } from '../../harness/until';
import type { Organization } from '../accounts/organization';

export type StaticIpRule = Schemas['StaticIpRuleDto'];

/** Posts a rule on the organization's first resource. @param body overrides fields */
export const postStaticIpRule = (org: Organization, body: object): Promise<Answer<StaticIpRule>> =>
  org.admin.post<StaticIpRule>('/static-ip-rules', {
    label: 'Office',
    resourceIds: [org.resourceIds[0]],
    ...body,
  });

/** As `postStaticIpRule`. @throws Error unless it is created */
export const staticIpRule = (org: Organization, body: object): Promise<StaticIpRule> =>
  org.admin.expect(201, postStaticIpRule(org, body));

export const staticIpRuleReaches = (org: Organization, id: string, status: string): Promise<StaticIpRule> =>
  until(`static IP rule ${id} is ${status}`, async () => {
    const rule = await org.admin.read<StaticIpRule>(`/static-ip-rules/${id}`);
    return rule.status === status && rule;
  });
