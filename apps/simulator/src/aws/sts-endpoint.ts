import { randomUUID } from 'node:crypto';
import type { CallEffect } from '../faults/fault-script';
import { applyFault, type Refusal } from '../faults/apply-fault';
import type { IssuedTokens } from '../issued-tokens';
import { NO_ANSWER, type CloudAnswer, type CloudRequest, type World } from '../provider';
import { tokenProblem, type TokenProblem } from '../web-identity/verify-token';
import { AwsError } from './aws-error';
import {
  ACCOUNT_ID,
  assumedRoleArn,
  assumedRoleId,
  FEDERATED_ROLE_ARN,
  issueSession,
  ROLE_ARN,
  type Caller,
} from './credentials';
import { QueryForm } from './query-form';
import { MAX_POLICY_LENGTH, parsePolicy, type SessionPolicy } from './session-policy';
import { checkSignature, type SignatureProblem } from './signature';
import { xmlAnswer, type XmlStructure } from './xml';

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';
const DEFAULT_DURATION_SECONDS = 3600;

type StsOperation = (form: QueryForm, caller: Caller, issued: IssuedTokens) => XmlStructure;

const OPERATIONS: ReadonlyMap<string, StsOperation> = new Map([
  ['AssumeRole', assumeRole],
  ['GetCallerIdentity', getCallerIdentity],
]);

/** Not signed: the token is the proof. */
const WEB_IDENTITY = 'AssumeRoleWithWebIdentity';

export const STS_EFFECTS: Readonly<Record<string, CallEffect>> = Object.fromEntries(
  [...OPERATIONS.keys(), WEB_IDENTITY].map((action) => [action, 'identity']),
);

const invalidToken = (message: string): AwsError => new AwsError('InvalidIdentityToken', message);
const notAuthorized = (): AwsError =>
  new AwsError('AccessDenied', `Not authorized to perform sts:${WEB_IDENTITY}`, 403);

const TOKEN_REFUSALS: Readonly<Record<TokenProblem, () => AwsError>> = {
  malformed: () => invalidToken('The ID Token provided is not a valid JWT.'),
  'unknown-issuer': () => invalidToken('No OpenIDConnect provider found in your account for this issuer'),
  unreachable: () =>
    new AwsError('IDPCommunicationError', 'Could not retrieve verification key from your Identity provider'),
  'wrong-issuer': () => invalidToken('Issuer must be a valid URL, and the one of its configuration'),
  algorithm: () => invalidToken('The ID Token is not signed with a supported algorithm'),
  key: () => invalidToken('No key of the Identity provider fits the ID Token'),
  signature: () => invalidToken('The signature of the ID Token is not valid'),
  audience: () => invalidToken('Incorrect token audience'),
  expired: () => new AwsError('ExpiredTokenException', 'Token expired: current date/time must be before it'),
  'not-yet': () => invalidToken('Token is not valid yet'),
  claims: () => invalidToken('The ID Token lacks a claim, or has one that is not valid'),
  subject: notAuthorized,
};

const SIGNATURE_REFUSALS: Readonly<Record<SignatureProblem, () => AwsError>> = {
  unsigned: () => new AwsError('MissingAuthenticationToken', 'Request is missing Authentication Token', 403),
  incomplete: () =>
    new AwsError('IncompleteSignature', 'The request signature does not conform to AWS standards'),
  'unknown-key': () =>
    new AwsError('InvalidClientTokenId', 'The security token included in the request is invalid.', 403),
  mismatch: () =>
    new AwsError(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. ' +
        'Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
      403,
    ),
  'expired-token': () =>
    new AwsError('ExpiredToken', 'The security token included in the request is expired', 403),
  skewed: () => new AwsError('SignatureDoesNotMatch', 'Signature not yet current, or expired.', 403),
};

/** The STS endpoint: temporary credentials for the simulated role. */
export class StsEndpoint {
  constructor(
    private readonly world: World,
    private readonly issued: IssuedTokens,
  ) {}

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const form = QueryForm.parse(request.body);
    const action = form.text('Action') ?? '(none)';
    const entry = this.world.calls.arrive('AWS', action);
    const answer = await this.answer(request, form, action);
    entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
    return answer;
  }

  private async answer(
    request: CloudRequest,
    form: QueryForm,
    action: string,
  ): Promise<CloudAnswer | typeof NO_ANSWER> {
    if (action === WEB_IDENTITY) return this.webIdentity(request, form);
    const signed = await checkSignature(request, 'sts', this.issued);
    if (typeof signed === 'string') return refusal(SIGNATURE_REFUSALS[signed]());
    const operation = OPERATIONS.get(action);
    if (!operation) {
      return refusal(
        new AwsError('InvalidAction', `Could not find operation ${action} for version 2011-06-15`),
      );
    }
    const caller = signed.accessKeyId;
    const scope = { provider: 'AWS', operation: action, effect: 'identity', targets: [], caller } as const;
    return applyFault(this.world, request.epoch, scope, {
      perform: () => answerWith(action, () => operation(form, signed.caller, this.issued)),
      refuse: (why) => refusal(faultError(why, action, signed.caller.arn)),
    });
  }

  private webIdentity(request: CloudRequest, form: QueryForm): Promise<CloudAnswer | typeof NO_ANSWER> {
    const caller = FEDERATED_ROLE_ARN;
    const scope = { provider: 'AWS', operation: WEB_IDENTITY, effect: 'identity', targets: [] } as const;
    return applyFault(this.world, request.epoch, scope, {
      perform: async () => {
        const problem = await tokenProblem(form.text('WebIdentityToken') ?? '', 'AWS', this.world.trusts);
        return answerWith(WEB_IDENTITY, () => {
          const { roleArn, name, seconds, policy } = readAssumption(form);
          if (problem !== null) throw TOKEN_REFUSALS[problem]();
          if (roleArn !== FEDERATED_ROLE_ARN) throw notAuthorized();
          return assumed(name, seconds, policy, this.issued);
        });
      },
      refuse: (why) => refusal(faultError(why, WEB_IDENTITY, caller)),
    });
  }
}

interface Assumption {
  readonly roleArn: string;
  readonly name: string;
  readonly seconds: number;
  readonly policy: SessionPolicy | null;
}

/** What both ways to assume a role take. @throws AwsError */
function readAssumption(form: QueryForm): Assumption {
  const roleArn = form.text('RoleArn') ?? '';
  const name = form.text('RoleSessionName') ?? '';
  const duration = form.text('DurationSeconds') ?? String(DEFAULT_DURATION_SECONDS);
  check(/^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]+$/.test(roleArn), `${roleArn} is invalid`);
  check(/^[\w+=,.@-]{2,64}$/.test(name), 'Value at roleSessionName failed to satisfy its constraint');
  check(
    /^\d{3,5}$/.test(duration) && Number(duration) >= 900 && Number(duration) <= 43_200,
    'Value at durationSeconds must be between 900 and 43200',
  );
  return { roleArn, name, seconds: Number(duration), policy: readPolicy(form.text('Policy')) };
}

function readPolicy(text: string | undefined): SessionPolicy | null {
  if (text === undefined) return null;
  check(text.length <= MAX_POLICY_LENGTH, `Value at policy must have length at most ${MAX_POLICY_LENGTH}`);
  const policy = parsePolicy(text);
  if (!policy) throw new AwsError('MalformedPolicyDocument', 'The policy is not in the valid JSON format.');
  return policy;
}

function assumeRole(form: QueryForm, caller: Caller, issued: IssuedTokens): XmlStructure {
  const { roleArn, name, seconds, policy } = readAssumption(form);
  check(/^[\w+=,.@:/-]{2,1224}$/.test(form.text('ExternalId') ?? 'none'), 'Value at externalId is invalid');
  // the role's trust policy requires an external id, as AWS recommends for third-party access
  if (roleArn !== ROLE_ARN || form.text('ExternalId') === undefined)
    throw accessDenied('AssumeRole', caller.arn, roleArn);
  return assumed(name, seconds, policy, issued);
}

function assumed(
  name: string,
  seconds: number,
  policy: SessionPolicy | null,
  issued: IssuedTokens,
): XmlStructure {
  const session = issueSession(name, seconds, issued.stamp(), policy);
  return {
    AssumedRoleUser: { AssumedRoleId: assumedRoleId(name), Arn: assumedRoleArn(name) },
    Credentials: {
      AccessKeyId: session.accessKeyId,
      SecretAccessKey: session.secretAccessKey,
      SessionToken: session.sessionToken,
      Expiration: session.expiration.toISOString().replace('.000', ''),
    },
  };
}

function getCallerIdentity(_form: QueryForm, caller: Caller): XmlStructure {
  return { Arn: caller.arn, UserId: caller.userId, Account: ACCOUNT_ID };
}

function check(condition: boolean, message: string): void {
  if (!condition) throw new AwsError('ValidationError', message);
}

const accessDenied = (action: string, arn: string, resource: string): AwsError =>
  new AwsError(
    'AccessDenied',
    `User: ${arn} is not authorized to perform: sts:${action} on resource: ${resource}`,
    403,
  );

/** STS's errors for faults; kinds about groups and rules cannot hit STS. */
function faultError(why: Refusal, action: string, arn: string): AwsError {
  if (why === 'unauthenticated') return SIGNATURE_REFUSALS['unknown-key']();
  if (why === 'throttle') return new AwsError('Throttling', 'Rate exceeded');
  if (why === 'refuse') return accessDenied(action, arn, ROLE_ARN);
  return new AwsError('InternalFailure', 'An internal error has occurred', 500);
}

function answerWith(action: string, perform: () => XmlStructure): CloudAnswer {
  try {
    const requestId = randomUUID();
    const content = { [`${action}Result`]: perform(), ResponseMetadata: { RequestId: requestId } };
    const root = { name: `${action}Response`, namespace: NAMESPACE };
    return xmlAnswer({ status: 200, outcome: 'OK', requestId }, root, content);
  } catch (error) {
    if (error instanceof AwsError) return refusal(error);
    throw error;
  }
}

function refusal(error: AwsError): CloudAnswer {
  const requestId = randomUUID();
  const type = error.status < 500 ? 'Sender' : 'Receiver';
  const content = { Error: { Type: type, Code: error.code, Message: error.message }, RequestId: requestId };
  const outcome = { status: error.status, outcome: error.code, requestId };
  return xmlAnswer(outcome, { name: 'ErrorResponse', namespace: NAMESPACE }, content);
}
