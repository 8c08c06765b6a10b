import { ACCOUNT_FIELDS, readAccount } from './account-input';
import { canHit, FAULT_KINDS, type ActiveFault, type FaultKind } from '../faults/fault-script';
import { bareAddress, readAddressOrCidr } from '../cidr';
import { CloudError } from '../cloud-error';
import { KEY_FILE } from '../gcp/service-account';
import type { OpenRule } from '../ground-truth/ledger';
import { LOCK_LEVELS, type CloudProvider, type World } from '../provider';
import { GRANTED, WITH_ROLES } from '../roles/roles';
import { AUDIENCES, TRUSTING } from '../web-identity/trusts';
import { BadInput, Input, required } from './input';
import { badInput, ok, type ControlAnswer, type ControlRequest, type Route } from './route';
import { uploadedKeys } from './uploaded-keys';

const PROTOCOLS = ['tcp', 'udp', 'icmp', 'icmpv6', 'all'] as const;
const RULE_FIELDS = ['provider', 'target', 'address', 'protocol', 'fromPort', 'toPort'];
const CHANGE_FIELDS = ['address', 'protocol', 'fromPort', 'toPort', 'description', 'fields'];
const ORDER_FIELDS = ['access', 'priority', 'part'];
const MAX_DELAY_MS = 600_000;
const MAX_COUNT = 1_000_000;
const MAX_AHEAD_SECONDS = 366 * 86_400;

/** The control interface below `/_`: ground truth, changes by another program, faults. */
export class ControlInterface {
  private readonly routes: Readonly<Record<string, Route>> = {
    'GET /_providers': () => ok(this.describeProviders()),
    'GET /_service-account': () => ok(KEY_FILE),
    'GET /_rules': (request) => ok(this.listRules(request)),
    'POST /_rules': (request) => this.addRule(request),
    'PATCH /_rules': (request) => this.changeRules(request),
    'DELETE /_rules': (request) => this.removeRules(request),
    'GET /_timeline': (request) => readJournal(request, this.world.ledger.timeline),
    'GET /_calls': (request) => readJournal(request, this.world.calls.journal),
    'GET /_faults': () => ok(this.world.faults.active().map(describeFault)),
    'POST /_faults': (request) => this.startFault(request),
    'DELETE /_faults': () => this.clearFaults(),
    'GET /_trusts': () => ok(this.world.trusts.list()),
    'PUT /_trusts': (request) => this.setTrust(request),
    'GET /_roles': () => ok(this.describeRoles()),
    'PUT /_roles': (request) => this.setRole(request),
    'PUT /_accounts': (request) => this.setAccount(request),
    'PUT /_locks': (request) => this.setLock(request),
    'PUT /_policies': (request) => this.setPolicies(request),
    'PUT /_clock': (request) => this.setClock(request),
    'GET /_objects': (request) => ok(this.savedObjects(request)),
    'PUT /_objects': (request) => this.restoreObjects(request),
    'POST /_tokens/revoke': (request) => this.revokeTokens(request),
    'POST /_reset': () => this.resetAll(),
    ...this.more,
  };

  /** @param more routes of others @param reset resets every provider and drops calls in progress */
  constructor(
    private readonly world: World,
    private readonly providers: readonly CloudProvider[],
    private readonly more: Readonly<Record<string, Route>>,
    private readonly reset: () => void,
  ) {}

  /** @returns undefined when the path is not part of this interface */
  answer(request: ControlRequest): ControlAnswer | undefined {
    const route = this.routes[`${request.method} ${request.path}`];
    if (!route) return this.refuseMethod(request);
    try {
      return route(request);
    } catch (error) {
      if (error instanceof BadInput) return badInput(error);
      if (error instanceof CloudError)
        return { status: 409, body: { error: error.code, message: error.message } };
      throw error;
    }
  }

  private refuseMethod(request: ControlRequest): ControlAnswer | undefined {
    const methods = Object.keys(this.routes)
      .filter((route) => route.endsWith(` ${request.path}`))
      .map((route) => route.split(' ')[0]);
    if (methods.length === 0) return undefined;
    const allow = methods.join(', ');
    const message = `${request.path} takes ${allow}`;
    return { status: 405, body: { error: 'Method Not Allowed', message }, headers: { allow } };
  }

  private describeProviders(): unknown {
    return this.providers.map(({ provider, prefix, targets, operations }) => ({
      provider,
      prefix,
      targets,
      operations: Object.keys(operations),
    }));
  }

  private listRules({ query }: ControlRequest): unknown {
    const input = Input.fromQuery(query, ['provider', 'target']);
    const provider = this.readProvider(input);
    const target = input.oneOf('target', this.targetsOf(provider));
    return this.world.ledger.list({ provider: provider?.provider, target });
  }

  private addRule({ body }: ControlRequest): ControlAnswer {
    const input = Input.fromJson(body, [...RULE_FIELDS, 'description', ...ORDER_FIELDS]);
    const provider = this.requireProvider(input);
    const unsupported = ORDER_FIELDS.find((name) => input.has(name));
    if (unsupported !== undefined && !provider.hasDenials)
      throw new BadInput(unsupported, `${provider.provider} has no rules with ${unsupported}`);
    const target = this.requireTarget(input, provider);
    const id = provider.addUnmanagedRule({
      target,
      address: required('address', input.text('address')),
      protocol: input.oneOf('protocol', PROTOCOLS) ?? 'tcp',
      fromPort: readPort(input, 'fromPort') ?? null,
      toPort: readPort(input, 'toPort') ?? null,
      description: input.text('description'),
      isDenial: input.oneOf('access', ['allow', 'deny']) === 'deny',
      priority: input.integer('priority', 0, 65_535),
      part: input.filledText('part'),
    });
    const [rule = null] = id === null ? [] : this.openRules(provider, target, [id]);
    return { status: 201, body: rule };
  }

  private removeRules({ query }: ControlRequest): ControlAnswer {
    const { provider, target, rules } = this.select(query);
    provider.removeRules(target, rules);
    return ok({ removed: rules });
  }

  private changeRules({ query, body }: ControlRequest): ControlAnswer {
    const { provider, target, rules } = this.select(query);
    const input = Input.fromJson(body, CHANGE_FIELDS);
    if (!provider.changeRules) throw new BadInput('provider', `${provider.provider} has no rules to change`);
    provider.changeRules(target, rules, {
      address: input.text('address'),
      protocol: input.oneOf('protocol', PROTOCOLS),
      fromPort: readPort(input, 'fromPort'),
      toPort: readPort(input, 'toPort'),
      description: input.text('description'),
      fields: input.object('fields'),
    });
    const ids = rules.map(({ providerRuleId }) => providerRuleId);
    return ok({ changed: this.openRules(provider, target, ids) });
  }

  private select(query: URLSearchParams): { provider: CloudProvider; target: string; rules: OpenRule[] } {
    const input = Input.fromQuery(query, RULE_FIELDS);
    const provider = this.requireProvider(input);
    const target = this.requireTarget(input, provider);
    const rules = this.world.ledger.list({
      provider: provider.provider,
      target,
      address: readAddress(input),
      protocol: input.oneOf('protocol', PROTOCOLS),
      fromPort: readPort(input, 'fromPort'),
      toPort: readPort(input, 'toPort'),
    });
    return { provider, target, rules };
  }

  private openRules({ provider }: CloudProvider, target: string, ids: readonly string[]): OpenRule[] {
    const rules = this.world.ledger.list({ provider, target });
    return rules.filter(({ providerRuleId }) => ids.includes(providerRuleId));
  }

  private startFault({ body }: ControlRequest): ControlAnswer {
    const scope = ['provider', 'target', 'operation', 'caller', 'address'];
    const fields = [...scope, 'kind', 'count', 'seconds', 'delayMs'];
    const input = Input.fromJson(body, fields);
    const provider = this.requireProvider(input);
    const kind = required('kind', input.oneOf('kind', FAULT_KINDS), FAULT_KINDS);
    const fault = this.world.faults.start({
      provider: provider.provider,
      kind,
      target: input.oneOf('target', provider.targets),
      operation: readOperation(input, provider, kind),
      caller: input.text('caller'),
      address: input.text('address'),
      count: input.integer('count', 1, MAX_COUNT),
      seconds: input.integer('seconds', 1, 86_400),
      delayMs: input.integer('delayMs', 0, MAX_DELAY_MS),
    });
    return { status: 201, body: describeFault(fault) };
  }

  /** What an administrator of the account does: put a lock on a target; without a level, take it away. */
  private setLock({ body }: ControlRequest): ControlAnswer {
    const input = Input.fromJson(body, ['provider', 'target', 'level']);
    const provider = this.requireProvider(input);
    if (!provider.lock) throw new BadInput('provider', `${provider.provider} has no locks`);
    provider.lock(this.requireTarget(input, provider), input.oneOf('level', LOCK_LEVELS));
    return ok({});
  }

  /** What an administrator of the organization does: put firewall policies above a target's rules. */
  private setPolicies({ body }: ControlRequest): ControlAnswer {
    const input = Input.fromJson(body, ['provider', 'target', 'policies', 'order']);
    const provider = this.requireProvider(input);
    if (!provider.setPolicies)
      throw new BadInput('provider', `${provider.provider} has no firewall policies`);
    const order = input.oneOf('order', ['after', 'before']);
    const policies = required('policies', input.objects('policies'));
    provider.setPolicies(this.requireTarget(input, provider), policies, order === 'before');
    return ok({});
  }

  /** Time passes for a cloud whose rules end by its own clock. */
  private setClock({ body }: ControlRequest): ControlAnswer {
    const input = Input.fromJson(body, ['provider', 'aheadSeconds']);
    const provider = this.requireProvider(input);
    if (!provider.setClockAhead)
      throw new BadInput('provider', `${provider.provider} has no clock of its own`);
    const seconds = input.integer('aheadSeconds', 0, MAX_AHEAD_SECONDS);
    provider.setClockAhead(required('aheadSeconds', seconds) * 1000);
    return ok({});
  }

  /** The objects of a cloud in its own form, with what is not ours. */
  private savedObjects({ query }: ControlRequest): unknown {
    return this.requireProvider(Input.fromQuery(query, ['provider'])).save();
  }

  /** Objects as they were read, with what another program has made of them. Call it after a reset. */
  private restoreObjects({ body }: ControlRequest): ControlAnswer {
    const input = Input.fromJson(body, ['provider', 'objects']);
    this.requireProvider(input).restore(required('objects', input.object('objects')));
    return ok({});
  }

  private revokeTokens({ body }: ControlRequest): ControlAnswer {
    const provider = this.requireProvider(Input.fromJson(body, ['provider']));
    if (!provider.revokeTokens) throw new BadInput('provider', `${provider.provider} issues no tokens`);
    provider.revokeTokens();
    return ok({});
  }

  /** What an administrator of the account does once: trust an issuer, with a condition on the subject. */
  private setTrust({ body }: ControlRequest): ControlAnswer {
    const input = Input.fromJson(body, ['provider', 'issuer', 'audience', 'subject', 'jwks']);
    const provider = required('provider', input.oneOf('provider', TRUSTING), TRUSTING);
    const file = input.object('jwks');
    if (file && provider !== 'GCP') throw new BadInput('jwks', `${provider} fetches keys: it takes no file`);
    const trust = {
      provider,
      issuer: required('issuer', input.filledText('issuer')),
      audience: input.filledText('audience') ?? AUDIENCES[provider],
      subject: input.filledText('subject') ?? null,
      jwks: file ? uploadedKeys(file) : null,
    };
    this.world.trusts.set(trust);
    return ok(trust);
  }

  private describeRoles(): unknown {
    const { roles } = this.world;
    return WITH_ROLES.map((provider) => ({ provider, permissions: roles.permissionsOf(provider) }));
  }

  /** What an administrator of the account does: take permissions away from Drawbridge's role, and give them back. */
  private setRole({ body }: ControlRequest): ControlAnswer {
    const input = Input.fromJson(body, ['provider', 'without']);
    const provider = required('provider', input.oneOf('provider', WITH_ROLES), WITH_ROLES);
    const granted = GRANTED[provider];
    this.world.roles.withdraw(provider, required('without', input.someOf('without', granted), granted));
    return ok({ provider, permissions: this.world.roles.permissionsOf(provider) });
  }

  /** What an administrator of the organization does: make an account, roles in it, and move targets there. */
  private setAccount({ body }: ControlRequest): ControlAnswer {
    const input = Input.fromJson(body, ACCOUNT_FIELDS);
    const account = readAccount(input);
    const { targets } = this.requireProvider(input);
    this.world.accounts.set(account, input.someOf('targets', targets) ?? []);
    return ok(account);
  }

  private clearFaults(): ControlAnswer {
    this.world.faults.clear();
    return ok({});
  }

  private resetAll(): ControlAnswer {
    this.reset();
    return ok({});
  }

  private readProvider(input: Input): CloudProvider | undefined {
    const name = input.oneOf(
      'provider',
      this.providers.map(({ provider }) => provider),
    );
    return this.providers.find(({ provider }) => provider === name);
  }

  private requireProvider(input: Input): CloudProvider {
    const names = this.providers.map(({ provider }) => provider);
    return required('provider', this.readProvider(input), names);
  }

  private requireTarget(input: Input, provider: CloudProvider): string {
    return required('target', input.oneOf('target', provider.targets), provider.targets);
  }

  private targetsOf(provider: CloudProvider | undefined): readonly string[] {
    return provider ? provider.targets : this.providers.flatMap(({ targets }) => targets);
  }
}

const readPort = (input: Input, name: string): number | undefined => input.integer(name, 0, 65_535);

/** An address or a range as the ledger has it. */
function readAddress(input: Input): string | undefined {
  const text = input.text('address');
  const cidr = text === undefined ? null : readAddressOrCidr(text);
  if (text !== undefined && !cidr) throw new BadInput('address', 'address must be an address or a range');
  return cidr ? bareAddress(cidr.text) : undefined;
}

/** An operation of the provider that the kind of fault can hit. */
function readOperation(input: Input, provider: CloudProvider, kind: FaultKind): string | undefined {
  const operation = input.oneOf('operation', Object.keys(provider.operations));
  const effect = operation === undefined ? undefined : provider.operations[operation];
  if (effect === undefined || canHit(kind, effect)) return operation;
  const allowed = Object.entries(provider.operations).filter(([, candidate]) => canHit(kind, candidate));
  throw new BadInput(
    'operation',
    `operation must be one that ${kind} can hit`,
    allowed.map(([name]) => name),
  );
}

function readJournal(
  { query }: ControlRequest,
  journal: { since(since: number, limit?: number): unknown[]; readonly forgotten: number },
): ControlAnswer {
  const input = Input.fromQuery(query, ['since', 'limit']);
  const since = input.integer('since', 0, Number.MAX_SAFE_INTEGER) ?? 0;
  const limit = input.integer('limit', 1, MAX_COUNT);
  const headers = { 'x-forgotten-entries': String(journal.forgotten) };
  return { status: 200, body: journal.since(since, limit), headers };
}

const describeFault = ({ endsAt, ...fault }: ActiveFault): unknown => ({
  ...fault,
  endsAt: endsAt === null ? null : new Date(endsAt).toISOString(),
});
