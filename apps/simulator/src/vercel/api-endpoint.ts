import type { CallEffect } from '../faults/fault-script';
import { applyFault, type CallModifiers, type Refusal } from '../faults/apply-fault';
import { NO_ANSWER, type CloudAnswer, type CloudRequest, type World } from '../provider';
import { TokenBuckets, type BucketSize } from '../throttle/token-buckets';
import { PROJECTS, type Firewalls } from './firewalls';
import { configJson } from './config-json';
import { addressesOf, readChange, type ChangeInput } from './rule-input';
import {
  badRequest,
  errorAnswer,
  forbidden,
  internalError,
  jsonAnswer,
  limitReached,
  notFound,
  rateLimited,
  VercelError,
} from './vercel-error';

export const VERCEL_PREFIX = '/vercel';
const TOKEN = 'simulated-vercel-token';
const TEAM_ID = 'team_simulated';
/** Effects of the endpoints, by their names in Vercel's API. */
export const EFFECTS = {
  getAuthUser: 'identity',
  getTeam: 'identity',
  getProject: 'read',
  getFirewallConfig: 'read',
  updateFirewallConfig: 'change',
} as const satisfies Readonly<Record<string, CallEffect>>;

export interface ApiLimits {
  readonly writes: BucketSize;
  readonly reads: BucketSize;
}

type Operation = keyof typeof EFFECTS;

interface Route {
  readonly operation: Operation;
  /** a team or a project */
  readonly name: string | null;
}

const ROUTES: readonly (readonly [method: string, path: RegExp, operation: Operation])[] = [
  ['GET', /^\/v2\/user$/, 'getAuthUser'],
  ['GET', /^\/v2\/teams\/([^/]+)$/, 'getTeam'],
  ['GET', /^\/v9\/projects\/([^/]+)$/, 'getProject'],
  ['GET', /^\/v1\/security\/firewall\/config\/active$/, 'getFirewallConfig'],
  ['PATCH', /^\/v1\/security\/firewall\/config$/, 'updateFirewallConfig'],
];
const USER = { id: 'simulated-user', username: 'simulated', email: 'simulated@example.com' };

/** The part of Vercel's REST API that concerns the firewall. */
export class ApiEndpoint {
  private readonly buckets = new TokenBuckets();

  constructor(
    private readonly world: World,
    private readonly firewalls: Firewalls,
    private readonly limits: ApiLimits,
  ) {}

  reset(): void {
    this.buckets.clear();
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const route = routeOf(request);
    const entry = this.world.calls.arrive('VERCEL', route?.operation ?? '(none)');
    entry.target = route && route.operation !== 'getTeam' ? route.name : null;
    entry.items = route?.operation === 'updateFirewallConfig' ? itemsOf(request.body) : 0;
    const answer = await this.answer(request, route);
    entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
    return answer;
  }

  private async answer(request: CloudRequest, route: Route | null): Promise<CloudAnswer | typeof NO_ANSWER> {
    const error = authenticationError(request);
    if (error) return errorAnswer(error);
    if (!route) return errorAnswer(notFound('The requested API endpoint was not found'));
    const kind = EFFECTS[route.operation] === 'change' ? 'writes' : 'reads';
    if (!this.buckets.take(kind, this.limits[kind])) return errorAnswer(rateLimited(this.limits[kind].burst));
    const scope = {
      provider: 'VERCEL',
      operation: route.operation,
      effect: EFFECTS[route.operation],
      targets: route.name === null ? [] : [route.name],
    } as const;
    return applyFault(this.world, request.epoch, scope, {
      perform: (how) => asVercelError(() => this.perform(request, route, how)),
      refuse: (why) => errorAnswer(FAULT_ERRORS[why]()),
    });
  }

  private perform(request: CloudRequest, { operation, name }: Route, how: CallModifiers): CloudAnswer {
    switch (operation) {
      case 'getAuthUser':
        return jsonAnswer(200, { user: USER }, 'OK');
      case 'getTeam':
        if (name !== TEAM_ID) throw notFound('Team not found');
        return jsonAnswer(200, { id: TEAM_ID, slug: 'simulated', name: 'Simulated' }, 'OK');
      case 'getProject': {
        const id = projectOf(name);
        return jsonAnswer(200, { id, name: id.replace('prj_', ''), accountId: USER.id }, 'OK');
      }
      case 'getFirewallConfig': {
        const id = projectOf(name);
        const firewall = this.firewalls.get(id, how.asOf);
        if (!firewall) throw notFound('Config not found');
        return jsonAnswer(200, configJson(id, firewall), 'OK');
      }
      case 'updateFirewallConfig':
        this.firewalls.change(projectOf(name), readChange(request.body), how.firstHalf);
        return jsonAnswer(200, {}, 'OK');
    }
  }
}

/** Vercel's errors for faults. */
const FAULT_ERRORS: Readonly<Record<Refusal, () => VercelError>> = {
  throttle: () => rateLimited(60),
  error: internalError,
  'not-found': () => notFound('Project not found'),
  quota: () => limitReached('The plan allows no more of this.'),
  refuse: () => forbidden('You don’t have permission to do this.'),
  conflict: () => new VercelError(409, 'conflict', 'The config was changed meanwhile.'),
  invalid: () => badRequest('`value` is not allowed.'),
  unauthenticated: () => forbidden('Not authorized', { invalidToken: true }),
};

function routeOf({ method, path, query }: CloudRequest): Route | null {
  const below = path.slice(VERCEL_PREFIX.length);
  for (const [routeMethod, pattern, operation] of ROUTES) {
    const match = routeMethod === method ? pattern.exec(below) : null;
    if (match) return { operation, name: match[1] ?? query.get('projectId') };
  }
  return null;
}

function authenticationError({ headers, query }: CloudRequest): VercelError | null {
  const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) return forbidden('The request is missing an authentication token');
  if (token !== TOKEN) return forbidden('Not authorized', { invalidToken: true });
  const teamId = query.get('teamId');
  if (teamId === null || teamId === TEAM_ID) return null;
  return forbidden(`Not authorized: Trying to access resource under scope "${teamId}".`, { saml: false });
}

function projectOf(name: string | null): string {
  if (name !== null && PROJECTS.includes(name)) return name;
  throw notFound('Project not found');
}

function asVercelError(act: () => CloudAnswer): CloudAnswer {
  try {
    return act();
  } catch (error) {
    if (error instanceof VercelError) return errorAnswer(error);
    throw error;
  }
}

/** The number of addresses in a change; 0 when the body is invalid. */
function itemsOf(body: string): number {
  let change: ChangeInput;
  try {
    change = readChange(body);
  } catch (error) {
    if (error instanceof VercelError) return 0;
    throw error;
  }
  if (change.action !== 'rules.insert' && change.action !== 'rules.update') return 0;
  return change.value.conditionGroup
    .flatMap(({ conditions }) => conditions.filter(({ type }) => type === 'ip_address'))
    .flatMap((condition) => addressesOf(condition)).length;
}
