import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  RevokeSecurityGroupIngressCommand,
  type IpPermission,
  type SecurityGroupRule,
} from '@aws-sdk/client-ec2';
import { oddAnswer } from './aws-errors';
import type { Ec2Access } from './ec2-clients';
import { Ec2Target, type Page } from './ec2-target';
import type { SdkSettings } from './sdk-settings';

/** The most that EC2 takes. */
const PAGE_SIZE = 1000;

/** The calls Drawbridge makes on one security group. Each throws CallFailure, also for an answer in another shape. */
export class SecurityGroup extends Ec2Target {
  constructor(
    readonly groupId: string,
    access: Ec2Access,
    settings: SdkSettings,
  ) {
    super(access, settings);
  }

  /** Succeeds when the group exists and the credential may see it. */
  async describe(): Promise<void> {
    const command = new DescribeSecurityGroupsCommand({ GroupIds: [this.groupId] });
    const answer = await this.call((client, options) => client.send(command, options));
    const shown = answer.SecurityGroups?.some(({ GroupId }) => GroupId?.toLowerCase() === this.groupId);
    if (!shown) throw oddAnswer('DescribeSecurityGroups');
  }

  /** Every rule of the group, outbound ones too, all pages. */
  readRules(): Promise<SecurityGroupRule[]> {
    return this.everyPage('DescribeSecurityGroupRules', (token) => this.readPage(token));
  }

  /** @returns the rules made of the permissions, in any order */
  async authorize(permissions: IpPermission[]): Promise<SecurityGroupRule[]> {
    const command = new AuthorizeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      IpPermissions: permissions,
    });
    const answer = await this.call((client, options) => client.send(command, options));
    if (answer.Return !== true) throw oddAnswer('AuthorizeSecurityGroupIngress');
    return answer.SecurityGroupRules ?? [];
  }

  async revoke(ruleIds: readonly string[]): Promise<void> {
    const command = new RevokeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      SecurityGroupRuleIds: [...ruleIds],
    });
    const answer = await this.call((client, options) => client.send(command, options));
    if (answer.Return !== true) throw oddAnswer('RevokeSecurityGroupIngress');
  }

  /** Asks EC2, by dry runs, whether the credential may open and close here. */
  async mayChange(): Promise<void> {
    const opening = { IpProtocol: 'tcp', FromPort: 9, ToPort: 9, IpRanges: [{ CidrIp: '192.0.2.1/32' }] };
    const authorize = new AuthorizeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      IpPermissions: [opening],
      DryRun: true,
    });
    const revoke = new RevokeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      SecurityGroupRuleIds: ['sgr-00000000000000000'],
      DryRun: true,
    });
    await this.dryRun((client, options) => client.send(authorize, options));
    await this.dryRun((client, options) => client.send(revoke, options));
  }

  private async readPage(token: string | undefined): Promise<Page<SecurityGroupRule>> {
    const command = new DescribeSecurityGroupRulesCommand({
      Filters: [{ Name: 'group-id', Values: [this.groupId] }],
      MaxResults: PAGE_SIZE,
      ...(token !== undefined && { NextToken: token }),
    });
    const answer = await this.call((client, options) => client.send(command, options));
    const rules = answer.SecurityGroupRules;
    // No list is another answer than an empty list: read as "nothing is open", it would close sessions in the books.
    if (!rules?.every(({ SecurityGroupRuleId }) => SecurityGroupRuleId)) {
      throw oddAnswer('DescribeSecurityGroupRules');
    }
    return { items: rules, ...(answer.NextToken && { next: answer.NextToken }) };
  }
}
