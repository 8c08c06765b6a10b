import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  RevokeSecurityGroupIngressCommand,
  type IpPermission,
  type SecurityGroupRule,
} from '@aws-sdk/client-ec2';
import { unexpectedResponse } from './aws-errors';
import type { Ec2Access } from './ec2-clients';
import { Ec2Target, type Page } from './ec2-target';
import type { SdkSettings } from './sdk-settings';

/** EC2's maximum page size. */
const PAGE_SIZE = 1000;

/** The API calls on one security group. Each throws CallFailure, also for a malformed response. */
export class SecurityGroup extends Ec2Target {
  constructor(
    readonly groupId: string,
    access: Ec2Access,
    settings: SdkSettings,
  ) {
    super(access, settings);
  }

  /** Checks that the group exists and the credential may read it. */
  async describe(): Promise<void> {
    const command = new DescribeSecurityGroupsCommand({ GroupIds: [this.groupId] });
    const response = await this.call((client, options) => client.send(command, options));
    const isPresent = response.SecurityGroups?.some(({ GroupId }) => GroupId?.toLowerCase() === this.groupId);
    if (!isPresent) throw unexpectedResponse('DescribeSecurityGroups');
  }

  /** Every rule of the group, including outbound rules, all pages. */
  readRules(): Promise<SecurityGroupRule[]> {
    return this.readAllPages('DescribeSecurityGroupRules', (token) => this.readPage(token));
  }

  /** @returns the created rules, in any order */
  async authorize(permissions: IpPermission[]): Promise<SecurityGroupRule[]> {
    const command = new AuthorizeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      IpPermissions: permissions,
    });
    const response = await this.call((client, options) => client.send(command, options));
    if (response.Return !== true) throw unexpectedResponse('AuthorizeSecurityGroupIngress');
    return response.SecurityGroupRules ?? [];
  }

  async revoke(ruleIds: readonly string[]): Promise<void> {
    const command = new RevokeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      SecurityGroupRuleIds: [...ruleIds],
    });
    const response = await this.call((client, options) => client.send(command, options));
    if (response.Return !== true) throw unexpectedResponse('RevokeSecurityGroupIngress');
  }

  /** Checks with dry runs that the credential may add and remove rules. @throws CallFailure */
  async requireWritePermission(): Promise<void> {
    const permission = { IpProtocol: 'tcp', FromPort: 9, ToPort: 9, IpRanges: [{ CidrIp: '192.0.2.1/32' }] };
    const authorize = new AuthorizeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      IpPermissions: [permission],
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
    const response = await this.call((client, options) => client.send(command, options));
    const rules = response.SecurityGroupRules;
    // A missing list is not an empty list: read as "no rules", it would end active sessions.
    if (!rules?.every(({ SecurityGroupRuleId }) => SecurityGroupRuleId)) {
      throw unexpectedResponse('DescribeSecurityGroupRules');
    }
    return { items: rules, ...(response.NextToken && { next: response.NextToken }) };
  }
}
