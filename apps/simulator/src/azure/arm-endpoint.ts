import { CloudError } from '../cloud-error';
import type { CallEffect } from '../faults/fault-script';
import { serveCall, type CallModifiers, type Refusal } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import {
  anotherOperation,
  groupNotFound,
  internalError,
  invalidContent,
  ruleLimitReached,
  tooManyRequests,
  unauthorized,
} from './azure-error';
import { findRoute, ROUTES, type Route } from './arm-routes';
import { GroupCalls, type RouteNames } from './group-calls';
import { render } from './json-answer';
import type { Operations } from './operations';
import {
  type AccessTokens,
  ARM_PREFIX,
  baseOf,
  CLIENT_ID,
  RESOURCE_GROUP,
  tokenProblem,
  type TokenProblem,
} from './principal';
import type { SecurityGroups } from './security-groups';
import { ServiceEndpoint } from './services/service-endpoint';
import { SERVICE_EFFECTS, serviceRoute } from './services/service-routes';
import type { Services } from './services/services';

export const ARM_EFFECTS: Readonly<Record<string, CallEffect>> = {
  ...Object.fromEntries(ROUTES.map(({ operation, effect }) => [operation, effect])),
  ...SERVICE_EFFECTS,
};

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

/** The resource manager: JSON over HTTP, with asynchronous changes. */
export class ArmEndpoint {
  private readonly calls: GroupCalls;
  private readonly services: ServiceEndpoint;

  constructor(
    private readonly world: World,
    private readonly groups: SecurityGroups,
    operations: Operations,
    private readonly tokens: AccessTokens,
    services: Services,
  ) {
    this.calls = new GroupCalls(groups, operations, world.accounts);
    this.services = new ServiceEndpoint(world, services, operations, (request, isRead) =>
      this.checkCall(request, isRead),
    );
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const { world } = this;
    const service = serviceRoute(request.method, request.path.slice(ARM_PREFIX.length));
    if (service) return this.services.handle(request, service);
    const { route, names } = findRoute(request.method, request.path.slice(ARM_PREFIX.length));
    const group = groupOf(names);
    const { operation = '(none)', effect = 'check' } = route ?? {};
    const call = {
      provider: 'AZURE',
      operation,
      effect,
      targets: group === null ? [] : [group],
      items: effect === 'add' || effect === 'remove' ? 1 : 0,
    } as const;
    const perform = (how: CallModifiers, fails = false): CloudAnswer => {
      this.checkTarget(names);
      const granted = world.roles.permissionsOf('AZURE');
      const given = { request, names, group: group ?? '', how, fails, granted, base: baseOf(request) };
      return this.calls[route!.call](given);
    };
    return serveCall(world, request.epoch, call, {
      check: () => {
        if (!route) {
          checkToken(request, this.tokens);
          throw new CloudError(404, 'InvalidResourceType', 'The resource type could not be found.');
        }
        this.checkCall(request, effect === 'read');
        const unassigned = world.accounts.of('AZURE', names.subscription.toLowerCase())?.roles.length === 0;
        if (unassigned || !world.roles.allows('AZURE', route.action)) throw unauthorizedFor(route, request);
      },
      perform,
      failLater: () => perform({}, true),
      refuse: (why) => FAULT_ERRORS[why](route!, names, request),
      render,
    });
  }

  /** @throws CloudError */
  private checkCall(request: CloudRequest, isRead: boolean): void {
    checkToken(request, this.tokens);
    checkVersion(request);
    this.admit(isRead);
  }

  /** The resource manager allows ten thousand reads in five minutes. */
  private admit(isRead: boolean): void {
    const { buckets, sizes } = this.world;
    const isAdmitted = isRead
      ? buckets.take('AZURE reads', { burst: 10_000, refillPerSecond: 33 })
      : buckets.take('AZURE writes', { burst: sizes.azureWriteBurst, refillPerSecond: 3 });
    if (!isAdmitted) throw tooManyRequests();
  }

  private checkTarget({ subscription, resourceGroup, group }: RouteNames): void {
    if (group !== undefined) this.groups.find(subscription, resourceGroup ?? '', group);
    else if (subscription !== '' && !this.world.accounts.has('AZURE', subscription.toLowerCase()))
      this.groups.find(subscription, '', '');
  }
}

/** A token's audience is the address of the resource manager that the client uses. @throws CloudError */
function checkToken(request: CloudRequest, tokens: AccessTokens): void {
  const problem = tokenProblem(request.headers.authorization, baseOf(request), tokens);
  if (problem) throw new CloudError(401, ...TOKEN_ERRORS[problem]);
}

function checkVersion({ query }: CloudRequest): void {
  if (API_VERSION.test(query.get('api-version') ?? '')) return;
  const message = 'The api-version query parameter (?api-version=) is required for all requests.';
  throw new CloudError(400, 'MissingApiVersionParameter', message);
}

/** The resource manager's errors for faults. */
const FAULT_ERRORS: Readonly<
  Record<Refusal, (route: Route, names: RouteNames, request: CloudRequest) => CloudError>
> = {
  throttle: tooManyRequests,
  error: internalError,
  'not-found': (_, { resourceGroup, group }) => groupNotFound(resourceGroup ?? RESOURCE_GROUP, group ?? ''),
  quota: () => ruleLimitReached(1000),
  refuse: (route, _, request) => unauthorizedFor(route, request),
  conflict: anotherOperation,
  invalid: () => invalidContent('sourceAddressPrefix is malformed.'),
  unauthenticated: () => new CloudError(401, ...TOKEN_ERRORS.invalid),
};

const unauthorizedFor = ({ action }: Route, { path }: CloudRequest): CloudError =>
  unauthorized(CLIENT_ID, action, path.slice(ARM_PREFIX.length));

/** The group in a path as `resource group/name`, whether or not it exists. */
const groupOf = ({ resourceGroup, group }: RouteNames): string | null =>
  group === undefined ? null : `${resourceGroup}/${group}`.toLowerCase();
