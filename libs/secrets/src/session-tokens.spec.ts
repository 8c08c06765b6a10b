import { randomBytes, randomUUID } from 'node:crypto';
import { MasterKeys } from './master-keys';
import { newDataKey, unwrapDataKey, type DataKey } from './data-keys';
import { sessionToken, sessionTokenHash } from './session-tokens';

const id = randomUUID();

function dataKey(): DataKey {
  const masterKeys = MasterKeys.parse(`1:${randomBytes(32).toString('base64')}`);
  const organizationId = randomUUID();
  return unwrapDataKey(masterKeys, { organizationId, ...newDataKey(masterKeys, organizationId) });
}

describe('A session token', () => {
  it('is the same for the same key and session, and another for any other', () => {
    const key = dataKey();
    const token = sessionToken(key, id);
    expect(token).toMatch(/^dbs_[\w-]{43}$/);
    expect(sessionToken(key, id)).toBe(token);
    expect(sessionToken(key, randomUUID())).not.toBe(token);
    expect(sessionToken(dataKey(), id)).not.toBe(token);
  });

  it('has a hash, which other texts have not', () => {
    const token = sessionToken(dataKey(), id);
    expect(sessionTokenHash(token)).toMatch(/^[\da-f]{64}$/);
    for (const text of ['', 'dbs_', token.slice(1), `${token}x`, token.replace('dbs_', 'dbk_'), `${token}\n`])
      expect(sessionTokenHash(text)).toBeNull();
  });
});
