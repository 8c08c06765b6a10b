import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeManagedPrefixListsCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  RevokeSecurityGroupIngressCommand,
  type IpPermission,
  type SecurityGroupRule,
} from '@aws-sdk/client-ec2';
import { isFull, parseRuleKey, type ResourceConfig, type Room, type RuleSpec } from '#rules';
import { asCallFailure } from '../call-failure';
import { DriverError } from '../driver-error';
import { explainOpen, refuseOpenTarget } from '../open-target';
import type { Outcomes } from '../outcomes';
import type { Inspection, Verified } from '../provider-driver';
import { writtenKeys } from '../written-keys';
import { addRules } from './addition';
import { unexpectedResponse } from './aws-errors';
import type { AwsTarget, Changes, ReadTarget, WritableGroup } from './aws-target';
import type { TenantAccess } from './ec2-clients';
import { Ec2Target, type Page } from './ec2-target';
import { groupRoom, type ListSize } from './group-room';
import { removeRules } from './removal';
import { observedRule, ruleKeyOfEc2 } from './rule-mapping';
import type { SdkSettings } from './sdk-settings';

const specsOf = (rules: readonly SecurityGroupRule[]): RuleSpec[] =>
  rules.flatMap((rule) => {
    const key = ruleKeyOfEc2(rule);
    return key === null ? [] : [parseRuleKey(key)];
  });

const fullnessOf = (room: readonly Room[]): string[] =>
  room
    .filter(isFull)
    .map(
      ({ used, family }) =>
        `${used} inbound IPv${family} rules: the group is full, unless the account’s quota was raised`,
    );

/** EC2's maximum page size. */
const PAGE_SIZE = 1000;

/** The inbound rules of a security group. Each API call throws CallFailure, also for a malformed response. */
export class SecurityGroup extends Ec2Target implements AwsTarget, WritableGroup {
  constructor(
    readonly groupId: string,
    private readonly tenant: Pick<TenantAccess, 'call' | 'listSizes'>,
    settings: SdkSettings,
  ) {
    super(tenant, settings);
  }

  async verify(config: ResourceConfig): Promise<Verified> {
    await this.describe();
    const rules = await this.listRules();
    await this.requireWritePermission();
    refuseOpenTarget(this.groupId, config, specsOf(rules));
    return { warnings: fullnessOf(await this.roomIn(rules)) };
  }

  async inspect(target: ReadTarget): Promise<Inspection> {
    const rules = await this.listRules();
    // For a deleted group, EC2 returns an empty list: check that the group exists.
    if (rules.length === 0) await this.describe();
    const writtenKey = writtenKeys(target);
    return {
      rules: rules
        .map((rule) => observedRule(rule, target.deployment, writtenKey))
        .filter((rule) => rule !== null),
      room: await this.roomIn(rules),
      explainOpen: (config) => explainOpen(this.groupId, config, specsOf(rules)),
    };
  }

  async apply({ adds, removals }: Changes, _target: ReadTarget, outcomes: Outcomes): Promise<void> {
    if (adds.some(({ spec }) => spec.ports.length > 1))
      throw new DriverError('invalid', 'A rule of a security group holds one port range');
    if (removals.length > 0) await removeRules(this, removals, outcomes);
    outcomes.beginAdditions();
    if (adds.length > 0) await addRules(this, adds, outcomes);
  }

  /** Checks that the group exists and the credential may read it. */
  private async describe(): Promise<void> {
    const command = new DescribeSecurityGroupsCommand({ GroupIds: [this.groupId] });
    const response = await this.call((client, options) => client.send(command, options));
    const isPresent = response.SecurityGroups?.some(({ GroupId }) => GroupId?.toLowerCase() === this.groupId);
    if (!isPresent) throw unexpectedResponse('DescribeSecurityGroups');
  }

  private async roomIn(rules: readonly SecurityGroupRule[]): Promise<Room[]> {
    const ids = rules.flatMap(({ IsEgress, PrefixListId: id }) => (IsEgress || id === undefined ? [] : [id]));
    const lists = new Map<string, ListSize | null>();
    for (const id of new Set(ids)) {
      const known = this.tenant.listSizes.get(id) ?? { size: await this.readSize(id) };
      this.tenant.listSizes.set(id, known);
      lists.set(id, known.size);
    }
    return groupRoom(rules, lists);
  }

  /** @returns null when it cannot be read */
  private async readSize(listId: string): Promise<ListSize | null> {
    const command = new DescribeManagedPrefixListsCommand({ PrefixListIds: [listId] });
    try {
      const { PrefixLists } = await this.call((client, options) => client.send(command, options));
      const { AddressFamily, MaxEntries: maxEntries } = PrefixLists?.[0] ?? {};
      return maxEntries === undefined ? null : { family: AddressFamily === 'IPv6' ? 6 : 4, maxEntries };
    } catch (error) {
      asCallFailure(error);
      return null;
    }
  }

  listRules(): Promise<SecurityGroupRule[]> {
    return this.readAllPages('DescribeSecurityGroupRules', (token) => this.readPage(token));
  }

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
  private async requireWritePermission(): Promise<void> {
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
