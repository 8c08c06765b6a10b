import type { Answer } from '../../harness/product/api-client';
import { until } from '../../harness/until';
import type { Organization } from '../accounts/organization';

export interface StaticIpRule {
  readonly id: string;
  readonly label: string;
  readonly ipAddress: string;
  readonly status: string;
  readonly createdByEmail: string;
  readonly createdAt: string;
  readonly resources: readonly {
    readonly resourceId: string;
    readonly resourceName: string;
    readonly status: string;
    readonly appliedAt: string | null;
    readonly errorMessage: string | null;
  }[];
}

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
    const rule = await org.admin.expect(200, org.admin.get<StaticIpRule>(`/static-ip-rules/${id}`));
    return rule.status === status && rule;
  });
