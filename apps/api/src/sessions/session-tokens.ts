import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { OrganizationId } from '#rules';
import { type DataKey, MasterKeys, sessionToken, unwrapDataKey } from '#secrets';
import { DataKeys } from '../credentials/data-keys';

const MAX_KEYS = 1000;

/** The token of a session with this id. */
export type TokenOf = (sessionId: string) => string;

/**
 * Tokens of sessions, derived from the organization's data key: a repeated request gets the same one, and none is stored.
 * A data key never changes, so it is remembered: the start of a session by a busy key stays one statement.
 */
@Injectable()
export class SessionTokens {
  private readonly keys = new LRUCache<OrganizationId, DataKey>({ max: MAX_KEYS });

  constructor(
    private readonly dataKeys: DataKeys,
    private readonly masterKeys: MasterKeys,
  ) {}

  /** Not within a transaction: it may need a connection of its own. */
  async of(organization: OrganizationId): Promise<TokenOf> {
    const key = this.keys.get(organization) ?? (await this.read(organization));
    return (sessionId) => sessionToken(key, sessionId);
  }

  private async read(organization: OrganizationId): Promise<DataKey> {
    const key = unwrapDataKey(this.masterKeys, await this.dataKeys.of(organization));
    this.keys.set(organization, key);
    return key;
  }
}
