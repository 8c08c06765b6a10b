import { randomBytes } from 'node:crypto';
import { createLocalJWKSet, jwtVerify, type JWTVerifyResult } from 'jose';
import { Identities, IdentityKeyRotation, IdentityStores } from '#credentials';
import type { Tx } from '#entities';
import type { OrganizationId } from '#rules';
import { MasterKeys, newIdentityKey, openIdentityKey, resealIdentityKey, SealBrokenError } from '#secrets';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

const ISSUER = 'https://drawbridge.example.com/oidc';
const AUDIENCE = 'sts.amazonaws.com';
const ROLE = 'arn:aws:iam::123456789012:role/federated';
const masterKey = (version: number): string => `${version}:${randomBytes(32).toString('base64')}`;

interface Key {
  readonly kid: string;
  readonly signsFrom: Date;
  readonly now: Date;
}

describe('Identity keys', () => {
  const [firstMasterKey, secondMasterKey] = [masterKey(1), masterKey(2)];
  const masterKeys = MasterKeys.parse(firstMasterKey);
  const stores = new IdentityStores();
  const { keys: store } = stores;
  const database = ownDatabase(8);
  let credential: { id: string; organizationId: OrganizationId };

  beforeEach(async () => {
    await database.autocommit.query('DELETE FROM identity_keys');
    credential = await newCredential();
  });

  async function newCredential(): Promise<typeof credential> {
    const { credentialId: id, organizationId } = await new LedgerRows(database).organization();
    return { id, organizationId };
  }

  /** As a process that has just started. */
  const identities = (): Identities => new Identities(database, masterKeys, stores, ISSUER);
  const rotation = (): IdentityKeyRotation => new IdentityKeyRotation(database, masterKeys, store);
  const sign = (process = identities()): Promise<string> =>
    process.tokensOf(credential)!.sign(AUDIENCE, 'credential', ROLE);
  const verified = async (token: string): Promise<JWTVerifyResult> =>
    jwtVerify(token, createLocalJWKSet({ keys: [...(await identities().readPublicKeys())] }), {
      issuer: `${ISSUER}/${credential.organizationId}`,
      audience: AUDIENCE,
      algorithms: ['RS256'],
    });
  const signingKid = async (): Promise<string> => (await verified(await sign())).protectedHeader.kid!;
  const publishedKids = async (): Promise<string[]> =>
    (await identities().readPublicKeys()).map(({ kid }) => kid);

  const keys = (): Promise<Key[]> =>
    database.autocommit.query(
      'SELECT kid, signs_from AS "signsFrom", now() AS now FROM identity_keys ORDER BY generation',
    );
  const pass = async (hours: number): Promise<void> => {
    await database.autocommit.query(
      'UPDATE identity_keys SET signs_from = signs_from - make_interval(hours => $1)',
      [hours],
    );
  };
  /** Asks through the transaction that holds the lock: the server ends one that is idle for seconds. */
  const blocked = (tx: Tx, count: number): Promise<unknown> =>
    until(`${count} wait for a lock`, async () => {
      const waiting = `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`;
      await tx.query('SELECT pg_stat_clear_snapshot()');
      return (await tx.query<unknown[]>(waiting)).length === count;
    });
  const signatures = (): Promise<{ details: Record<string, string>; actorType: string }[]> =>
    database.autocommit.query(
      `SELECT details, actor_type AS "actorType" FROM audit_records
       WHERE event_type = 'IDENTITY_TOKEN_SIGNED' AND resource_id = $1`,
      [credential.id],
    );

  it('the first one is made when it is needed, signs at once, and is one for all processes', async () => {
    const tokens = await Promise.all(Array.from({ length: 6 }, () => sign()));
    const [only, ...others] = await keys();
    expect(others).toEqual([]);
    for (const token of tokens) expect((await verified(token)).protectedHeader.kid).toBe(only!.kid);
  });

  it('of many rotations at once one adds a key, and no key signs before it was published for a day', async () => {
    const waiting = await database.transaction(async (tx) => {
      // lets them read, and write only once all have read
      await tx.query('LOCK TABLE identity_keys IN EXCLUSIVE MODE');
      const rotations = Array.from({ length: 5 }, () => rotation().rotate());
      await blocked(tx, 5);
      await store.addFirst(tx, await newIdentityKey(masterKeys));
      return { rotations };
    });
    await Promise.all(waiting.rotations);
    const [first, ...later] = await keys();
    expect(first!.signsFrom <= first!.now).toBe(true);
    expect(later).toHaveLength(1);
    for (const { signsFrom, now } of later) expect(hoursBetween(now, signsFrom)).toBeGreaterThan(24);

    await pass(26);
    const rotated = await Promise.all(Array.from({ length: 5 }, () => rotation().rotate()));
    expect(rotated.filter((done) => done !== null)).toHaveLength(1);
  });

  it('a rotation that does not see the first key of another one adds none', async () => {
    const [first, second] = await Promise.all([newIdentityKey(masterKeys), newIdentityKey(masterKeys)]);
    const waiting = await database.transaction(async (tx) => {
      await store.add(tx, first, 60);
      const added = database.transaction((other) => store.add(other, second, 60));
      await blocked(tx, 1);
      return { added };
    });
    expect(await waiting.added).toBeNull();
    expect(await publishedKids()).toEqual([first.kid]);
  });

  it('a new one is published for a day before it signs, and the one before for a day after', async () => {
    const before = await signingKid();
    const rotated = await rotation().rotate();
    expect(await publishedKids()).toEqual([before, rotated!.kid]);
    expect(await signingKid()).toBe(before);
    expect(await rotation().rotate()).toBeNull();

    await pass(24);
    expect(await signingKid()).toBe(before);
    const signedBefore = await sign();
    await pass(2);
    expect(await signingKid()).toBe(rotated!.kid);
    expect((await verified(signedBefore)).protectedHeader.kid).toBe(before);

    await pass(22);
    expect(await publishedKids()).toEqual([before, rotated!.kid]);
    await pass(3);
    expect(await publishedKids()).toEqual([rotated!.kid]);
    await expect(verified(signedBefore)).rejects.toThrow('no applicable key');
    expect(await rotation().rotate()).toMatchObject({ deleted: 1 });
  });

  it('are stored sealed: for one master key and one key id', async () => {
    const opened = async (keysOf = masterKeys, change = {}): Promise<string> => {
      const [row] = await store.listPublished(database.autocommit);
      return openIdentityKey(keysOf, { ...row!, ...change }).export({ format: 'jwk' }).d!;
    };
    const kid = await signingKid();
    const secret = await opened();
    const [row] = await database.autocommit.query<{ text: string }[]>(
      'SELECT k::text AS text FROM identity_keys k',
    );
    const plain = Buffer.from(secret, 'base64url');
    for (const form of ['base64url', 'base64', 'hex'] as const)
      expect(row!.text).not.toContain(plain.toString(form).slice(0, 40));
    expect(row!.text).not.toContain('PRIVATE');

    await expect(opened(MasterKeys.parse(masterKey(1)))).rejects.toThrow(SealBrokenError);
    await expect(opened(masterKeys, { kid: 'another' })).rejects.toThrow(SealBrokenError);
    const both = MasterKeys.parse(`${firstMasterKey},${secondMasterKey}`);
    const [outdated] = await store.lockOutdated(database.autocommit, 2);
    await store.reseal(database.autocommit, resealIdentityKey(both, outdated!));
    expect(await opened(MasterKeys.parse(secondMasterKey))).toBe(secret);
    await expect(opened()).rejects.toThrow(SealBrokenError);
    expect(await keys()).toMatchObject([{ kid }]);
  });

  it('are published where they cannot be opened, and sign nothing there', async () => {
    const kid = await signingKid();
    const before = (await signatures()).length;
    const process = new Identities(database, MasterKeys.parse(secondMasterKey), stores, ISSUER);
    expect(await process.readPublicKeys()).toMatchObject([{ kid }]);
    await expect(sign(process)).rejects.toMatchObject({ kind: 'denied' });
    expect(await signatures()).toHaveLength(before);
  });

  it('sign with a record of each signature, which names the token', async () => {
    const { payload, protectedHeader } = await verified(await sign());
    const subject = `org:${credential.organizationId}:credential:${credential.id}`;
    const details = {
      jti: payload.jti,
      audience: AUDIENCE,
      subject,
      target: ROLE,
      keyId: protectedHeader.kid,
    };
    expect(await signatures()).toEqual([{ actorType: 'SYSTEM', details }]);
  });

  it('sign the probe of a trust with a subject that a pattern for every credential matches', async () => {
    const tokens = identities().tokensOf(credential)!;
    const { subject, probeSubject } = tokens;
    const { payload } = await verified(await tokens.sign(AUDIENCE, 'probe', ROLE));
    expect(payload.sub).toBe(probeSubject);
    expect((await signatures()).map((record) => record.details['subject'])).toEqual([probeSubject]);
    // what `StringLike` with `credential:*` accepts
    const everyCredential = new RegExp(`^org:${credential.organizationId}:credential:[0-9a-f-]{36}$`);
    expect([subject, probeSubject]).toEqual(
      [0, 1].map(() => expect.stringMatching(everyCredential) as unknown),
    );
    expect(probeSubject).not.toBe(subject);
  });

  it('record a target of any length up to a limit', async () => {
    await identities().tokensOf(credential)!.sign(AUDIENCE, 'credential', 'x'.repeat(10_000));
    expect((await signatures()).map((record) => record.details['target'])).toEqual(['x'.repeat(500)]);
  });

  it('sign nothing about a credential that is gone, or that another organization has', async () => {
    const other = await newCredential();
    const process = identities();
    const stolen = process.tokensOf({ id: credential.id, organizationId: other.organizationId })!;
    await expect(stolen.sign(AUDIENCE, 'credential', ROLE)).rejects.toThrow('was deleted');
    const tokens = process.tokensOf(credential)!;
    await database.autocommit.query('DELETE FROM credentials WHERE id = $1', [credential.id]);
    await expect(tokens.sign(AUDIENCE, 'credential', ROLE)).rejects.toMatchObject({ kind: 'denied' });
    expect(await signatures()).toEqual([]);
  });

  it('sign for a deleted credential until its last rule is removed, and for a suspended organization', async () => {
    await database.autocommit.query('UPDATE credentials SET deleted_at = now() WHERE id = $1', [
      credential.id,
    ]);
    await database.autocommit.query('UPDATE organizations SET suspended_at = now() WHERE id = $1', [
      credential.organizationId,
    ]);
    await sign();
    expect(await signatures()).toHaveLength(1);
  });

  it('sign while the audit trail takes no records: the record is kept beside it', async () => {
    const { autocommit: tx } = database;
    await tx.query(`CREATE FUNCTION refuse_record() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the audit trail is full'; END $$`);
    await tx.query(
      'CREATE TRIGGER refused BEFORE INSERT ON audit_records FOR EACH ROW EXECUTE FUNCTION refuse_record()',
    );
    const { payload } = await verified(await sign());
    await tx.query('DROP TRIGGER refused ON audit_records');
    const kept = await database.autocommit.query<unknown[]>(
      `SELECT entry->'details'->>'jti' AS jti FROM unwritten_audit_records WHERE organization_id = $1`,
      [credential.organizationId],
    );
    expect(kept).toEqual([{ jti: payload.jti }]);
  });
});

const hoursBetween = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / 3_600_000;
