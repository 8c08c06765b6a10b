import { randomUUID } from 'node:crypto';
import type { CallEffect } from '../faults/fault-script';
import { applyFault, type Refusal } from '../faults/apply-fault';
import type { IssuedTokens } from '../issued-tokens';
import { NO_ANSWER, type CloudAnswer, type CloudRequest, type World } from '../provider';
import { TokenBuckets, type BucketSize } from '../throttle/token-buckets';
import {
  AwsError,
  groupNotFound,
  incorrectState,
  internalError,
  invalidValue,
  notValidated,
  requestLimitExceeded,
  ruleLimitExceeded,
} from './aws-error';
import { ACCOUNT_ID } from './credentials';
import { bound, isDryRun, type BoundOperation, type Ec2Operation } from './ec2-operation';
import { listNotFound, versionMismatch } from './prefix-list-errors';
import { isListId } from './prefix-list-editor';
import { describeLists, getEntries, modifyList } from './prefix-list-operations';
import type { PrefixLists } from './prefix-lists';
import { QueryForm } from './query-form';
import { describeGroups, describeRules } from './read-rules';
import type { SecurityGroups } from './security-groups';
import { allows } from './session-policy';
import { checkSignature, type SignatureProblem, type SignedCall } from './signature';
import { authorizeIngress, revokeIngress } from './write-rules';
import { xmlAnswer, type XmlStructure } from './xml';

const NAMESPACE = 'http://ec2.amazonaws.com/doc/2016-11-15/';

const ON_GROUPS: ReadonlyMap<string, Ec2Operation<SecurityGroups>> = new Map([
  ['AuthorizeSecurityGroupIngress', authorizeIngress],
  ['RevokeSecurityGroupIngress', revokeIngress],
  ['DescribeSecurityGroupRules', describeRules],
  ['DescribeSecurityGroups', describeGroups],
]);

const ON_LISTS: ReadonlyMap<string, Ec2Operation<PrefixLists>> = new Map([
  ['DescribeManagedPrefixLists', describeLists],
  ['GetManagedPrefixListEntries', getEntries],
  ['ModifyManagedPrefixList', modifyList],
]);

export const EC2_EFFECTS: Readonly<Record<string, CallEffect>> = Object.fromEntries(
  [...ON_GROUPS, ...ON_LISTS].map(([action, { effect }]) => [action, effect]),
);

/** Rate limits of one account in one region. */
export interface Ec2Limits {
  readonly writes: BucketSize;
  readonly reads: BucketSize;
}

const SIGNATURE_REFUSALS: Readonly<Record<SignatureProblem, () => AwsError>> = {
  unsigned: () => new AwsError('MissingAuthenticationToken', 'Request is missing Authentication Token', 403),
  incomplete: () =>
    new AwsError('IncompleteSignature', 'The request signature does not conform to AWS standards'),
  'unknown-key': notValidated,
  mismatch: notValidated,
  'expired-token': () => new AwsError('RequestExpired', 'Request has expired.'),
  skewed: () => new AwsError('RequestExpired', 'Request has expired.'),
};

/** The EC2 endpoint: the Query protocol with XML answers. */
export class Ec2Endpoint {
  private readonly buckets = new TokenBuckets();
  private readonly operations: ReadonlyMap<string, BoundOperation>;

  constructor(
    private readonly world: World,
    groups: SecurityGroups,
    lists: PrefixLists,
    private readonly limits: Ec2Limits,
    private readonly issued: IssuedTokens,
  ) {
    this.operations = new Map([
      ...[...ON_GROUPS].map(([action, operation]) => [action, bound(operation, groups)] as const),
      ...[...ON_LISTS].map(([action, operation]) => [action, bound(operation, lists)] as const),
    ]);
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const form = QueryForm.parse(request.body);
    const action = form.text('Action') ?? '(none)';
    const operation = this.operations.get(action);
    const entry = this.world.calls.arrive('AWS', action);
    const targets = operation?.targets(form) ?? [];
    entry.target = targets.length === 0 ? null : [...new Set(targets)].join(',');
    entry.items = operation?.items(form) ?? 0;
    const answer = await this.answer(request, { form, action, operation, targets });
    entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
    return answer;
  }

  reset(): void {
    this.buckets.clear();
  }

  private async answer(request: CloudRequest, call: Ec2Call): Promise<CloudAnswer | typeof NO_ANSWER> {
    const signed = await checkSignature(request, 'ec2', this.issued);
    if (typeof signed === 'string') return refusal(SIGNATURE_REFUSALS[signed]());
    const { form, action, operation, targets } = call;
    if (!operation) {
      return refusal(
        new AwsError('InvalidAction', `The action ${action} is not valid for this web service.`),
      );
    }
    if (!this.admit(signed, operation)) return refusal(requestLimitExceeded());
    const forbidden = this.forbiddenTarget(action, signed, targets);
    if (forbidden !== null) return refusal(unauthorized({ action, signed, targetId: forbidden }));
    const effect = isDryRun(form) ? 'check' : operation.effect;
    const addresses = operation.addresses(form);
    const caller = signed.accessKeyId;
    const scope = { provider: 'AWS', operation: action, effect, targets, caller, addresses } as const;
    return applyFault(this.world, request.epoch, scope, {
      perform: (how) => answerWith(action, () => operation.perform(form, how)),
      refuse: (why) => refusal(FAULT_ERRORS[why]({ action, signed, targetId: targets[0] ?? '' })),
      ...(operation.failLater && { failLater: () => answerWith(action, () => operation.failLater!(form)) }),
    });
  }

  /** The target on which the account's or the session's policy does not allow the call; null: both allow all of them. */
  private forbiddenTarget(action: string, signed: SignedCall, targets: readonly string[]): string | null {
    const { policy } = signed.caller;
    if (!this.world.roles.allows('AWS', `ec2:${action}`)) return targets[0] ?? '';
    if (!policy) return null;
    const isAllowed = (resource: string): boolean => allows(policy, `ec2:${action}`, resource);
    if (!CHECKED_ON_TARGET.has(action)) return isAllowed('*') ? null : (targets[0] ?? '');
    return targets.find((target) => !isAllowed(arnOf(signed, target))) ?? null;
  }

  private admit(signed: SignedCall, operation: BoundOperation): boolean {
    const kind = operation.effect === 'read' ? 'reads' : 'writes';
    return this.buckets.take(`${ACCOUNT_ID} ${signed.region} ${kind}`, this.limits[kind]);
  }
}

interface Ec2Call {
  readonly form: QueryForm;
  readonly action: string;
  readonly operation: BoundOperation | undefined;
  readonly targets: readonly string[];
}

function answerWith(action: string, perform: () => XmlStructure): CloudAnswer {
  try {
    const requestId = randomUUID();
    const root = { name: `${action}Response`, namespace: NAMESPACE };
    return xmlAnswer({ status: 200, outcome: 'OK', requestId }, root, { requestId, ...perform() });
  } catch (error) {
    if (error instanceof AwsError) return refusal(error);
    throw error;
  }
}

function refusal(error: AwsError): CloudAnswer {
  const requestId = randomUUID();
  const content = { Errors: { Error: { Code: error.code, Message: error.message } }, RequestID: requestId };
  const outcome = { status: error.status, outcome: error.code, requestId };
  return xmlAnswer(outcome, { name: 'Response', namespace: null }, content);
}

interface RefusedCall {
  readonly action: string;
  readonly signed: SignedCall;
  readonly targetId: string;
}

/** EC2's errors for faults. */
const FAULT_ERRORS: Readonly<Record<Refusal, (call: RefusedCall) => AwsError>> = {
  throttle: requestLimitExceeded,
  error: internalError,
  'not-found': ({ targetId }) => (isListId(targetId) ? listNotFound(targetId) : groupNotFound(targetId)),
  quota: ruleLimitExceeded,
  refuse: unauthorized,
  conflict: ({ targetId }) => (isListId(targetId) ? versionMismatch() : incorrectState()),
  invalid: () => invalidValue('CIDR block is malformed'),
  unauthenticated: notValidated,
};

/** Calls for which AWS checks the target; the others are checked without one. */
const CHECKED_ON_TARGET: ReadonlySet<string> = new Set([
  'AuthorizeSecurityGroupIngress',
  'RevokeSecurityGroupIngress',
  'GetManagedPrefixListEntries',
  'ModifyManagedPrefixList',
]);

const arnOf = ({ region }: SignedCall, targetId: string): string =>
  `arn:aws:ec2:${region}:${ACCOUNT_ID}:${isListId(targetId) ? 'prefix-list' : 'security-group'}/${targetId || '*'}`;

function unauthorized({ action, signed, targetId }: RefusedCall): AwsError {
  const resource = arnOf(signed, targetId);
  return new AwsError(
    'UnauthorizedOperation',
    'You are not authorized to perform this operation. ' +
      `User: ${signed.caller.arn} is not authorized to perform: ec2:${action} on resource: ${resource}`,
    403,
  );
}
