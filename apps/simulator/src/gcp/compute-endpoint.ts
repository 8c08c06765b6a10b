import type { CallEffect } from '../faults/fault-script';
import { applyFault, type Refusal } from '../faults/apply-fault';
import type { IssuedTokens } from '../issued-tokens';
import { NO_ANSWER, type CloudAnswer, type CloudRequest, type World } from '../provider';
import { TokenBuckets } from '../throttle/token-buckets';
import {
  METHODS,
  type ComputeCall,
  type ComputeMethod,
  type ComputeState,
  type ComputeModifiers,
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

/** Compute, and the one method of the Resource Manager. */
const PATH = /^\/gcp\/(?:compute\/)?v1\/projects\/([^/:]+)[/:](.+)$/;
/** Compute limits the calls of a project per minute. */
const PER_MINUTE = 1500;
const BUCKET = { burst: PER_MINUTE, refillPerSecond: PER_MINUTE / 60 };

interface RoutedCall {
  readonly operation: string;
  readonly method: ComputeMethod;
  readonly call: ComputeCall;
}

/** Compute: firewall rules, their operations, networks; the Resource Manager: permissions on the project. */
export class ComputeEndpoint {
  private readonly buckets = new TokenBuckets();
  private readonly state: ComputeState;

  constructor(
    private readonly world: World,
    private readonly maxRules: number,
    private readonly tokens: IssuedTokens,
    state: Omit<ComputeState, 'isGranted'>,
  ) {
    this.state = { ...state, isGranted: (permission) => this.world.roles.allows('GCP', permission) };
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
    routed: RoutedCall | null,
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
    if (method.permission !== null && !this.state.isGranted(method.permission))
      return refusal(this.faultError('refuse', method, targets[0]));
    const scope = { provider: 'GCP', operation, effect, targets } as const;
    return applyFault(this.world, request.epoch, scope, {
      perform: (how) => this.perform(method, call, how),
      failLater: () => this.perform(method, call, { failLater: true }),
      refuse: (why) => refusal(this.faultError(why, method, targets[0])),
    });
  }

  private async perform(
    method: ComputeMethod,
    call: ComputeCall,
    how: ComputeModifiers,
  ): Promise<CloudAnswer> {
    try {
      return jsonAnswer(200, 'OK', await method.perform(call, this.state, how));
    } catch (error) {
      if (error instanceof GcpError) return refusal(error);
      throw error;
    }
  }

  private targetsOf({ method, call }: RoutedCall): string[] {
    return method.targets(call, this.state).filter((target) => target !== undefined);
  }

  /** Compute's errors for faults. */
  private faultError(why: Refusal, { permission }: ComputeMethod, network = 'default'): GcpError {
    const path = networkPath(network);
    const errors: Readonly<Record<Refusal, () => GcpError>> = {
      throttle: () => rateLimitExceeded(PROJECT),
      error: backendError,
      'not-found': () => notFound(path),
      quota: () => quotaExceeded(this.maxRules),
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
    if (!match) continue;
    const name = decodeURIComponent(match[1] ?? '');
    return {
      operation,
      method: withBodyCheck(method, request),
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

const throwParseError = (): never => {
  throw invalid('Invalid JSON payload received. Parse error.');
};

/** Invalid JSON is refused before any other check. */
function withBodyCheck(method: ComputeMethod, { body }: CloudRequest): ComputeMethod {
  if (body === '') return method;
  try {
    JSON.parse(body);
    return method;
  } catch {
    return { ...method, perform: throwParseError };
  }
}
