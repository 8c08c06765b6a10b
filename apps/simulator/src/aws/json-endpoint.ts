import { CloudError } from '../cloud-error';
import type { CallEffect } from '../faults/fault-script';
import { serveCall, type CallModifiers, type Refusal } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import type { Credentials } from './credentials';
import { allows } from './session-policy';
import { checkSignature, type SignedCall } from './signature';

export type Json = Readonly<Record<string, unknown>>;

/** A call of a JSON service. */
export interface JsonCall {
  readonly operation: string;
  readonly effect: CallEffect;
  /** the ARN that permissions are checked on; null: the request names none */
  readonly arn: string | null;
  /** the target in the ledger */
  readonly target: string | null;
  readonly body: Json;
}

/** By their names for faults and the call log. */
export const JSON_EFFECTS: Readonly<Record<string, CallEffect>> = {
  GetIPSet: 'read',
  UpdateIPSet: 'change',
  ListAccounts: 'check',
  DescribeCluster: 'read',
  UpdateClusterConfig: 'change',
};

/** One service of AWS that speaks JSON. */
export interface JsonService {
  readonly service: 'eks' | 'organizations' | 'wafv2';
  /** null: there is no such call */
  read(request: CloudRequest): JsonCall | null;
  /** Before the call: whether the region serves it, and the account's rate. @throws CloudError */
  admit(call: JsonCall, signed: SignedCall): void;
  perform(call: JsonCall, how: CallModifiers, request: CloudRequest): Json;
  refusal(why: Refusal): CloudError;
}

/** Checks what all JSON services check: the signature, and the permissions of the account and of the session. */
export class JsonEndpoint {
  constructor(
    private readonly world: World,
    private readonly service: JsonService,
    private readonly credentials: Credentials,
  ) {}

  handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const { service, world } = this;
    const call = service.read(request);
    const { operation = '(none)', effect = 'check', target = null } = call ?? {};
    const served = { provider: 'AWS', operation, effect, targets: target === null ? [] : [target] } as const;
    return serveCall(world, request.epoch, served, {
      check: async () => {
        const signed = await checkSignature(request, service.service, this.credentials);
        if (!call) throw new CloudError(400, 'UnknownOperationException', 'There is no such operation.');
        service.admit(call, signed);
        this.authorize(call, signed);
      },
      perform: (how) => jsonAnswer(200, service.perform(call!, how, request)),
      refuse: (why) => (why === 'refuse' ? denied(this.action(call!), call!.arn) : service.refusal(why)),
      render,
    });
  }

  private authorize(call: JsonCall, { caller }: SignedCall): void {
    const action = this.action(call);
    const isAllowed = !caller.policy || allows(caller.policy, action, call.arn ?? '*');
    // who may list accounts is decided by the account that asks
    const isGranted = this.service.service === 'organizations' || this.world.roles.allows('AWS', action);
    if (!isAllowed || !isGranted) throw denied(action, call.arn);
  }

  private action({ operation }: JsonCall): string {
    return `${this.service.service}:${operation}`;
  }
}

const denied = (action: string, arn: string | null): CloudError =>
  new CloudError(
    400,
    'AccessDeniedException',
    `User: arn:aws:iam::123456789012:user/simulated is not authorized to perform: ${action} on resource: ${arn ?? '*'}`,
  );

const jsonAnswer = (status: number, body: Json, outcome = 'OK'): CloudAnswer => ({
  status,
  headers: {
    'content-type': 'application/x-amz-json-1.1',
    ...(outcome !== 'OK' && { 'x-amzn-errortype': outcome }),
  },
  body: JSON.stringify(body),
  outcome,
});

const render = ({ status, code, message, headers }: CloudError): CloudAnswer => {
  const answer = jsonAnswer(status, { __type: code, message }, code);
  return { ...answer, headers: { ...answer.headers, ...headers } };
};
