import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Tx } from '#entities';
import type { Principal } from '#guards';
import { type GrantRow, SessionStore } from '#tenant-store';

const MAX_LISTS = 1000;
/** Of a key's principal and of what it may start. */
export const REMEMBERED_MS = 1000;

/**
 * What users of API keys may start, for requests that follow each other within a second. It is right only together with
 * the version it was read for, which the start of a session compares in its statement.
 */
@Injectable()
export class RememberedGrants {
  private readonly lists = new LRUCache<string, readonly GrantRow[]>({ max: MAX_LISTS, ttl: REMEMBERED_MS });

  constructor(private readonly sessions: SessionStore) {}

  /** As `SessionStore.grants`. */
  async of(tx: Tx, principal: Principal, requested: readonly string[]): Promise<readonly GrantRow[]> {
    const { organizationId, userId, grantVersion } = principal;
    const name = [organizationId, userId, grantVersion, ...requested.toSorted()].join(' ');
    const remembered = principal.kind === 'key' ? this.lists.get(name) : undefined;
    if (remembered) return remembered;
    const grants = await this.sessions.grants(tx, organizationId, userId, requested);
    if (principal.kind === 'key') this.lists.set(name, grants);
    return grants;
  }
}
