import type { CallEffect } from '../faults/fault-script';
import { applyFault, type CallModifiers, type Refusal } from '../faults/apply-fault';
import type { IssuedTokens } from '../issued-tokens';
import { NO_ANSWER, type CloudAnswer, type CloudRequest, type World } from '../provider';
import { TokenBuckets, type BucketSize } from '../throttle/token-buckets';
import {
  anotherOperation,
  AzureError,
  groupNotFound,
  internalError,
  invalidContent,
  ruleLimitReached,
  tooManyRequests,
  unauthorized,
} from './azure-error';
import { findRoute, ROUTES, type Route } from './arm-routes';
import { GroupCalls, type RouteNames } from './group-calls';
import { errorAnswer } from './json-answer';
import type { Operations } from './operations';
import { CLIENT_ID, SUBSCRIPTION_ID, tokenProblem, type TokenProblem } from './principal';
import { RESOURCE_GROUP, type SecurityGroups } from './security-groups';

/** Rate limits of one subscription. */
export interface ArmLimits {
  readonly writes: BucketSize;
  readonly reads: BucketSize;
}

export const ARM_PREFIX = '/azure/arm';
export const ARM_EFFECTS: Readonly<Record<string, CallEffect>> = Object.fromEntries(
  ROUTES.map(({ operation, effect }) => [operation, effect]),
);

const API_VERSION = /^20\d\d-\d\d-\d\d(-preview)?$/;
const TOKEN_ERRORS: Readonly<Record<TokenProblem, readonly [code: string, message: string]>> = {
  missing: ['AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing."],
  invalid: ['InvalidAuthenticationToken', 'The access token is invalid.'],
  audience: [
    'InvalidAuthenticationTokenAudience',
    'The access token has been obtained for wrong audience or resource.',
  ],
  expired: [
    'ExpiredAuthenticationToken',
    'The access token expiry UTC time is earlier than current UTC time.',
  ],
};

interface ArmCall {
  readonly route: Route | undefined;
  readonly names: RouteNames;
  readonly target: string | null;
}

/** The resource manager: JSON over HTTP, with asynchronous changes. */
export class ArmEndpoint {
  private readonly buckets = new TokenBuckets();
  private readonly calls: GroupCalls;

  constructor(
    private readonly world: World,
    private readonly groups: SecurityGroups,
    operations: Operations,
    private readonly options: ArmLimits & { readonly issued: IssuedTokens },
  ) {
    this.calls = new GroupCalls(groups, operations);
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const { route, names } = findRoute(request.method, request.path.slice(ARM_PREFIX.length));
    const entry = this.world.calls.arrive('AZURE', route?.operation ?? '(none)');
    entry.target = targetOf(names);
    entry.items = route?.effect === 'add' || route?.effect === 'remove' ? 1 : 0;
    const answer = await this.answer(request, { route, names, target: entry.target });
    entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
    return answer;
  }

  reset(): void {
    this.buckets.clear();
  }

  private async answer(request: CloudRequest, call: ArmCall): Promise<CloudAnswer | typeof NO_ANSWER> {
    const { route, names, target } = call;
    const problem = tokenProblem(
      request.headers.authorization,
      audienceOf(request),
      Date.now(),
      this.options.issued,
    );
    if (problem) return errorAnswer(new AzureError(401, ...TOKEN_ERRORS[problem]));
    if (!route)
      return errorAnswer(new AzureError(404, 'InvalidResourceType', 'The resource type could not be found.'));
    if (!API_VERSION.test(request.query.get('api-version') ?? '')) {
      const message = 'The api-version query parameter (?api-version=) is required for all requests.';
      return errorAnswer(new AzureError(400, 'MissingApiVersionParameter', message));
    }
    if (!this.admit(route)) return errorAnswer(tooManyRequests());
    if (!this.world.roles.allows('AZURE', route.action)) return errorAnswer(unauthorizedFor(route, request));
    const { operation, effect } = route;
    const scope = { provider: 'AZURE', operation, effect, targets: target === null ? [] : [target] } as const;
    const perform = (how: CallModifiers, fails = false): CloudAnswer =>
      asAzureError(() => {
        this.checkTarget(names);
        return this.calls[route.call]({
          request,
          names,
          group: target ?? '',
          how,
          fails,
          granted: this.world.roles.permissionsOf('AZURE'),
          base: baseOf(request),
        });
      });
    return applyFault(this.world, request.epoch, scope, {
      perform,
      failLater: () => perform({}, true),
      refuse: (why) => errorAnswer(FAULT_ERRORS[why](route, names, request)),
    });
  }

  private checkTarget({ subscription, resourceGroup, group }: RouteNames): void {
    if (group !== undefined) this.groups.find(subscription, resourceGroup ?? '', group);
    else if (subscription.toLowerCase() !== SUBSCRIPTION_ID) this.groups.find(subscription, '', '');
  }

  private admit({ effect }: Route): boolean {
    const kind = effect === 'read' ? 'reads' : 'writes';
    return this.buckets.take(kind, this.options[kind]);
  }
}

/** The resource manager's errors for faults. */
const FAULT_ERRORS: Readonly<
  Record<Refusal, (route: Route, names: RouteNames, request: CloudRequest) => AzureError>
> = {
  throttle: () => tooManyRequests(),
  error: internalError,
  'not-found': (_, { resourceGroup, group }) => groupNotFound(resourceGroup ?? RESOURCE_GROUP, group ?? ''),
  quota: () => ruleLimitReached(1000),
  refuse: (route, _, request) => unauthorizedFor(route, request),
  conflict: anotherOperation,
  invalid: () => invalidContent('sourceAddressPrefix is malformed.'),
  unauthenticated: () => new AzureError(401, ...TOKEN_ERRORS.invalid),
};

const unauthorizedFor = ({ action }: Route, { path }: CloudRequest): AzureError =>
  unauthorized(CLIENT_ID, action, path.slice(ARM_PREFIX.length));

/** The group in a path as `resource group/name`, whether or not it exists. */
const targetOf = ({ resourceGroup, group }: RouteNames): string | null =>
  group === undefined ? null : `${resourceGroup}/${group}`.toLowerCase();

const baseOf = ({ headers }: CloudRequest): string => `http://${headers.host ?? '127.0.0.1'}${ARM_PREFIX}`;

/** A token's audience is the address of the resource manager that the client uses. */
const audienceOf = baseOf;

function asAzureError(act: () => CloudAnswer): CloudAnswer {
  try {
    return act();
  } catch (error) {
    if (error instanceof AzureError) return errorAnswer(error);
    throw error;
  }
}
