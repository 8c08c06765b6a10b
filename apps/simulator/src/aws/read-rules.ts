import { dryRunSucceeded, invalidValue } from './aws-error';
import { isDryRun, type Ec2Operation } from './ec2-operation';
import { requestedPage } from './paging';
import type { QueryForm } from './query-form';
import { checkRuleIds, ruleIdNotFound } from './rule-ids';
import { groupXml, ruleXml, VPC_ID } from './rule-xml';
import type { SecurityGroupRule } from './security-groups';

interface Filter {
  readonly name: string;
  readonly values: readonly string[];
}

const readFilters = (form: QueryForm): Filter[] =>
  form.list('Filter').map((filter) => ({ name: filter.text('Name') ?? '', values: filter.texts('Value') }));

const filteredGroups = (form: QueryForm): string[] =>
  readFilters(form).flatMap(({ name, values }) => (name === 'group-id' ? values : []));

/** DescribeSecurityGroupRules: inbound and outbound rules; a filter without a match gives an empty list. */
export const describeRules: Ec2Operation = {
  effect: 'read',
  targets: (form, { groups }) => [
    ...filteredGroups(form),
    ...form.texts('SecurityGroupRuleId').flatMap((ruleId) => groups.find(ruleId)?.groupId ?? []),
  ],
  items: (form) => form.texts('SecurityGroupRuleId').length,
  perform(form, { groups }, how) {
    const filters = readFilters(form);
    const ruleIds = form.texts('SecurityGroupRuleId');
    checkRuleIds(ruleIds);
    const [group, ...others] = filteredGroups(form);
    // only the group that a filter names, when it names a single one
    const visible = groups.rules(others.length === 0 ? group : undefined, how.asOf);
    const missing = ruleIds.find((ruleId) => !visible.some((rule) => rule.id === ruleId));
    if (missing !== undefined) throw ruleIdNotFound(missing);
    const matching = visible
      .filter((rule) => ruleIds.length === 0 || ruleIds.includes(rule.id))
      .filter((rule) => filters.every((filter) => matchesRule(rule, filter)));
    const page = requestedPage(form, matching);
    if (isDryRun(form)) throw dryRunSucceeded();
    return { securityGroupRuleSet: page.items.map(ruleXml), nextToken: page.next };
  },
};

/** DescribeSecurityGroups: an unknown id is an error, an unknown name in a filter gives an empty list. */
export const describeGroups: Ec2Operation = {
  effect: 'read',
  targets: (form) => [...form.texts('GroupId'), ...filteredGroups(form)],
  perform(form, { groups }, how) {
    const groupIds = form.texts('GroupId');
    for (const groupId of groupIds) groups.check(groupId);
    const filters = readFilters(form);
    const matching = groups.ids
      .map((groupId, ordinal) => ({ groupId, ordinal }))
      .filter(({ groupId }) => groupIds.length === 0 || groupIds.includes(groupId))
      .filter(({ groupId }) => filters.every((filter) => matchesGroup(groupId, filter)));
    const page = requestedPage(form, matching);
    if (isDryRun(form)) throw dryRunSucceeded();
    return {
      securityGroupInfo: page.items.map(({ groupId }) => groupXml(groupId, groups.rules(groupId, how.asOf))),
      nextToken: page.next,
    };
  },
};

function matchesRule(rule: SecurityGroupRule, { name, values }: Filter): boolean {
  if (name === 'group-id') return values.includes(rule.groupId);
  if (name === 'security-group-rule-id') return values.includes(rule.id);
  if (name.startsWith('tag:')) {
    const key = name.slice('tag:'.length);
    return rule.tags.some((tag) => tag.key === key && values.includes(tag.value));
  }
  throw invalidValue(`The filter '${name}' is invalid`);
}

function matchesGroup(groupId: string, { name, values }: Filter): boolean {
  if (name === 'group-id') return values.includes(groupId);
  if (name === 'group-name') return values.includes(`simulated-${groupId.slice(-1)}`);
  if (name === 'vpc-id') return values.includes(VPC_ID);
  throw invalidValue(`The filter '${name}' is invalid`);
}
