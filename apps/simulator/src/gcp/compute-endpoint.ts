import type { CloudError } from '../cloud-error';
import type { CallEffect } from '../faults/fault-script';
import { serveCall, type Refusal } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import {
  METHODS,
  type ComputeCall,
  type ComputeMethod,
  type ComputeModifiers,
  type ComputeState,
} from './compute-operations';
import { readJson } from '../read-json';
import { networkPath } from './firewalls';
import {
  backendError,
  forbidden,
  invalid,
  invalidValue,
  jsonAnswer,
  notFound,
  notReady,
  quotaExceeded,
  rateLimitExceeded,
  render,
  unauthenticated,
} from './gcp-error';
import { PROJECT } from './service-account';
import { isAuthenticated, type AccessTokens } from './token-endpoint';

const SEARCH = 'projects.search';
const PROJECTS_PER_PAGE = 2;

export const COMPUTE_EFFECTS: Readonly<Record<string, CallEffect>> = {
  ...Object.fromEntries(Object.entries(METHODS).map(([name, { effect }]) => [name, effect])),
  [SEARCH]: 'check',
};

/** Compute, and the one method of the Resource Manager. */
const PATH = /^\/gcp\/(?:compute\/)?v1\/projects\/([^/:]+)[/:](.+)$/;
/** Compute limits the calls of a project per minute. */
const PER_MINUTE = 1500;
const BUCKET = { burst: PER_MINUTE, refillPerSecond: PER_MINUTE / 60 };

interface RoutedCall {
  readonly operation: string;
  readonly method: ComputeMethod;
  /** the last part of the path */
  readonly name: string;
}

/** Compute: firewall rules, their operations, networks; the Resource Manager: permissions on the project. */
export class ComputeEndpoint {
  private readonly state: ComputeState;

  constructor(
    private readonly world: World,
    private readonly tokens: AccessTokens,
    state: Omit<ComputeState, 'isGranted'>,
  ) {
    this.state = { ...state, isGranted: (permission) => this.world.roles.allows('GCP', permission) };
  }

  /** The Resource Manager's search, unordered and late. */
  private search(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const { world } = this;
    const call = { provider: 'GCP', operation: SEARCH, effect: 'check', targets: [] } as const;
    return serveCall(world, request.epoch, call, {
      check: () => {
        if (!isAuthenticated(request, this.tokens)) throw unauthenticated();
      },
      perform: () => {
        const all = world.accounts.search();
        const from = Number(request.query.get('pageToken') ?? 0);
        const projects = all.slice(from, from + PROJECTS_PER_PAGE).map(({ account, name, state }) => ({
          name: `projects/${account}`,
          projectId: account,
          displayName: name,
          state,
        }));
        const next = from + PROJECTS_PER_PAGE;
        return jsonAnswer(200, 'OK', { projects, ...(next < all.length && { nextPageToken: String(next) }) });
      },
      refuse: (why) => this.faultError(why, null, undefined),
      render,
    });
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    if (request.path === '/gcp/v3/projects:search') return this.search(request);
    const { state, world } = this;
    const routed = routeOf(request);
    const body = readBody(request);
    const given: ComputeCall = { name: routed?.name ?? '', query: request.query, body: body ?? {} };
    const targets = (routed?.method.targets(given, state) ?? []).filter((target) => target !== undefined);
    const { effect = 'check', permission = null } = routed?.method ?? {};
    const call = {
      provider: 'GCP',
      operation: routed?.operation ?? `${request.method} ${request.path}`,
      effect,
      targets,
      items: effect === 'add' || effect === 'remove' ? 1 : 0,
    } as const;
    const perform = async (how: ComputeModifiers): Promise<CloudAnswer> => {
      if (!body) throw invalid('Invalid JSON payload received. Parse error.');
      return jsonAnswer(200, 'OK', await routed!.method.perform(given, state, how));
    };
    const refuse = (why: Refusal): CloudError => this.faultError(why, permission, targets[0]);
    return serveCall(world, request.epoch, call, {
      check: () => {
        if (!isAuthenticated(request, this.tokens)) throw unauthenticated();
        const [, project = ''] = PATH.exec(request.path) ?? [];
        if (!routed) throw notFound(request.path);
        const { accounts } = world;
        const isElsewhere = targets.some((target) => accounts.ownerOf('GCP', target) !== project);
        if (!accounts.has('GCP', project) || isElsewhere) throw notFound(`projects/${project}`);
        if (!world.buckets.take(`GCP ${effect}`, BUCKET)) throw rateLimitExceeded(PROJECT);
        if (permission !== null && !state.isGranted(permission)) throw refuse('refuse');
      },
      perform,
      failLater: () => perform({ failLater: true }),
      refuse,
      render,
    });
  }

  private faultError(why: Refusal, permission: string | null, network = 'default'): CloudError {
    const path = networkPath(network);
    const errors: Readonly<Record<Refusal, () => CloudError>> = {
      throttle: () => rateLimitExceeded(PROJECT),
      error: backendError,
      'not-found': () => notFound(path),
      quota: () => quotaExceeded(this.world.sizes.firewallsPerProject),
      refuse: () => forbidden(permission ?? 'resourcemanager.projects.get', path),
      conflict: () => notReady(path),
      invalid: () => invalidValue('sourceRanges[0]', ''),
      unauthenticated,
    };
    return errors[why]();
  }
}

/** @returns null when no simulated method matches */
function routeOf(request: CloudRequest): RoutedCall | null {
  const [, , path = ''] = PATH.exec(request.path) ?? [];
  for (const [operation, method] of Object.entries(METHODS)) {
    const match = method.verb === request.method ? method.path.exec(path) : null;
    if (match) return { operation, method, name: decodeURIComponent(match[1] ?? '') };
  }
  return null;
}

/** @returns null when the body is not JSON */
function readBody({ body }: CloudRequest): Readonly<Record<string, unknown>> | null {
  const parsed = body === '' ? {} : readJson(body);
  if (parsed === undefined) return null;
  return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
}
