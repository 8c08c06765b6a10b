import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  RevokeSecurityGroupIngressCommand,
  type IpPermission,
  type SecurityGroupRule,
} from '@aws-sdk/client-ec2';
import type { DriverErrorKind } from '#rules';
import { asCallFailure } from '../call-failure';
import { oddAnswer, toFailure } from './aws-errors';
import type { Ec2Access } from './ec2-clients';
import type { SdkSettings } from './sdk-settings';

type CallOptions = ReturnType<SdkSettings['deadline']>;

/** After these nobody knows; a rule that is not there is a conflict, and says that it was looked for. */
const PASSING: ReadonlySet<DriverErrorKind> = new Set(['throttled', 'transient']);

/** The most that EC2 takes. */
const PAGE_SIZE = 1000;

/** The calls Drawbridge makes on one security group. Each throws CallFailure, also for an answer in another shape. */
export class SecurityGroup {
  constructor(
    readonly groupId: string,
    private readonly access: Ec2Access,
    private readonly settings: SdkSettings,
  ) {}

  /** Succeeds when the group exists and the credential may see it. */
  async describe(): Promise<void> {
    const command = new DescribeSecurityGroupsCommand({ GroupIds: [this.groupId] });
    const answer = await this.call((options) => this.access.client.send(command, options));
    const shown = answer.SecurityGroups?.some(({ GroupId }) => GroupId?.toLowerCase() === this.groupId);
    if (!shown) throw oddAnswer('DescribeSecurityGroups');
  }

  /** Every rule of the group, outbound ones too, all pages. */
  async readRules(): Promise<SecurityGroupRule[]> {
    const rules: SecurityGroupRule[] = [];
    let next: string | undefined;
    do {
      const page = await this.readPage(next);
      rules.push(...page.rules);
      if (page.next !== undefined && page.next === next) throw oddAnswer('DescribeSecurityGroupRules');
      next = page.next;
    } while (next !== undefined);
    return rules;
  }

  /** @returns the rules made of the permissions, in any order */
  async authorize(permissions: IpPermission[]): Promise<SecurityGroupRule[]> {
    const command = new AuthorizeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      IpPermissions: permissions,
    });
    const answer = await this.call((options) => this.access.client.send(command, options));
    if (answer.Return !== true) throw oddAnswer('AuthorizeSecurityGroupIngress');
    return answer.SecurityGroupRules ?? [];
  }

  async revoke(ruleIds: readonly string[]): Promise<void> {
    const command = new RevokeSecurityGroupIngressCommand({
      GroupId: this.groupId,
      SecurityGroupRuleIds: [...ruleIds],
    });
    const answer = await this.call((options) => this.access.client.send(command, options));
    if (answer.Return !== true) throw oddAnswer('RevokeSecurityGroupIngress');
  }

  /**
   * Asks EC2, by dry runs, whether the credential may open and close here. Any refusal but of the permission itself
   * says that it may: the rules asked about are made up.
   */
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
    await this.dryRun(() => this.call((options) => this.access.client.send(authorize, options)));
    await this.dryRun(() => this.call((options) => this.access.client.send(revoke, options)));
  }

  /** A dry run never succeeds: EC2 says `DryRunOperation` when it would have. */
  private async dryRun(send: () => Promise<unknown>): Promise<void> {
    try {
      await send();
    } catch (error) {
      const failure = asCallFailure(error);
      if (failure.kind === 'denied' || failure.kind === 'target-missing' || PASSING.has(failure.kind))
        throw failure;
    }
  }

  private async readPage(token: string | undefined): Promise<{ rules: SecurityGroupRule[]; next?: string }> {
    const command = new DescribeSecurityGroupRulesCommand({
      Filters: [{ Name: 'group-id', Values: [this.groupId] }],
      MaxResults: PAGE_SIZE,
      ...(token !== undefined && { NextToken: token }),
    });
    const answer = await this.call((options) => this.access.client.send(command, options));
    const rules = answer.SecurityGroupRules;
    // No list is another answer than an empty list: read as "nothing is open", it would close sessions in the books.
    if (!rules?.every(({ SecurityGroupRuleId }) => SecurityGroupRuleId)) {
      throw oddAnswer('DescribeSecurityGroupRules');
    }
    return { rules, ...(answer.NextToken && { next: answer.NextToken }) };
  }

  private async call<T>(send: (options: CallOptions) => Promise<T>): Promise<T> {
    try {
      return await send(this.settings.deadline());
    } catch (error) {
      throw toFailure(error, this.access.secrets);
    }
  }
}
