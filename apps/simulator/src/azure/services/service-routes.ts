import type { CallEffect } from '../../faults/fault-script';
import { SUBSCRIPTION_ID } from '../principal';
import type { ServiceCalls } from './service-calls';
import { SERVICES, serviceOf, type Service } from './service-types';

type Kind = keyof ServiceCalls | 'permissions' | 'locks';

/** A request for a service. */
export interface ServiceRoute {
  readonly kind: Kind;
  /** name for faults and the call log */
  readonly operation: string;
  readonly effect: CallEffect;
  /** the action that a role has to allow */
  readonly action: string;
  /** null: the request names none */
  readonly service: Service | null;
  /** `resource group/name`, whether or not it exists; null: the request names none */
  readonly target: string | null;
  readonly collection: string;
  readonly rule: string;
  readonly id: string;
}

/** Operations, by their names for faults and the call log. */
export const SERVICE_EFFECTS: Readonly<Record<string, CallEffect>> = {
  GetService: 'read',
  PatchService: 'change',
  ListFirewallRules: 'read',
  GetFirewallRule: 'read',
  PutFirewallRule: 'add',
  DeleteFirewallRule: 'remove',
  GetServiceOperation: 'read',
};

const NONE = { service: null, target: null, collection: '', rule: '', id: '' };
const RESOURCE = new RegExp(
  `^/subscriptions/${SUBSCRIPTION_ID}/resourceGroups/([^/]+)/providers/(${SERVICES.map(({ armType }) => armType.replaceAll('.', '\\.')).join('|')})/([^/]+)(?:/(.+))?$`,
  'i',
);
const OPERATION =
  /^\/subscriptions\/[^/]+\/providers\/([^/]+)\/locations\/[^/]+\/serviceOperations\/([^/]+)$/i;

/** @returns null when the path is of no service */
export function serviceRoute(method: string, path: string): ServiceRoute | null {
  const [, namespace, id] = OPERATION.exec(path) ?? [];
  if (namespace !== undefined && id !== undefined) {
    const service = SERVICES.find(({ armType }) => armType.toLowerCase().startsWith(namespace.toLowerCase()));
    const action = service?.polling ?? '(none)';
    return { ...NONE, kind: 'operation', operation: 'GetServiceOperation', effect: 'read', action, id };
  }
  const [, group = '', type = '', name = '', tail = ''] = RESOURCE.exec(path) ?? [];
  if (name === '') return null;
  const target = `${group}/${name}`.toLowerCase();
  const known = SERVICES.find(({ armType }) => armType.toLowerCase() === type.toLowerCase())!;
  // a resource of another type has the name, or none
  const service = serviceOf(target) === known ? known : null;
  const [collection = '', rule = ''] = tail.split('/').map(decodeURIComponent);
  const found = { ...NONE, service, target, collection, rule };
  const route = (kind: Kind, operation: string, action: string): ServiceRoute => ({
    ...found,
    kind,
    operation,
    effect: SERVICE_EFFECTS[operation] ?? 'read',
    action,
  });
  const { armType } = known;
  if (method === 'GET' && tail === '') return route('get', 'GetService', `${armType}/read`);
  if (method === 'PATCH' && tail === '') return route('patch', 'PatchService', `${armType}/write`);
  if (/^providers\/Microsoft\.Authorization\/permissions$/i.test(tail))
    return route('permissions', 'ListPermissions', 'Microsoft.Authorization/permissions/read');
  if (/^providers\/Microsoft\.Authorization\/locks$/i.test(tail))
    return route('locks', 'ListLocks', 'Microsoft.Authorization/locks/read');
  if (known.shape !== 'children' || !Object.hasOwn(known.collections, collection)) return null;
  const action = `${armType}/${collection}`;
  if (method === 'GET' && rule === '') return route('listRules', 'ListFirewallRules', `${action}/read`);
  if (method === 'GET') return route('getRule', 'GetFirewallRule', `${action}/read`);
  if (method === 'PUT' && rule !== '') return route('putRule', 'PutFirewallRule', `${action}/write`);
  return method === 'DELETE' && rule !== ''
    ? route('deleteRule', 'DeleteFirewallRule', `${action}/delete`)
    : null;
}
