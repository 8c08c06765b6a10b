import { History } from '../ground-truth/history';
import { allTrafficRule, type LedgerRule } from '../ground-truth/ledger';
import type { World } from '../provider';
import { checkPlugins, allowedSources, whitelistOf } from './ip-restriction';
import type { JsonObject } from './merge';

/** A version of a gateway object. */
export interface GatewayObject {
  readonly value: JsonObject;
  readonly createdIndex: number;
  readonly modifiedIndex: number;
  /** whitelist entries that Drawbridge wrote */
  readonly ours: readonly string[];
}

/** What survives a restart, by object id. */
export type SavedState = Readonly<Record<string, Pick<GatewayObject, 'value' | 'ours'>>>;

const NO_ADDRESS = '0.0.0.0/32';

/** Collections by object id. */
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

/** The gateway's objects. Each starts with a whitelist that allows no address. */
export class GatewayObjects {
  private readonly objects: History<GatewayObject>;
  private revision = 10;

  constructor(world: World) {
    this.objects = new History(world, ledgerRulesOf);
    this.reset();
  }

  reset(): void {
    this.objects.clear();
    for (const id of TARGETS) {
      this.revision += 1;
      const at = { createdIndex: this.revision, modifiedIndex: this.revision };
      this.objects.init(id, { value: initialValue(id), ...at, ours: [] });
    }
  }

  /** @param asOf microseconds since 1970: the version at that time, up to ten minutes back */
  find(collection: string, id: string, asOf?: number): GatewayObject | undefined {
    return COLLECTION_OF[id] === collection ? this.objects.get(id, asOf) : undefined;
  }

  /** @param id one of TARGETS */
  byId(id: string): GatewayObject {
    return this.objects.get(id)!;
  }

  ids(collection: string): string[] {
    return TARGETS.filter((id) => COLLECTION_OF[id] === collection);
  }

  /**
   * Replaces an object's value, and records opened and closed rules in the ledger.
   * @param byUs added entries are ours
   * @throws CloudError when the gateway would refuse the value
   */
  write(id: string, value: JsonObject, byUs: boolean): GatewayObject {
    checkPlugins(value);
    const known = this.byId(id);
    const before = new Set(whitelistOf(known.value));
    const ours = whitelistOf(value).filter((entry) =>
      before.has(entry) ? known.ours.includes(entry) : byUs && entry !== NO_ADDRESS,
    );
    this.revision += 1;
    const written = { value, createdIndex: known.createdIndex, modifiedIndex: this.revision, ours };
    return this.objects.set(id, written);
  }

  all(): SavedState {
    return Object.fromEntries(
      TARGETS.map((id) => {
        const { value, ours } = this.byId(id);
        return [id, { value, ours }] as const;
      }),
    );
  }

  restore(saved: SavedState): void {
    for (const [id, kept] of Object.entries(saved)) {
      const known = this.objects.get(id);
      if (known) this.objects.set(id, { ...known, ...kept });
    }
  }
}

/** The id of an entry in the ledger. */
export const ruleIdOf = (id: string, entry: string): string => `${COLLECTION_OF[id]}/${id}#${entry}`;

function ledgerRulesOf({ value, ours }: GatewayObject, id: string): LedgerRule[] {
  return allowedSources(value).map(({ entry, address }) =>
    allTrafficRule('APISIX', id, address, ours.includes(entry), ruleIdOf(id, entry)),
  );
}

function initialValue(id: string): JsonObject {
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
        whitelist: [NO_ADDRESS],
        message: 'Your IP address is not allowed',
        response_code: 403,
      },
    },
  };
}
