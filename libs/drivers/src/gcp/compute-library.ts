import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EffectiveFirewalls, FirewallList, NetworkMessage, OperationMessage } from './compute-messages';
import type { FirewallRule, NewFirewall } from './firewall-mapping';

interface Method<Request, Message> {
  readonly request: Request;
  readonly message: Message;
}
type Permissions = Readonly<Record<'permissions', readonly string[]>>;
type Write<Request> = Method<Request & { readonly requestId: string }, OperationMessage>;

/**
 * The methods that the driver calls. Their types are repeated here, because the package's own ones are 32 MB, which cost
 * every type check twenty seconds.
 */
export interface Methods {
  'firewalls.list': Method<
    { readonly filter?: string; readonly maxResults: number; readonly pageToken?: string },
    FirewallList
  >;
  'firewalls.get': Method<{ readonly firewall: string }, FirewallRule>;
  'firewalls.insert': Write<{ readonly firewallResource: NewFirewall }>;
  'firewalls.update': Write<{ readonly firewall: string; readonly firewallResource: NewFirewall }>;
  'firewalls.delete': Write<{ readonly firewall: string }>;
  'firewalls.testIamPermissions': Method<
    { readonly resource: string; readonly testPermissionsRequestResource: Permissions },
    Permissions
  >;
  'globalOperations.get': Method<{ readonly operation: string }, OperationMessage>;
  'globalOperations.wait': Method<{ readonly operation: string }, OperationMessage>;
  'networks.get': Method<{ readonly network: string }, NetworkMessage>;
  'networks.getEffectiveFirewalls': Method<{ readonly network: string }, EffectiveFirewalls>;
}

/** A method returns a message, a started write, or a part of a page and the page itself. */
type Result = readonly [object & { readonly latestResponse?: object }, unknown, object?];
type Client = Readonly<Record<string, (request: object, options: object) => Promise<Result>>>;
type ClientClass = new (options: { authClient: object }) => Client & { initialize(): Promise<unknown> };

/** The package's description of all messages, below the names of packages and services. */
interface Descriptions {
  nested: Record<string, Descriptions>;
}

const SERVICES = ['Firewalls', 'GlobalOperations', 'Networks'];

/**
 * Loads the package and creates its clients, in steps: each one occupies the process, and the calls and leases of others
 * get their turn in between.
 * @param authClient sends their requests
 * @returns calls a method once; the message is decoded and not checked
 */
export async function loadCompute(
  authClient: object,
): Promise<(method: keyof Methods, request: object) => Promise<unknown>> {
  // `require`, because `import` reads the types: see `Methods`.
  reduce(require('@google-cloud/compute/build/protos/protos.json') as Descriptions);
  await nextTurn();
  const classes = {
    ...(require('@google-cloud/compute/build/src/v1/firewalls_client') as { FirewallsClient: ClientClass }),
    ...(require('@google-cloud/compute/build/src/v1/global_operations_client') as {
      GlobalOperationsClient: ClientClass;
    }),
    ...(require('@google-cloud/compute/build/src/v1/networks_client') as { NetworksClient: ClientClass }),
  };
  await nextTurn();
  const options = { authClient };
  const clients: Readonly<Record<string, InstanceType<ClientClass>>> = {
    firewalls: new classes.FirewallsClient(options),
    globalOperations: new classes.GlobalOperationsClient(options),
    networks: new classes.NetworksClient(options),
  };
  await Promise.all(Object.values(clients).map((client) => client.initialize()));
  return async (method, request) => {
    const [service = '', name = ''] = method.split('.');
    // no retries, one page at a time; a new object, because the client adds to it
    const callOptions = { retry: { retryCodes: [] }, autoPaginate: false };
    const [first, , page] = await clients[service]![name]!(request, callOptions);
    return page ?? first.latestResponse ?? first;
  };
}

/**
 * Keeps the descriptions of the messages of our services, 80 of 4,400: a client builds all that it finds, which takes a
 * second and 80 MB.
 */
function reduce(descriptions: Descriptions): void {
  const compute = ['google', 'cloud', 'compute'].reduce((parent, name) => parent.nested[name]!, descriptions);
  const all = compute.nested['v1']!.nested;
  const kept = new Set(SERVICES);
  // A set is iterated together with what is added meanwhile.
  for (const name of kept) {
    JSON.stringify(all[name], (_, value: unknown) => {
      if (typeof value === 'string' && Object.hasOwn(all, value)) kept.add(value);
      return value;
    });
  }
  compute.nested = { v1: { nested: Object.fromEntries([...kept].map((name) => [name, all[name]!])) } };
}
