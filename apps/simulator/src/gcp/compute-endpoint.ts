import type { CallEffect, FaultKind } from '../faults/fault-script';
import { playFault, type Refusal } from '../faults/play-fault';
import type { IssuedTokens } from '../issued-tokens';
import { NO_ANSWER, type CloudAnswer, type CloudRequest, type World } from '../provider';
import { TokenBuckets } from '../throttle/token-buckets';
import {
  METHODS,
  type ComputeCall,
  type ComputeMethod,
  type ComputeState,
  type HowPerformed,
} from './compute-operations';
import { networkPath } from './firewalls';
import {
  backendError,
  forbidden,
  GcpError,
  invalid,
  invalidValue,
  jsonAnswer,
  notFound,
  notReady,
  quotaExceeded,
  rateLimitExceeded,
  refusal,
  unauthenticated,
} from './gcp-error';
import { PROJECT } from './service-account';
import { isValidToken } from './token-endpoint';

export const COMPUTE_EFFECTS: Readonly<Record<string, CallEffect>> = Object.fromEntries(
  Object.entries(METHODS).map(([name, { effect }]) => [name, effect]),
);

const PATH = /^\/gcp\/compute\/v1\/projects\/([^/]+)\/(.+)$/;
/** Compute counts by the minute: what a project may do in one. */
const PER_MINUTE = 1500;
const BUCKET = { burst: PER_MINUTE, refillPerSecond: PER_MINUTE / 60 };

interface Routed {
  readonly operation: string;
  readonly method: ComputeMethod;
  readonly call: ComputeCall;
}

/** Compute: firewall rules, their operations, networks. */
export class ComputeEndpoint {
  private readonly buckets = new TokenBuckets();
  private readonly state: ComputeState;

  constructor(
    private readonly world: World,
    private readonly room: number,
    private readonly tokens: IssuedTokens,
    state: Omit<ComputeState, 'isGranted'>,
  ) {
    this.state = { ...state, isGranted: (permission) => this.isGranted(permission) };
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const routed = routeOf(request);
    const entry = this.world.calls.arrive('GCP', routed?.operation ?? `${request.method} ${request.path}`);
    const targets = routed ? this.targetsOf(routed) : [];
    entry.target = targets.length === 0 ? null : targets.join(',');
    entry.items = routed?.method.effect === 'add' || routed?.method.effect === 'remove' ? 1 : 0;
    const answer = await this.answer(request, routed, targets);
    entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
    return answer;
  }

  reset(): void {
    this.buckets.clear();
  }

  private async answer(
    request: CloudRequest,
    routed: Routed | null,
    targets: readonly string[],
  ): Promise<CloudAnswer | typeof NO_ANSWER> {
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (!isValidToken(token, this.tokens)) return refusal(unauthenticated());
    const [, project = ''] = PATH.exec(request.path) ?? [];
    if (!routed) return refusal(notFound(request.path));
    if (project !== PROJECT) return refusal(notFound(`projects/${project}`));
    const { operation, method, call } = routed;
    const { effect } = method;
    if (!this.buckets.take(effect, BUCKET)) return refusal(rateLimitExceeded(PROJECT));
    const scope = { provider: 'GCP', operation, effect, targets } as const;
    return playFault(this.world, request.epoch, scope, {
      perform: (how) => this.perform(method, call, how),
      failLater: () => this.perform(method, call, { failLater: true }),
      refuse: (why) => refusal(this.planned(why, method, targets[0])),
    });
  }

  private async perform(method: ComputeMethod, call: ComputeCall, how: HowPerformed): Promise<CloudAnswer> {
    try {
      return jsonAnswer(200, 'OK', await method.perform(call, this.state, how));
    } catch (error) {
      if (error instanceof GcpError) return refusal(error);
      throw error;
    }
  }

  private targetsOf({ method, call }: Routed): string[] {
    return method.targets(call, this.state).filter((target) => target !== undefined);
  }

  /** What a fault makes Compute say. */
  private planned(why: Refusal, { permission }: ComputeMethod, network = 'default'): GcpError {
    const path = networkPath(network);
    const words: Readonly<Record<Refusal, () => GcpError>> = {
      throttle: () => rateLimitExceeded(PROJECT),
      error: backendError,
      'not-found': () => notFound(path),
      quota: () => quotaExceeded(this.room),
      refuse: () => forbidden(permission, path),
      conflict: () => notReady(path),
      invalid: () => invalidValue('sourceRanges[0]', ''),
      unauthenticated,
    };
    return words[why]();
  }

  /** A fault that refuses an operation shows in the permissions too. */
  private isGranted(permission: string): boolean {
    const refused = this.world.faults
      .active()
      .filter(({ provider, kind }) => provider === 'GCP' && kind === ('refuse' satisfies FaultKind))
      .map(({ operation }) => METHODS[operation ?? '']?.permission);
    return permission.startsWith('compute.') && !refused.includes(permission);
  }
}

/** @returns null when Compute has no such method here */
function routeOf(request: CloudRequest): Routed | null {
  const [, , path = ''] = PATH.exec(request.path) ?? [];
  for (const [operation, method] of Object.entries(METHODS)) {
    const match = method.verb === request.method ? method.path.exec(path) : null;
    if (!match) continue;
    const name = decodeURIComponent(match[1] ?? '');
    return {
      operation,
      method: checkedBody(method, request),
      call: { name, query: request.query, body: bodyOf(request) },
    };
  }
  return null;
}

const bodyOf = ({ body }: CloudRequest): Readonly<Record<string, unknown>> => {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

const refuseBody = (): never => {
  throw invalid('Invalid JSON payload received. Parse error.');
};

/** A body that is no JSON is refused before anything else is looked at. */
function checkedBody(method: ComputeMethod, { body }: CloudRequest): ComputeMethod {
  if (body === '') return method;
  try {
    JSON.parse(body);
    return method;
  } catch {
    return { ...method, perform: refuseBody };
  }
}
