import type { CallEffect } from '../faults/fault-script';
import type { GroupCalls, RouteNames } from './group-calls';

type CallName = {
  [Name in keyof GroupCalls]: GroupCalls[Name] extends (...given: never[]) => unknown ? Name : never;
}[keyof GroupCalls];

export interface Route {
  /** name for faults and the call log */
  readonly operation: string;
  readonly effect: CallEffect;
  /** the action that a role has to allow */
  readonly action: string;
  readonly method: string;
  readonly path: RegExp;
  readonly call: CallName;
}

const NETWORK = 'Microsoft.Network/networkSecurityGroups';
const SUBSCRIPTION = '/subscriptions/(?<subscription>[^/]+)';
const GROUP = `${SUBSCRIPTION}/resourceGroups/(?<resourceGroup>[^/]+)/providers/Microsoft\\.Network/networkSecurityGroups/(?<group>[^/]+)`;
const RULE = `${GROUP}/securityRules/(?<rule>[^/]+)`;
const LOCATION = `${SUBSCRIPTION}/providers/Microsoft\\.Network/locations/[^/]+`;

const route = (
  [operation, effect, action]: readonly [string, CallEffect, string],
  method: string,
  path: string,
  call: CallName,
): Route => ({ operation, effect, action, method, path: new RegExp(`^${path}$`, 'i'), call });

/** Azure matches the fixed parts of a path case-insensitively. */
export const ROUTES: readonly Route[] = [
  // who may read anything in a subscription is shown it
  route(['ListSubscriptions', 'read', `${NETWORK}/read`], 'GET', '/subscriptions', 'listSubscriptions'),
  route(['GetNetworkSecurityGroup', 'read', `${NETWORK}/read`], 'GET', GROUP, 'getGroup'),
  route(
    ['ListSecurityRules', 'read', `${NETWORK}/securityRules/read`],
    'GET',
    `${GROUP}/securityRules`,
    'listRules',
  ),
  route(['GetSecurityRule', 'read', `${NETWORK}/securityRules/read`], 'GET', RULE, 'getRule'),
  route(['PutSecurityRule', 'add', `${NETWORK}/securityRules/write`], 'PUT', RULE, 'putRule'),
  route(['DeleteSecurityRule', 'remove', `${NETWORK}/securityRules/delete`], 'DELETE', RULE, 'deleteRule'),
  route(
    ['ListPermissions', 'read', 'Microsoft.Authorization/permissions/read'],
    'GET',
    `${GROUP}/providers/Microsoft\\.Authorization/permissions`,
    'listPermissions',
  ),
  route(
    ['ListLocks', 'read', 'Microsoft.Authorization/locks/read'],
    'GET',
    `${GROUP}/providers/Microsoft\\.Authorization/locks`,
    'listLocks',
  ),
  route(
    ['GetOperation', 'read', 'Microsoft.Network/locations/operations/read'],
    'GET',
    `${LOCATION}/operations/(?<id>[^/]+)`,
    'getOperation',
  ),
  route(
    ['GetOperationResult', 'read', 'Microsoft.Network/locations/operationResults/read'],
    'GET',
    `${LOCATION}/operationResults/(?<id>[^/]+)`,
    'getOperationResult',
  ),
];

export function findRoute(method: string, path: string): { route: Route | undefined; names: RouteNames } {
  for (const candidate of ROUTES) {
    const match = candidate.method === method ? candidate.path.exec(path) : null;
    if (match) {
      const names = Object.fromEntries(
        Object.entries(match.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]),
      );
      return { route: candidate, names: { subscription: '', ...names } };
    }
  }
  return { route: undefined, names: { subscription: '' } };
}
