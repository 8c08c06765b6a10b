import { bareAddress, readAddressOrCidr } from '../cidr';
import { applyFault, type Refusal } from '../faults/apply-fault';
import type { OpenRule } from '../ground-truth/ledger';
import {
  OutsideEditRefused,
  NO_ANSWER,
  type CloudAnswer,
  type CloudProvider,
  type CloudRequest,
  type UnmanagedRuleSpec,
  type UnmanagedRuleFilter,
  type World,
} from '../provider';
import { AdminCalls, OPERATIONS, readCall, type AdminCall } from './admin-calls';
import {
  AdminError,
  bodyTooLarge,
  errorAnswer,
  etcdUnavailable,
  invalid,
  jsonAnswer,
  keyNotFound,
  tokenRefused,
  tooManyRequests,
  valueChanged,
} from './admin-error';
import { GatewayObjects, TARGETS, type SavedState } from './gateway-objects';
import { whitelistOf, withWhitelist } from './ip-restriction';

const ADMIN_KEY = 'simulated-admin-key';
/** Read-only. */
const VIEWER_KEY = 'simulated-viewer-key';
const ADMIN_PATH = '/apisix/admin';

const FAULT_ERRORS: Readonly<Record<Refusal, () => AdminError>> = {
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
    const entry = this.world.calls.arrive('APISIX', call?.operation ?? '(none)');
    entry.target = call?.id ?? null;
    const answer = await this.answer(request, call);
    entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
    return answer;
  }

  /** Appends an entry, as typed, to the whitelist. Entries have neither protocols nor ports. */
  addUnmanagedRule({ target, address }: UnmanagedRuleSpec): OpenRule {
    const object = this.objects.byId(target);
    const cidr = readAddressOrCidr(address);
    if (!cidr) throw new OutsideEditRefused('Invalid', `${address} is not a valid entry of a whitelist`);
    this.objects.write(target, withWhitelist(object.value, [...whitelistOf(object.value), address]), false);
    const opened = this.world.ledger
      .list({ provider: this.provider, target })
      .find((rule) => rule.providerRuleId.endsWith(`#${address}`));
    if (!opened) throw new OutsideEditRefused('Invalid', `${address} allows no address`);
    return opened;
  }

  removeRules({ target, address }: UnmanagedRuleFilter): OpenRule[] {
    const object = this.objects.byId(target);
    const desired = address === undefined ? undefined : canonicalAddress(address);
    const matching = this.world.ledger
      .list({ provider: this.provider, target })
      .filter((rule) => desired === undefined || rule.address === desired);
    const removed = new Set(matching.map(({ providerRuleId }) => providerRuleId.split('#')[1]));
    const remaining = whitelistOf(object.value).filter((entry) => !removed.has(entry));
    if (remaining.length === 0)
      throw new OutsideEditRefused('Invalid', 'expect array to have at least 1 items');
    if (matching.length > 0) this.objects.write(target, withWhitelist(object.value, remaining), false);
    return matching;
  }

  save(): SavedState {
    return this.objects.all();
  }

  /** @param saved undefined in a state file from before APISIX was simulated */
  restore(saved: unknown): void {
    if (saved !== undefined) this.objects.restore(saved as SavedState);
  }

  reset(): void {
    this.objects.reset();
  }

  private async answer(
    request: CloudRequest,
    call: AdminCall | undefined,
  ): Promise<CloudAnswer | typeof NO_ANSWER> {
    const problem = keyProblem(request);
    if (problem !== null) return errorAnswer(tokenRefused(problem));
    if (!call) return jsonAnswer(404, { error_msg: 'not found' }, 'NotFound');
    const { operation, effect, id } = call;
    const scope = { provider: 'APISIX', operation, effect, targets: id === null ? [] : [id] } as const;
    return applyFault(this.world, request.epoch, scope, {
      perform: (how) => asAdminError(() => this.calls.perform(call, request, how)),
      refuse: (why) => errorAnswer(FAULT_ERRORS[why]()),
    });
  }
}

function keyProblem({ method, headers, query }: CloudRequest): string | null {
  const key = headers['x-api-key'] ?? query.get('api_key');
  if (!key) return 'missing apikey';
  if (key === VIEWER_KEY) return method === 'GET' ? null : 'invalid method for role viewer';
  return key === ADMIN_KEY ? null : 'wrong apikey';
}

function asAdminError(act: () => CloudAnswer): CloudAnswer {
  try {
    return act();
  } catch (error) {
    if (error instanceof AdminError) return errorAnswer(error);
    throw error;
  }
}

function canonicalAddress(text: string): string {
  const cidr = readAddressOrCidr(text);
  if (!cidr) throw new OutsideEditRefused('Invalid', `${text} is not a valid entry of a whitelist`);
  return bareAddress(cidr.text);
}
