import { AGENT_AWAY_SECONDS, type OrganizationId } from '#rules';
import {
  choiceFilter,
  type ListDefinition,
  listPage,
  type ListQuery,
  type Sliced,
  type TenantStore,
  type Tx,
} from '#entities';

export const AGENT_STATES = ['CONNECTED', 'AWAY', 'CONTESTED'] as const;

/** An agent as administrators see it. */
export interface AgentRow {
  readonly id: string;
  readonly name: string;
  /** CONTESTED: another installation asks under the same name */
  readonly state: (typeof AGENT_STATES)[number];
  readonly address: string | null;
  readonly software: string | null;
  readonly keyName: string | null;
  readonly seenAt: Date;
  readonly createdAt: Date;
}

const STATE = `CASE WHEN a.rival_seen_at > now() - interval '1 minute' THEN 'CONTESTED'
    WHEN a.seen_at > now() - interval '${AGENT_AWAY_SECONDS} seconds' THEN 'CONNECTED' ELSE 'AWAY' END`;

export const AGENT_LIST: ListDefinition = {
  list: `SELECT a.id, a.name, ${STATE} AS state, a.address, a.software, k.name AS "keyName", a.seen_at AS "seenAt",
      a.created_at AS "createdAt"
    FROM agents a LEFT JOIN api_keys k ON k.id = a.key_id WHERE a.organization_id = $1`,
  id: 'a.id',
  search: ['a.name', 'a.address'],
  sort: { name: 'a.name', createdAt: 'a.created_at' },
  order: 'name',
  filters: { state: choiceFilter(STATE, AGENT_STATES) },
};

export class AgentListStore implements TenantStore<AgentListStore> {
  list(tx: Tx, organization: OrganizationId, query: ListQuery): Promise<Sliced<AgentRow>> {
    return listPage(tx, AGENT_LIST, organization, query);
  }
}
