import type { Adapter, AdapterPayload } from 'oidc-provider';

interface Stored {
  readonly payload: AdapterPayload;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
}

/** What a sign-in lives on; everything else is over within minutes. */
const LASTING = /^(?:RefreshToken|Grant):/;

/** What the identity provider has issued, by kind and id. */
export class IssuedTokens {
  /** number of changes of what lasts */
  changes = 0;
  private stored = new Map<string, Stored>();

  /** The provider's access to one kind of object. */
  readonly adapter = (kind: string): Adapter => {
    const keyOf = (id: string): string => `${kind}:${id}`;
    return {
      upsert: async (id, payload, expiresIn) =>
        this.set(keyOf(id), { payload, expiresAt: Date.now() + expiresIn! * 1000 }),
      find: async (id) => this.get(keyOf(id)),
      findByUid: async (uid) =>
        this.find((key, { payload }) => key.startsWith(keyOf('')) && payload.uid === uid),
      // of a kind of sign-in that is not offered
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const payload = this.get(keyOf(id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
        this.changes += 1;
      },
      destroy: async (id) => this.delete((key) => key === keyOf(id)),
      revokeByGrantId: async (grantId) => this.delete((_, { payload }) => payload.grantId === grantId),
    };
  };

  /** For `restore` after a restart: it signs no user out. */
  save(): unknown {
    return [...this.stored].filter(([key]) => LASTING.test(key));
  }

  restore(saved: unknown): void {
    if (Array.isArray(saved)) this.stored = new Map(saved as [string, Stored][]);
  }

  private get(key: string): AdapterPayload | undefined {
    return this.find((other) => other === key);
  }

  private find(matches: (key: string, stored: Stored) => boolean): AdapterPayload | undefined {
    const [, found] =
      [...this.stored].find(([key, stored]) => stored.expiresAt > Date.now() && matches(key, stored)) ?? [];
    return found?.payload;
  }

  private set(key: string, stored: Stored): void {
    this.delete((_, { expiresAt }) => expiresAt <= Date.now());
    this.stored.set(key, stored);
    if (LASTING.test(key)) this.changes += 1;
  }

  private delete(matches: (key: string, stored: Stored) => boolean): void {
    for (const [key, stored] of this.stored) if (matches(key, stored)) this.stored.delete(key);
    this.changes += 1;
  }
}
