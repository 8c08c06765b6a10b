import { CloudError } from '../cloud-error';
import type { CallEffect } from '../faults/fault-script';
import { serveCall, type CallModifiers, type Refusal } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import { PROJECTS, type Firewalls } from './firewalls';
import { configJson } from './config-json';
import { addressesOf, readChange, type ChangeInput } from './rule-input';
import {
  badRequest,
  forbidden,
  internalError,
  jsonAnswer,
  limitReached,
  notFound,
  rateLimited,
  render,
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

/** Vercel documents no numbers: high limits, so that tests depend on the driver's own rate. */
const LIMITS = {
  writes: { burst: 100, refillPerSecond: 10 },
  reads: { burst: 500, refillPerSecond: 50 },
} as const;

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
  constructor(
    private readonly world: World,
    private readonly firewalls: Firewalls,
  ) {}

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const route = routeOf(request);
    const { operation, name = null } = route ?? {};
    const call = {
      provider: 'VERCEL',
      operation: operation ?? '(none)',
      effect: operation ? EFFECTS[operation] : 'check',
      targets: name === null || operation === 'getTeam' ? [] : [name],
      items: operation === 'updateFirewallConfig' ? itemsOf(request.body) : 0,
    } as const;
    return serveCall(this.world, request.epoch, call, {
      check: () => {
        checkToken(request);
        if (!route) throw notFound('The requested API endpoint was not found');
        const kind = call.effect === 'change' ? 'writes' : 'reads';
        const limit = LIMITS[kind];
        if (!this.world.buckets.take(`VERCEL ${kind}`, limit)) throw rateLimited(limit.burst);
      },
      perform: (how) => this.perform(request, route!, how),
      refuse: (why) => FAULT_ERRORS[why](),
      render,
    });
  }

  private perform(request: CloudRequest, { operation, name }: Route, how: CallModifiers): CloudAnswer {
    switch (operation) {
      case 'getAuthUser':
        return jsonAnswer(200, { user: USER });
      case 'getTeam':
        if (name !== TEAM_ID) throw notFound('Team not found');
        return jsonAnswer(200, { id: TEAM_ID, slug: 'simulated', name: 'Simulated' });
      case 'getProject': {
        const id = projectOf(name);
        return jsonAnswer(200, { id, name: id.replace('prj_', ''), accountId: USER.id });
      }
      case 'getFirewallConfig': {
        const id = projectOf(name);
        const firewall = this.firewalls.get(id, how.asOf);
        if (!firewall) throw notFound('Config not found');
        return jsonAnswer(200, configJson(id, firewall));
      }
      case 'updateFirewallConfig':
        this.firewalls.change(projectOf(name), readChange(request.body), how.firstHalf);
        return jsonAnswer(200, {});
    }
  }
}

const FAULT_ERRORS: Readonly<Record<Refusal, () => CloudError>> = {
  throttle: () => rateLimited(60),
  error: internalError,
  'not-found': () => notFound('Project not found'),
  quota: () => limitReached('The plan allows no more of this.'),
  refuse: () => forbidden('You don’t have permission to do this.'),
  conflict: () => new CloudError(409, 'conflict', 'The config was changed meanwhile.'),
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

function checkToken({ headers, query }: CloudRequest): void {
  const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) throw forbidden('The request is missing an authentication token');
  if (token !== TOKEN) throw forbidden('Not authorized', { invalidToken: true });
  const teamId = query.get('teamId');
  if (teamId !== null && teamId !== TEAM_ID)
    throw forbidden(`Not authorized: Trying to access resource under scope "${teamId}".`, { saml: false });
}

function projectOf(name: string | null): string {
  if (name !== null && PROJECTS.includes(name)) return name;
  throw notFound('Project not found');
}

/** The number of addresses in a change; 0 when the body is invalid. */
function itemsOf(body: string): number {
  let change: ChangeInput;
  try {
    change = readChange(body);
  } catch (error) {
    if (error instanceof CloudError) return 0;
    throw error;
  }
  if (change.action !== 'rules.insert' && change.action !== 'rules.update') return 0;
  return change.value.conditionGroup
    .flatMap(({ conditions }) => conditions.filter(({ type }) => type === 'ip_address'))
    .flatMap((condition) => addressesOf(condition)).length;
}
