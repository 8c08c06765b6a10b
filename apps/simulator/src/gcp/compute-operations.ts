import { setTimeout as pause } from 'node:timers/promises';
import type { CallEffect } from '../faults/fault-script';
import type { CallModifiers } from '../faults/serve-call';
import { networkName, readFirewall } from './firewall-input';
import { listFirewalls } from './firewall-list';
import { firewallJson, networkJson } from './firewall-json';
import { firewallPath, networkPath, newId, NETWORKS, type Firewalls, type Firewall } from './firewalls';
import { invalid, notFound, notReady } from './gcp-error';
import { operationJson, type Operation, type Operations, type OperationType } from './operations';
import { PROJECT } from './service-account';

/** The input of a method. */
export interface ComputeCall {
  /** the last part of the path: a rule, an operation, a network */
  readonly name: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ComputeState {
  readonly firewalls: Firewalls;
  readonly operations: Operations;
  /** whether the service account has a permission */
  readonly isGranted: (permission: string) => boolean;
}

export interface ComputeMethod {
  readonly effect: CallEffect;
  /** null: everybody may call it */
  readonly permission: string | null;
  readonly path: RegExp;
  readonly verb: string;
  /** networks that a call affects */
  targets(call: ComputeCall, state: ComputeState): (string | undefined)[];
  /** @throws CloudError */
  perform(call: ComputeCall, state: ComputeState, how: ComputeModifiers): unknown;
}

export interface ComputeModifiers extends CallModifiers {
  /** accept the write, and let its operation fail */
  readonly failLater?: boolean;
}

/** Timeout of `globalOperations.wait`. */
const MAX_WAIT_MS = 120_000;

const FIREWALLS = /^global\/firewalls$/;
const ONE_FIREWALL = /^global\/firewalls\/([^/]+)$/;

const networkOfRule = ({ name }: ComputeCall, { firewalls }: ComputeState): (string | undefined)[] => [
  firewalls.find(name)?.network,
];

const insert: ComputeMethod = {
  effect: 'add',
  permission: 'compute.firewalls.create',
  path: FIREWALLS,
  verb: 'POST',
  targets: ({ body }) => [typeof body['network'] === 'string' ? networkName(body['network']) : 'default'],
  perform(call, { firewalls, operations }, how) {
    const repeated = operations.findByRequest(readRequestId(call));
    if (repeated) return operationJson(repeated);
    const spec = readFirewall(call.body, PROJECT);
    firewalls.checkAddition(spec, operations.rulesInProgress('insert'));
    const targetId = newId();
    return startOperation(call, operations, how, {
      type: 'insert',
      rule: spec.name,
      targetId,
      network: spec.network,
      apply: () => firewalls.add(spec, targetId),
    });
  },
};

const remove: ComputeMethod = {
  effect: 'remove',
  permission: 'compute.firewalls.delete',
  path: ONE_FIREWALL,
  verb: 'DELETE',
  targets: networkOfRule,
  perform(call, { firewalls, operations }, how) {
    const repeated = operations.findByRequest(readRequestId(call));
    if (repeated) return operationJson(repeated);
    const rule = requireFirewall(call, firewalls, operations);
    return startOperation(call, operations, how, {
      ...operationOn('delete', rule),
      apply: () => firewalls.remove(rule),
    });
  },
};

const change = (type: 'update' | 'patch', verb: string): ComputeMethod => ({
  effect: 'change',
  permission: 'compute.firewalls.update',
  path: ONE_FIREWALL,
  verb,
  targets: networkOfRule,
  perform(call, { firewalls, operations }, how) {
    const rule = requireFirewall(call, firewalls, operations);
    const old = type === 'patch' ? { ...firewallJson(rule), id: undefined } : { name: rule.name };
    const spec = readFirewall({ ...withoutUndefined(old), ...call.body }, PROJECT);
    if (spec.name !== rule.name || spec.network !== rule.network) {
      throw invalid("Invalid value for field 'resource': name and network cannot be changed.");
    }
    return startOperation(call, operations, how, {
      ...operationOn(type, rule),
      apply: () => firewalls.change(spec),
    });
  },
});

/** Compute's methods, by their documented names. */
export const METHODS: Readonly<Record<string, ComputeMethod>> = {
  'firewalls.insert': insert,
  'firewalls.delete': remove,
  'firewalls.update': change('update', 'PUT'),
  'firewalls.patch': change('patch', 'PATCH'),
  'firewalls.list': {
    effect: 'read',
    permission: 'compute.firewalls.list',
    path: FIREWALLS,
    verb: 'GET',
    targets: ({ query }) => [/networks\/([-a-z0-9]+)"?$/.exec(query.get('filter') ?? '')?.[1]],
    perform: ({ query }, { firewalls }, { asOf }) => listFirewalls(query, firewalls.list(asOf)),
  },
  'firewalls.get': {
    effect: 'read',
    permission: 'compute.firewalls.get',
    path: ONE_FIREWALL,
    verb: 'GET',
    targets: networkOfRule,
    perform: ({ name }, { firewalls }) => {
      const rule = firewalls.find(name);
      if (!rule) throw notFound(firewallPath(name));
      return firewallJson(rule);
    },
  },
  'firewalls.testIamPermissions': {
    effect: 'check',
    permission: null,
    path: /^global\/firewalls\/([^/]+)\/testIamPermissions$/,
    verb: 'POST',
    targets: networkOfRule,
    perform: ({ name, body }, { firewalls, isGranted }) => {
      if (!firewalls.find(name)) return {};
      const requested = Array.isArray(body['permissions']) ? body['permissions'].map(String) : [];
      return { permissions: requested.filter(isGranted) };
    },
  },
  'projects.testIamPermissions': {
    effect: 'check',
    permission: null,
    path: /^testIamPermissions$/,
    verb: 'POST',
    targets: () => [],
    perform: ({ body }, { isGranted }) => {
      const requested = Array.isArray(body['permissions']) ? body['permissions'].map(String) : [];
      if (requested.length === 0) throw invalid('Request contains an invalid argument.');
      const permissions = requested.filter(isGranted);
      // the Resource Manager leaves out an empty list
      return permissions.length === 0 ? {} : { permissions };
    },
  },
  'globalOperations.get': {
    effect: 'check',
    permission: 'compute.globalOperations.get',
    path: /^global\/operations\/([^/]+)$/,
    verb: 'GET',
    targets: ({ name }, { operations }) => [operations.find(name)?.network],
    perform: (call, state) => operationJson(operationOf(call, state)),
  },
  'globalOperations.wait': {
    effect: 'check',
    permission: 'compute.globalOperations.get',
    path: /^global\/operations\/([^/]+)\/wait$/,
    verb: 'POST',
    targets: ({ name }, { operations }) => [operations.find(name)?.network],
    perform: async (call, state) => {
      const operation = operationOf(call, state);
      await Promise.race([operation.done, pause(MAX_WAIT_MS, undefined, { ref: false })]);
      return operationJson(operation);
    },
  },
  'networks.get': {
    effect: 'read',
    permission: 'compute.networks.get',
    path: /^global\/networks\/([^/]+)$/,
    verb: 'GET',
    targets: ({ name }) => [name],
    perform: ({ name }, { firewalls }) => networkJson(requireNetwork(name), firewalls.policiesOf(name)),
  },
  'networks.getEffectiveFirewalls': {
    effect: 'check',
    permission: 'compute.networks.getEffectiveFirewalls',
    path: /^global\/networks\/([^/]+)\/getEffectiveFirewalls$/,
    verb: 'GET',
    targets: ({ name }) => [name],
    perform: ({ name }, { firewalls }) => {
      const network = requireNetwork(name);
      const { policies } = firewalls.policiesOf(name);
      return {
        firewalls: firewalls
          .list()
          .filter((rule) => rule.network === network)
          .map(firewallJson),
        ...(policies.length > 0 && { firewallPolicys: policies }),
      };
    },
  },
};

function requireNetwork(name: string): string {
  if (!NETWORKS.includes(name)) throw notFound(networkPath(name));
  return name;
}

function operationOf({ name }: ComputeCall, { operations }: ComputeState): Operation {
  const operation = operations.find(name);
  if (!operation) throw notFound(`projects/${PROJECT}/global/operations/${name}`);
  return operation;
}

function requireFirewall({ name }: ComputeCall, firewalls: Firewalls, operations: Operations): Firewall {
  const rule = firewalls.find(name);
  if (operations.rulesInProgress().includes(rule?.name ?? name)) throw notReady(firewallPath(name));
  if (!rule) throw notFound(firewallPath(name));
  return rule;
}

const operationOn = <T extends OperationType>(
  type: T,
  rule: Firewall,
): { type: T; rule: string; targetId: string; network: string } => ({
  type,
  rule: rule.name,
  targetId: rule.id,
  network: rule.network,
});

function startOperation(
  call: ComputeCall,
  operations: Operations,
  how: ComputeModifiers,
  operation: Pick<Operation, 'type' | 'rule' | 'targetId' | 'network'> & { apply: () => void },
): unknown {
  const request = {
    ...operation,
    requestId: readRequestId(call),
    fails: how.failLater ?? false,
    isImmediate: how.firstHalf ?? false,
  };
  return operationJson(operations.start(request));
}

function readRequestId({ query }: ComputeCall): string | null {
  const requestId = query.get('requestId');
  if (requestId === null) return null;
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(requestId);
  if (isUuid && !/^[0-]*$/.test(requestId)) return requestId;
  throw invalid(`Invalid value for field 'requestId': '${requestId}'. Must be a valid UUID other than zero.`);
}

const withoutUndefined = (rule: object): object =>
  Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
