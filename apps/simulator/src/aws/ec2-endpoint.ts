import type { CloudError } from '../cloud-error';
import type { CallEffect } from '../faults/fault-script';
import { serveCall, type Refusal } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import {
  awsError,
  groupNotFound,
  incorrectState,
  internalError,
  invalidValue,
  notValidated,
  requestLimitExceeded,
  ruleLimitExceeded,
} from './aws-error';
import type { Credentials } from './credentials';
import { isDryRun, type Ec2Account, type Ec2Operation } from './ec2-operation';
import { addressesIn } from './permissions';
import { listNotFound, versionMismatch } from './prefix-list-errors';
import { isListId } from './prefix-list-editor';
import { describeLists, getEntries, modifyList } from './prefix-list-operations';
import { QueryForm } from './query-form';
import { describeGroups, describeRules } from './read-rules';
import { allows } from './session-policy';
import { checkSignature, claimedKey, type SignedCall } from './signature';
import { authorizeIngress, revokeIngress } from './write-rules';
import { xmlAnswer, type XmlStructure } from './xml';

const NAMESPACE = 'http://ec2.amazonaws.com/doc/2016-11-15/';

const OPERATIONS: Readonly<Record<string, Ec2Operation>> = {
  AuthorizeSecurityGroupIngress: authorizeIngress,
  RevokeSecurityGroupIngress: revokeIngress,
  DescribeSecurityGroupRules: describeRules,
  DescribeSecurityGroups: describeGroups,
  DescribeManagedPrefixLists: describeLists,
  GetManagedPrefixListEntries: getEntries,
  ModifyManagedPrefixList: modifyList,
};

export const EC2_EFFECTS: Readonly<Record<string, CallEffect>> = Object.fromEntries(
  Object.entries(OPERATIONS).map(([action, { effect }]) => [action, effect]),
);

/** The EC2 endpoint: the Query protocol with XML answers, and a rate limit for each region. */
export class Ec2Endpoint {
  constructor(
    private readonly world: World,
    private readonly account: Ec2Account,
    private readonly credentials: Credentials,
  ) {}

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const { account, world } = this;
    const form = QueryForm.parse(request.body);
    const action = form.text('Action') ?? '(none)';
    const operation = Object.hasOwn(OPERATIONS, action) ? OPERATIONS[action] : undefined;
    const targets = operation?.targets(form, account) ?? [];
    const call = {
      provider: 'AWS',
      operation: action,
      effect: !operation || isDryRun(form) ? 'check' : operation.effect,
      targets,
      items: operation?.items?.(form) ?? 0,
      caller: claimedKey(request),
      addresses: (operation?.addresses ?? addressesIn)(form),
    } as const;
    const answer = (content: XmlStructure): CloudAnswer =>
      xmlAnswer(`${action}Response`, NAMESPACE, (requestId) => ({ requestId, ...content }));
    let signed: SignedCall;
    return serveCall(world, request.epoch, call, {
      check: async () => {
        signed = await checkSignature(request, 'ec2', this.credentials);
        if (!operation)
          throw awsError('InvalidAction', `The action ${action} is not valid for this web service.`);
        this.admit(signed, operation);
        this.authorize(action, signed, targets);
        this.refuseElsewhere(signed, targets);
      },
      perform: (how) => answer(operation!.perform(form, account, how)),
      refuse: (why) => FAULT_ERRORS[why]({ action, signed, targetId: targets[0] ?? '' }),
      render,
      ...(operation?.failLater && { failLater: () => answer(operation.failLater!(form, account)) }),
    });
  }

  /** @throws CloudError unless the account's and the session's policy allow the call on all targets */
  private authorize(action: string, signed: SignedCall, targets: readonly string[]): void {
    const { policy } = signed.caller;
    const isAllowed = (resource: string): boolean => !policy || allows(policy, `ec2:${action}`, resource);
    const [first = ''] = targets;
    if (!this.world.roles.allows('AWS', `ec2:${action}`))
      throw unauthorized({ action, signed, targetId: first });
    const refused = CHECKED_ON_TARGET.has(action)
      ? targets.find((target) => !isAllowed(arnOf(signed, target)))
      : isAllowed('*')
        ? undefined
        : first;
    if (refused !== undefined) throw unauthorized({ action, signed, targetId: refused });
  }

  /** @throws CloudError for a target of another account: it is not known in this one */
  private refuseElsewhere({ caller }: SignedCall, targets: readonly string[]): void {
    const { accounts } = this.world;
    const found = targets.find((target) => accounts.ownerOf('AWS', target) !== caller.account);
    if (found !== undefined) throw isListId(found) ? listNotFound(found) : groupNotFound(found);
  }

  private admit({ region, caller }: SignedCall, { effect }: Ec2Operation): void {
    const { buckets, sizes } = this.world;
    const isRead = effect === 'read';
    const isAdmitted = buckets.take(`AWS ${caller.account} ${region} ${isRead ? 'reads' : 'writes'}`, {
      burst: isRead ? sizes.readBurst : sizes.writeBurst,
      refillPerSecond: isRead ? sizes.readRefillPerSecond : sizes.writeRefillPerSecond,
    });
    if (!isAdmitted) throw requestLimitExceeded();
  }
}

const render = (error: CloudError): CloudAnswer =>
  xmlAnswer(
    'Response',
    null,
    (requestId) => ({
      Errors: { Error: { Code: error.code, Message: error.message } },
      RequestID: requestId,
    }),
    error,
  );

interface RefusedCall {
  readonly action: string;
  readonly signed: SignedCall;
  readonly targetId: string;
}

const FAULT_ERRORS: Readonly<Record<Refusal, (call: RefusedCall) => CloudError>> = {
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

const arnOf = ({ region, caller }: SignedCall, targetId: string): string =>
  `arn:aws:ec2:${region}:${caller.account}:${isListId(targetId) ? 'prefix-list' : 'security-group'}/${targetId || '*'}`;

function unauthorized({ action, signed, targetId }: RefusedCall): CloudError {
  const resource = arnOf(signed, targetId);
  return awsError(
    'UnauthorizedOperation',
    'You are not authorized to perform this operation. ' +
      `User: ${signed.caller.arn} is not authorized to perform: ec2:${action} on resource: ${resource}`,
    403,
  );
}
