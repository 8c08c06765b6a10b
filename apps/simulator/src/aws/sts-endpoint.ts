import type { CloudError } from '../cloud-error';
import type { CallEffect } from '../faults/fault-script';
import { serveCall, type Refusal } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import { tokenProblem, type TokenProblem } from '../web-identity/verify-token';
import { awsError } from './aws-error';
import {
  assumedRoleArn,
  assumedRoleId,
  FEDERATED_ROLE_ARN,
  ROLE_ARN,
  type Caller,
  type Role,
  type Credentials,
} from './credentials';
import { QueryForm } from './query-form';
import { MAX_POLICY_LENGTH, parsePolicy, type SessionPolicy } from './session-policy';
import { checkSignature, claimedKey, unknownKey } from './signature';
import { xmlAnswer, type XmlStructure } from './xml';

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';
const DEFAULT_DURATION_SECONDS = 3600;

/** Not signed: the token is the proof. */
const WEB_IDENTITY = 'AssumeRoleWithWebIdentity';

export const STS_EFFECTS: Readonly<Record<string, CallEffect>> = Object.fromEntries(
  ['AssumeRole', 'GetCallerIdentity', WEB_IDENTITY].map((action) => [action, 'identity']),
);

const invalidToken = (message: string): CloudError => awsError('InvalidIdentityToken', message);
const notAuthorized = (): CloudError =>
  awsError('AccessDenied', `Not authorized to perform sts:${WEB_IDENTITY}`, 403);

const TOKEN_REFUSALS: Readonly<Record<TokenProblem, () => CloudError>> = {
  malformed: () => invalidToken('The ID Token provided is not a valid JWT.'),
  'unknown-issuer': () => invalidToken('No OpenIDConnect provider found in your account for this issuer'),
  unreachable: () =>
    awsError('IDPCommunicationError', 'Could not retrieve verification key from your Identity provider'),
  'wrong-issuer': () => invalidToken('Issuer must be a valid URL, and the one of its configuration'),
  algorithm: () => invalidToken('The ID Token is not signed with a supported algorithm'),
  key: () => invalidToken('No key of the Identity provider fits the ID Token'),
  signature: () => invalidToken('The signature of the ID Token is not valid'),
  audience: () => invalidToken('Incorrect token audience'),
  expired: () => awsError('ExpiredTokenException', 'Token expired: current date/time must be before it'),
  'not-yet': () => invalidToken('Token is not valid yet'),
  claims: () => invalidToken('The ID Token lacks a claim, or has one that is not valid'),
  subject: notAuthorized,
};

/** The STS endpoint: temporary credentials for the simulated role. */
export class StsEndpoint {
  constructor(
    private readonly world: World,
    private readonly credentials: Credentials,
  ) {}

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const form = QueryForm.parse(request.body);
    const action = form.text('Action') ?? '(none)';
    const call = {
      provider: 'AWS',
      operation: action,
      effect: 'identity',
      targets: [],
      caller: claimedKey(request),
    } as const;
    let caller: Caller | null = null;
    return serveCall(this.world, request.epoch, call, {
      check: async () => {
        if (action === WEB_IDENTITY) return;
        ({ caller } = await checkSignature(request, 'sts', this.credentials));
        if (!Object.hasOwn(STS_EFFECTS, action))
          throw awsError('InvalidAction', `Could not find operation ${action} for version 2011-06-15`);
      },
      perform: async () => {
        const content = caller ? this.signed(action, form, caller) : await this.webIdentity(form);
        return xmlAnswer(`${action}Response`, NAMESPACE, (requestId) => ({
          [`${action}Result`]: content,
          ResponseMetadata: { RequestId: requestId },
        }));
      },
      refuse: (why) => faultError(why, action, caller?.arn ?? FEDERATED_ROLE_ARN),
      render,
    });
  }

  private signed(action: string, form: QueryForm, caller: Caller): XmlStructure {
    if (action === 'GetCallerIdentity')
      return { Arn: caller.arn, UserId: caller.userId, Account: caller.account };
    const assumption = readAssumption(form);
    const { roleArn } = assumption;
    const externalId = form.text('ExternalId');
    check(/^[\w+=,.@:/-]{2,1224}$/.test(externalId ?? 'none'), 'Value at externalId is invalid');
    // the role's trust policy requires an external id, as AWS recommends for third-party access
    const role = this.madeRole(roleArn);
    const isTrusted = externalId !== undefined || role?.isOpen === true;
    if ((roleArn !== ROLE_ARN && !role) || !isTrusted) throw accessDenied('AssumeRole', caller.arn, roleArn);
    return this.assumed(assumption);
  }

  private async webIdentity(form: QueryForm): Promise<XmlStructure> {
    const problem = await tokenProblem(form.text('WebIdentityToken') ?? '', 'AWS', this.world.trusts);
    const assumption = readAssumption(form);
    const role = this.madeRole(assumption.roleArn);
    const isForgiven = problem === 'subject' && role?.isOpen === true;
    if (problem !== null && !isForgiven) throw TOKEN_REFUSALS[problem]();
    if (assumption.roleArn !== FEDERATED_ROLE_ARN && !role) throw notAuthorized();
    return this.assumed(assumption);
  }

  /** A role that was made in one of the further accounts; null: there is none of that name. */
  private madeRole(arn: string): { readonly isOpen: boolean } | null {
    const { account, name } = roleOf(arn);
    const made = this.world.accounts.of('AWS', account);
    return made?.roles.includes(name) ? made : null;
  }

  private assumed({ roleArn, name, seconds, policy }: Assumption): XmlStructure {
    const role = roleOf(roleArn);
    const session = this.credentials.issueSession(role, name, seconds, policy);
    return {
      AssumedRoleUser: { AssumedRoleId: assumedRoleId(name), Arn: assumedRoleArn(role, name) },
      Credentials: {
        AccessKeyId: session.accessKeyId,
        SecretAccessKey: session.secretAccessKey,
        SessionToken: session.sessionToken,
        Expiration: session.expiration.toISOString().replace('.000', ''),
      },
    };
  }
}

function roleOf(arn: string): Role {
  const [, account = '', name = ''] = /^arn:aws:iam::(\d{12}):role\/(?:.*\/)?([^/]+)$/.exec(arn) ?? [];
  return { account, name };
}

interface Assumption {
  readonly roleArn: string;
  readonly name: string;
  readonly seconds: number;
  readonly policy: SessionPolicy | null;
}

/** What both ways to assume a role take. @throws CloudError */
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
  if (!policy) throw awsError('MalformedPolicyDocument', 'The policy is not in the valid JSON format.');
  return policy;
}

function check(condition: boolean, message: string): void {
  if (!condition) throw awsError('ValidationError', message);
}

const accessDenied = (action: string, arn: string, resource: string): CloudError =>
  awsError(
    'AccessDenied',
    `User: ${arn} is not authorized to perform: sts:${action} on resource: ${resource}`,
    403,
  );

/** STS's errors for faults; kinds about groups and rules cannot hit STS. */
function faultError(why: Refusal, action: string, arn: string): CloudError {
  if (why === 'unauthenticated') return unknownKey();
  if (why === 'throttle') return awsError('Throttling', 'Rate exceeded');
  if (why === 'refuse') return accessDenied(action, arn, ROLE_ARN);
  return awsError('InternalFailure', 'An internal error has occurred', 500);
}

function render(error: CloudError): CloudAnswer {
  const type = error.status < 500 ? 'Sender' : 'Receiver';
  const content = { Type: type, Code: error.code, Message: error.message };
  return xmlAnswer(
    'ErrorResponse',
    NAMESPACE,
    (requestId) => ({ Error: content, RequestId: requestId }),
    error,
  );
}
