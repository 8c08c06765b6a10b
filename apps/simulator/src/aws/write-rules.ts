import { awsError, dryRunSucceeded, missingParameter } from './aws-error';
import { isDryRun, itemsToApply, targetIn, type Ec2Operation } from './ec2-operation';
import { readPermissions, checkDuplicates, type RuleSpec } from './permissions';
import type { QueryForm } from './query-form';
import { checkRuleIds, ruleIdNotFound } from './rule-ids';
import type { SecurityGroupRule, SecurityGroups } from './security-groups';
import { readRuleTags } from './tags';
import { ruleXml } from './rule-xml';

const SOURCES = ['IpRanges', 'Ipv6Ranges', 'Groups', 'PrefixListIds'];

/** The number of sources in a request, not validated. */
const countSources = (form: QueryForm): number =>
  form
    .list('IpPermissions')
    .flatMap((entry) => SOURCES.map((name) => entry.list(name).length))
    .reduce((sum, count) => sum + count, 0) + (form.text('CidrIp') === undefined ? 0 : 1);

/** AuthorizeSecurityGroupIngress: adds all rules, or none. */
export const authorizeIngress: Ec2Operation = {
  effect: 'add',
  targets: targetIn('GroupId'),
  items: countSources,
  perform(form, { groups }, how) {
    const groupId = readGroup(form, groups);
    const specs = readPermissions(form);
    const tags = readRuleTags(form);
    if (specs.length === 0) throw missingParameter('ipPermissions');
    groups.checkAddition(groupId, specs);
    endDryRun(form);
    const added = groups.add(groupId, itemsToApply(specs, how), tags);
    return { return: true, securityGroupRuleSet: added.map(ruleXml) };
  },
};

/** RevokeSecurityGroupIngress, as for a group outside the default VPC: removes all rules, or none. */
export const revokeIngress: Ec2Operation = {
  effect: 'remove',
  targets: targetIn('GroupId'),
  items: (form) => form.texts('SecurityGroupRuleId').length + countSources(form),
  perform(form, { groups }, how) {
    const groupId = readGroup(form, groups);
    // AWS checks permissions first: a dry run succeeds whether or not the rules exist
    checkRuleIds(form.texts('SecurityGroupRuleId'));
    endDryRun(form);
    const rules = findRules(form, groups, groupId);
    const removed = itemsToApply(rules, how);
    for (const rule of removed) groups.remove(rule);
    return {
      return: true,
      unknownIpPermissionSet: [],
      revokedSecurityGroupRuleSet: removed.map((rule) => ({ ...ruleXml(rule), tagSet: undefined })),
    };
  },
};

function readGroup(form: QueryForm, groups: SecurityGroups): string {
  const groupName = form.text('GroupName');
  const groupId = form.text('GroupId');
  if (groupId === undefined && groupName !== undefined) {
    throw awsError(
      'InvalidParameterValue',
      `Invalid value '${groupName}' for groupName. You may not reference Amazon VPC security groups by name. ` +
        'Please use the corresponding id for this operation.',
    );
  }
  if (groupId === undefined) throw missingParameter('groupId');
  groups.check(groupId);
  return groupId;
}

function findRules(form: QueryForm, groups: SecurityGroups, groupId: string): SecurityGroupRule[] {
  const ruleIds = [...new Set(form.texts('SecurityGroupRuleId'))];
  const specs = readPermissions(form);
  if (ruleIds.length > 0 && specs.length > 0) {
    throw awsError(
      'InvalidParameterCombination',
      'The parameters ipPermissions and securityGroupRuleIds may not be used together',
    );
  }
  if (ruleIds.length + specs.length === 0) {
    throw awsError(
      'MissingParameter',
      "Either 'ipPermissions' or 'securityGroupRuleIds' should be provided.",
    );
  }
  checkRuleIds(ruleIds);
  checkDuplicates(specs);
  return [
    ...ruleIds.map((ruleId) => findById(groups, groupId, ruleId)),
    ...specs.map((spec) => findBySpec(groups, groupId, spec)),
  ];
}

function findById(groups: SecurityGroups, groupId: string, ruleId: string): SecurityGroupRule {
  const rule = groups.find(ruleId);
  if (!rule || rule.groupId !== groupId || rule.isEgress) throw ruleIdNotFound(ruleId);
  return rule;
}

function findBySpec(groups: SecurityGroups, groupId: string, spec: RuleSpec): SecurityGroupRule {
  const rule = groups.findSame(groupId, spec);
  if (rule) return rule;
  throw awsError('InvalidPermission.NotFound', 'The specified rule does not exist in this security group.');
}

/** Ends a dry run, after all checks and before any change. @throws CloudError */
function endDryRun(form: QueryForm): void {
  if (isDryRun(form)) throw dryRunSucceeded();
}
