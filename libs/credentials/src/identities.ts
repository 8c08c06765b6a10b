import { randomUUID, type KeyObject } from 'node:crypto';
import { DriverError, signedJwt, type IdentityTokens } from '#drivers';
import { SYSTEM_ACTOR, type Database, type SealedCredential } from '#entities';
import {
  newIdentityKey,
  openIdentityKey,
  SealBrokenError,
  type MasterKeys,
  type PublicIdentityKey,
  type SealedIdentityKey,
} from '#secrets';
import type { IdentityKeyRow } from './identity-key.store';
import type { IdentityStores } from './identity-stores';

/** In the place of a credential's id: no credential has it. */
const NO_CREDENTIAL = '00000000-0000-0000-0000-000000000000';
const TOKEN_SECONDS = 300;
/** Against clocks that are behind. */
const TOLERANCE_SECONDS = 60;
/** How long a process goes on with the keys it has read: a new one is published for a day before it signs. */
const REMEMBERED_MS = 60_000;
/** Longer than every role, provider and app that the drivers name. */
const MAX_TARGET_LENGTH = 500;

/** What a cloud's trust names of a credential. */
export type CredentialIdentity = Pick<IdentityTokens, 'issuer' | 'subject'>;

interface Keys {
  readonly readAt: number;
  readonly published: readonly PublicIdentityKey[];
  readonly signing: SealedIdentityKey;
}

/**
 * This deployment as an OIDC issuer: one issuer for each organization, so that a trust which forgets the subject lets in
 * this organization only. Tokens are made for exchanges with clouds and nothing else, and each is audited.
 */
export class Identities {
  private keys: Promise<Keys> | null = null;

  /** @param issuerUrl the setting OIDC_ISSUER_URL, without a slash at its end; null: there is no issuer */
  constructor(
    private readonly database: Database,
    private readonly masterKeys: MasterKeys,
    private readonly stores: IdentityStores,
    private readonly issuerUrl: string | null,
  ) {}

  /** @returns null when this deployment has no issuer */
  issuerOf(organizationId: string): string | null {
    return this.issuerUrl === null ? null : `${this.issuerUrl}/${organizationId}`;
  }

  /** @returns null when this deployment has no issuer */
  identityOf(organizationId: string, credentialId: string): CredentialIdentity | null {
    const issuer = this.issuerOf(organizationId);
    return issuer === null ? null : { issuer, subject: subjectOf(organizationId, credentialId) };
  }

  /** @returns null when this deployment has no issuer */
  tokensOf(credential: Pick<SealedCredential, 'id' | 'organizationId'>): IdentityTokens | null {
    const identity = this.identityOf(credential.organizationId, credential.id);
    if (identity === null) return null;
    const probeSubject = subjectOf(credential.organizationId, NO_CREDENTIAL);
    return {
      ...identity,
      probeSubject,
      sign: (audience, subject, target) => {
        const claims = {
          iss: identity.issuer,
          sub: subject === 'probe' ? probeSubject : identity.subject,
          aud: audience,
        };
        return this.sign(credential, claims, target);
      },
    };
  }

  /** The public keys, as clouds fetch them. Makes the first one. */
  async readPublicKeys(): Promise<readonly PublicIdentityKey[]> {
    return (await this.current()).published;
  }

  /** @throws DriverError `denied` when the credential no longer exists, or the key cannot be opened */
  private async sign(
    { id, organizationId }: Pick<SealedCredential, 'id' | 'organizationId'>,
    claims: { readonly iss: string; readonly sub: string; readonly aud: string },
    target: string,
  ): Promise<string> {
    const { signing } = await this.current();
    const key = this.opened(signing);
    const { kid } = signing;
    const jti = randomUUID();
    // before the token exists: none is unrecorded. What removes rules must go on when the trail takes no records
    const exists = await this.database.revocation(
      (tx) =>
        this.stores.signatures.record(tx, organizationId, id, {
          ...SYSTEM_ACTOR,
          eventType: 'IDENTITY_TOKEN_SIGNED',
          resourceType: 'CREDENTIAL',
          resourceId: id,
          resourceName: null,
          details: {
            jti,
            audience: claims.aud,
            subject: claims.sub,
            target: target.slice(0, MAX_TARGET_LENGTH),
            keyId: kid,
          },
        }),
      'statement',
    );
    if (!exists) throw new DriverError('denied', 'The credential was deleted');
    const now = Math.floor(Date.now() / 1000);
    const times = { iat: now, nbf: now - TOLERANCE_SECONDS, exp: now + TOKEN_SECONDS };
    return signedJwt({ ...claims, ...times, jti }, kid, key);
  }

  private current(): Promise<Keys> {
    this.keys =
      this.keys?.then(
        (keys) => (Date.now() - keys.readAt < REMEMBERED_MS ? keys : this.read()),
        // it failed for its own callers; the next one tries again
        () => this.read(),
      ) ?? this.read();
    return this.keys;
  }

  private async read(): Promise<Keys> {
    const readAt = Date.now();
    const rows = await this.withFirst(await this.stores.keys.listPublished(this.database.autocommit));
    const signing = rows.findLast(({ mayHaveSigned }) => mayHaveSigned);
    if (!signing) throw new Error('No identity key may sign yet');
    return { readAt, published: rows.map(({ publicKey }) => publicKey), signing };
  }

  /** For one signature: publishing goes on where the key cannot be opened. @throws DriverError `denied` when it cannot */
  private opened(key: SealedIdentityKey): KeyObject {
    try {
      return openIdentityKey(this.masterKeys, key);
    } catch (error) {
      if (!(error instanceof SealBrokenError)) throw error;
      throw new DriverError('denied', 'The key of the issuer cannot be decrypted');
    }
  }

  /** Several processes may make the first key at once: the database keeps one. */
  private async withFirst(rows: IdentityKeyRow[]): Promise<IdentityKeyRow[]> {
    if (rows.length > 0) return rows;
    await this.stores.keys.addFirst(this.database.autocommit, await newIdentityKey(this.masterKeys));
    return this.stores.keys.listPublished(this.database.autocommit);
  }
}

const subjectOf = (organizationId: string, credentialId: string): string =>
  `org:${organizationId}:credential:${credentialId}`;
