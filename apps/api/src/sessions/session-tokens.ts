import { Injectable } from '@nestjs/common';
import type { OrganizationId } from '#rules';
import { MasterKeys, sessionToken, unwrapDataKey } from '#secrets';
import { DataKeys } from '../credentials/data-keys';

/** The token of a session with this id. */
export type TokenOf = (sessionId: string) => string;

/** Tokens of sessions, derived from the organization's data key: a repeated request gets the same one, and none is stored. */
@Injectable()
export class SessionTokens {
  constructor(
    private readonly dataKeys: DataKeys,
    private readonly masterKeys: MasterKeys,
  ) {}

  /** Not within a transaction: it may need a connection of its own. */
  async of(organization: OrganizationId): Promise<TokenOf> {
    const key = unwrapDataKey(this.masterKeys, await this.dataKeys.of(organization));
    return (sessionId) => sessionToken(key, sessionId);
  }
}
