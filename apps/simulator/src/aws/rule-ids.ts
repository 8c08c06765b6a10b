import type { CloudError } from '../cloud-error';
import { awsError } from './aws-error';

const RULE_ID = /^sgr-([0-9a-f]{8}|[0-9a-f]{17})$/;

/** @throws CloudError when an id is malformed */
export function checkRuleIds(ruleIds: readonly string[]): void {
  const malformed = ruleIds.find((ruleId) => !RULE_ID.test(ruleId));
  if (malformed !== undefined) {
    throw awsError(
      'InvalidSecurityGroupRuleId.Malformed',
      `The security group rule ID '${malformed}' is malformed`,
    );
  }
}

export const ruleIdNotFound = (ruleId: string): CloudError =>
  awsError('InvalidSecurityGroupRuleId.NotFound', `The security group rule ID '${ruleId}' does not exist`);
