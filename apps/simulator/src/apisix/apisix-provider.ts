import { readAddressOrCidr } from '../cidr';
import type { CloudError } from '../cloud-error';
import { serveCall, type Refusal } from '../faults/serve-call';
import type { OpenRule } from '../ground-truth/ledger';
import type { CloudAnswer, CloudProvider, CloudRequest, NO_ANSWER, World } from '../provider';
import type { UnmanagedRuleSpec } from '../provider';
import { AdminCalls, OPERATIONS, readCall } from './admin-calls';
import {
  bodyTooLarge,
  etcdUnavailable,
  invalid,
  jsonAnswer,
  keyNotFound,
  noSuchPath,
  render,
  tokenRefused,
  tooManyRequests,
  valueChanged,
} from './admin-error';
import { GatewayObjects, ruleIdOf, TARGETS, type SavedState } from './gateway-objects';
import { whitelistOf, withWhitelist } from './ip-restriction';

const ADMIN_KEY = 'simulated-admin-key';
/** Read-only. */
const VIEWER_KEY = 'simulated-viewer-key';
const ADMIN_PATH = '/apisix/admin';

const FAULT_ERRORS: Readonly<Record<Refusal, () => CloudError>> = {
  throttle: tooManyRequests,
  error: etcdUnavailable,
  refuse: () => tokenRefused('wrong apikey'),
  'not-found': keyNotFound,
  quota: () => bodyTooLarge(1_600_000, 1_572_864),
  conflict: valueChanged,
  invalid: () => invalid('invalid configuration: property "whitelist" validation failed'),
  unauthenticated: () => tokenRefused('wrong apikey'),
};

/** A gateway's Admin API at `/apisix-gateway/apisix/admin`. The ledger records allowed addresses; no proxy is simulated. */
export class ApisixProvider implements CloudProvider {
  readonly provider = 'APISIX';
  readonly prefix = '/apisix-gateway';
  readonly targets = TARGETS;
  readonly operations = OPERATIONS;
  private readonly objects: GatewayObjects;
  private readonly calls: AdminCalls;

  constructor(private readonly world: World) {
    this.objects = new GatewayObjects(world);
    this.calls = new AdminCalls(this.objects);
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const path = request.path.slice(this.prefix.length);
    if (!path.startsWith(`${ADMIN_PATH}/`)) {
      return jsonAnswer(404, { error_msg: '404 Route Not Found' }, 'RouteNotFound');
    }
    const call = readCall(request.method, path.slice(ADMIN_PATH.length));
    const { operation = '(none)', effect = 'check', id = null } = call ?? {};
    const served = { provider: 'APISIX', operation, effect, targets: id === null ? [] : [id] } as const;
    return serveCall(this.world, request.epoch, served, {
      check: () => {
        const problem = keyProblem(request);
        if (problem !== null) throw tokenRefused(problem);
        if (!call) throw noSuchPath();
      },
      perform: (how) => this.calls.perform(call!, request, how),
      refuse: (why) => FAULT_ERRORS[why](),
      render,
    });
  }

  /** Appends an entry, as typed, to the whitelist. Entries have neither protocols nor ports. */
  addUnmanagedRule({ target, address }: UnmanagedRuleSpec): string {
    const { value } = this.objects.byId(target);
    if (!readAddressOrCidr(address)) throw invalid(`${address} is not a valid entry of a whitelist`);
    this.objects.write(target, withWhitelist(value, [...whitelistOf(value), address]), false);
    return ruleIdOf(target, address);
  }

  removeRules(target: string, open: readonly OpenRule[]): void {
    const { value } = this.objects.byId(target);
    const removed = new Set(open.map(({ providerRuleId }) => providerRuleId.split('#')[1]));
    const remaining = whitelistOf(value).filter((entry) => !removed.has(entry));
    this.objects.write(target, withWhitelist(value, remaining), false);
  }

  save(): SavedState {
    return this.objects.all();
  }

  restore(saved: unknown): void {
    this.objects.restore(saved as SavedState);
  }

  reset(): void {
    this.objects.reset();
  }
}

function keyProblem({ method, headers, query }: CloudRequest): string | null {
  const key = headers['x-api-key'] ?? query.get('api_key');
  if (!key) return 'missing apikey';
  if (key === VIEWER_KEY) return method === 'GET' ? null : 'invalid method for role viewer';
  return key === ADMIN_KEY ? null : 'wrong apikey';
}
