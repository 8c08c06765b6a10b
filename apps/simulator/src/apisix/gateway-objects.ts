import type { Opening } from '../ground-truth/ledger';
import type { World } from '../provider';
import { checkPlugins, letIn, whitelistOf } from './ip-restriction';
import type { JsonObject } from './merge';

/** One object of the gateway as it is, or was. */
export interface GatewayObject {
  readonly value: JsonObject;
  readonly createdIndex: number;
  readonly modifiedIndex: number;
  /** entries of its whitelist that Drawbridge wrote */
  readonly ours: readonly string[];
}

/** What is kept over a restart. */
export type Remembered = Readonly<Record<string, Pick<GatewayObject, 'value' | 'ours'>>>;

const NOBODY = '0.0.0.0/32';
/** How long an older state can still show up in a stale read. */
const HISTORY_US = 600_000_000;

/** The ids of the objects, which are their names for tests and people too, and the collections they are in. */
const COLLECTION_OF: Readonly<Record<string, string>> = {
  'simulated-route-1': 'routes',
  'simulated-route-2': 'routes',
  'simulated-route-3': 'routes',
  'simulated-route-4': 'routes',
  'simulated-route-5': 'routes',
  'simulated-service': 'services',
  'simulated-consumer-group': 'consumer_groups',
  'simulated-plugin-config': 'plugin_configs',
  'simulated-global-rule': 'global_rules',
};

export const TARGETS: readonly string[] = Object.keys(COLLECTION_OF);
export const COLLECTIONS: readonly string[] = [...new Set(Object.values(COLLECTION_OF))];

/** The gateway's objects, each guarded by a whitelist at first that lets nobody in. */
export class GatewayObjects {
  private readonly objects = new Map<string, GatewayObject>();
  private past: { readonly id: string; readonly object: GatewayObject; readonly until: number }[] = [];
  private revision = 10;

  constructor(private readonly world: World) {
    this.reset();
  }

  reset(): void {
    this.past = [];
    for (const id of TARGETS) {
      this.revision += 1;
      const at = { createdIndex: this.revision, modifiedIndex: this.revision };
      this.objects.set(id, { value: firstValue(id), ...at, ours: [] });
    }
  }

  /** @param asOf microseconds since 1970; as it was then, up to ten minutes back */
  find(collection: string, id: string, asOf?: number): GatewayObject | undefined {
    if (COLLECTION_OF[id] !== collection) return undefined;
    const earlier = this.past.find((version) => version.id === id && version.until > (asOf ?? Infinity));
    return earlier?.object ?? this.objects.get(id);
  }

  /** @param id one of TARGETS */
  byId(id: string): GatewayObject {
    return this.objects.get(id)!;
  }

  ids(collection: string): string[] {
    return TARGETS.filter((id) => COLLECTION_OF[id] === collection);
  }

  /**
   * Keeps another value, and opens and closes what it lets in and no longer does.
   * @param byUs entries that come in with it are ours
   * @throws AdminError when the gateway would not keep it
   */
  write(id: string, value: JsonObject, byUs: boolean): GatewayObject {
    checkPlugins(value);
    const known = this.byId(id);
    const before = new Set(whitelistOf(known.value));
    const ours = whitelistOf(value).filter((entry) =>
      before.has(entry) ? known.ours.includes(entry) : byUs && entry !== NOBODY,
    );
    this.revision += 1;
    const written = { value, createdIndex: known.createdIndex, modifiedIndex: this.revision, ours };
    const now = this.world.clock.now();
    this.past = [...this.past, { id, object: known, until: now }].filter(
      ({ until }) => until > now - HISTORY_US,
    );
    this.objects.set(id, written);
    this.tell(id, openingsOf(id, known), openingsOf(id, written));
    return written;
  }

  all(): Remembered {
    return Object.fromEntries(
      [...this.objects].map(([id, { value, ours }]) => [id, { value, ours }] as const),
    );
  }

  recall(remembered: Remembered): void {
    for (const [id, { value, ours }] of Object.entries(remembered)) {
      const known = this.objects.get(id);
      if (!known) continue;
      const recalled = { ...known, value, ours };
      this.objects.set(id, recalled);
      this.tell(id, [], openingsOf(id, recalled));
    }
  }

  private tell(id: string, before: readonly Opening[], after: readonly Opening[]): void {
    const [were, are] = [namesOf(before), namesOf(after)];
    for (const opening of before) if (!are.has(opening.providerRuleId)) this.world.ledger.close(opening);
    for (const opening of after) if (!were.has(opening.providerRuleId)) this.world.ledger.open(opening);
  }
}

const namesOf = (openings: readonly Opening[]): Set<string> =>
  new Set(openings.map(({ providerRuleId }) => providerRuleId));

function openingsOf(id: string, { value, ours }: GatewayObject): Opening[] {
  return letIn(value).map(({ entry, address }) => ({
    provider: 'APISIX',
    target: id,
    address,
    protocol: 'all',
    fromPort: null,
    toPort: null,
    ours: ours.includes(entry),
    providerRuleId: `${COLLECTION_OF[id]}/${id}#${entry}`,
  }));
}

function firstValue(id: string): JsonObject {
  const collection = COLLECTION_OF[id];
  const at = { create_time: 1_700_000_000, update_time: 1_700_000_000 };
  const upstream = { type: 'roundrobin', scheme: 'http', nodes: { '127.0.0.1:1980': 1 } };
  return {
    id,
    ...at,
    ...(collection === 'routes' && { uri: `/${id}/*`, status: 1, priority: 0 }),
    ...((collection === 'routes' || collection === 'services') && { upstream }),
    plugins: {
      'ip-restriction': {
        whitelist: [NOBODY],
        message: 'Your IP address is not allowed',
        response_code: 403,
      },
    },
  };
}
