import { bareAddress, readAddressOrCidr } from '../cidr';
import { playFault, type Refusal } from '../faults/play-fault';
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
  etcdTrouble,
  invalid,
  jsonAnswer,
  keyNotFound,
  tokenRefused,
  tooManyRequests,
  valueChanged,
} from './admin-error';
import { GatewayObjects, TARGETS, type Remembered } from './gateway-objects';
import { whitelistOf, withWhitelist } from './ip-restriction';

const ADMIN_KEY = 'simulated-admin-key';
/** May read only. */
const VIEWER_KEY = 'simulated-viewer-key';
const ADMIN_PATH = '/apisix/admin';

const PLANNED: Readonly<Record<Refusal, () => AdminError>> = {
  throttle: tooManyRequests,
  error: etcdTrouble,
  refuse: () => tokenRefused('wrong apikey'),
  'not-found': keyNotFound,
  quota: () => bodyTooLarge(1_600_000, 1_572_864),
  conflict: valueChanged,
  invalid: () => invalid('invalid configuration: property "whitelist" validation failed'),
  unauthenticated: () => tokenRefused('wrong apikey'),
};

/** A gateway's Admin API at `/apisix-gateway/apisix/admin`. It has no proxy: whom it would let in, the ledger tells. */
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

  /** An entry as people type it, after those that stand. A list knows neither protocols nor ports. */
  addUnmanagedRule({ target, address }: UnmanagedRuleSpec): OpenRule {
    const object = this.objects.byId(target);
    const cidr = readAddressOrCidr(address);
    if (!cidr) throw new OutsideEditRefused('Invalid', `${address} is no entry of a whitelist`);
    this.objects.write(target, withWhitelist(object.value, [...whitelistOf(object.value), address]), false);
    const opened = this.world.ledger
      .list({ provider: this.provider, target })
      .find((rule) => rule.providerRuleId.endsWith(`#${address}`));
    if (!opened) throw new OutsideEditRefused('Invalid', `${address} lets nobody in`);
    return opened;
  }

  removeRules({ target, address }: UnmanagedRuleFilter): OpenRule[] {
    const object = this.objects.byId(target);
    const desired = address === undefined ? undefined : canonicalAddress(address);
    const fitting = this.world.ledger
      .list({ provider: this.provider, target })
      .filter((rule) => desired === undefined || rule.address === desired);
    const gone = new Set(fitting.map(({ providerRuleId }) => providerRuleId.split('#')[1]));
    const left = whitelistOf(object.value).filter((entry) => !gone.has(entry));
    if (left.length === 0) throw new OutsideEditRefused('Invalid', 'expect array to have at least 1 items');
    if (fitting.length > 0) this.objects.write(target, withWhitelist(object.value, left), false);
    return fitting;
  }

  remember(): Remembered {
    return this.objects.all();
  }

  /** Nothing is remembered in a file from before APISIX was simulated. */
  recall(remembered: unknown): void {
    if (remembered !== undefined) this.objects.recall(remembered as Remembered);
  }

  reset(): void {
    this.objects.reset();
  }

  private async answer(
    request: CloudRequest,
    call: AdminCall | undefined,
  ): Promise<CloudAnswer | typeof NO_ANSWER> {
    const flaw = keyFlaw(request);
    if (flaw !== null) return errorAnswer(tokenRefused(flaw));
    if (!call) return jsonAnswer(404, { error_msg: 'not found' }, 'NotFound');
    const { operation, effect, id } = call;
    const scope = { provider: 'APISIX', operation, effect, targets: id === null ? [] : [id] } as const;
    return playFault(this.world, request.epoch, scope, {
      perform: (how) => asAdminError(() => this.calls.perform(call, request, how)),
      refuse: (why) => errorAnswer(PLANNED[why]()),
    });
  }
}

function keyFlaw({ method, headers, query }: CloudRequest): string | null {
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
  if (!cidr) throw new OutsideEditRefused('Invalid', `${text} is no entry of a whitelist`);
  return bareAddress(cidr.text);
}
