import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKey } from '#secrets';
import { readJsonObject, textIn, writeJsonObject } from './json-file';

const GENERATORS = {
  JWT_SECRET: () => randomBytes(32).toString('hex'),
  MASTER_KEYS: () => `1:${randomBytes(32).toString('base64')}`,
};

type SecretName = keyof typeof GENERATORS;
export type Secrets = Readonly<Record<SecretName, string>>;

/**
 * The secrets of this installation: from the environment, else from DATA_DIR/secrets.json, else new ones, which are
 * stored there.
 * @throws Error when the file is damaged, or when stored credentials would become unreadable
 */
export function loadSecrets(dataDir: string, environment: NodeJS.ProcessEnv): Secrets {
  const file = join(dataDir, 'secrets.json');
  const stored = readJsonObject(file);
  const generated: Record<string, string> = {};
  const valueOf = (name: SecretName): string => {
    const known = environment[name] || textIn(stored, name);
    if (known) return known;
    if (name === 'MASTER_KEYS') assertNoEncryptedDatabase(dataDir, file);
    return (generated[name] = GENERATORS[name]());
  };
  const secrets = {
    JWT_SECRET: valueOf('JWT_SECRET'),
    MASTER_KEYS: valueOf('MASTER_KEYS'),
  };
  if (Object.keys(generated).length > 0) writeJsonObject(file, { ...stored, ...generated });
  return secrets;
}

/**
 * The file of the key that signs the audit trail: generated once, and stored outside of the database.
 * @returns its path
 */
export function ensureSigningKey(dataDir: string): string {
  const path = join(dataDir, 'audit-signing-key.pem');
  if (!existsSync(path)) writeFileSync(path, newSigningKey(), { mode: 0o600, flag: 'wx' });
  return path;
}

function assertNoEncryptedDatabase(dataDir: string, file: string): void {
  const database = join(dataDir, 'postgres');
  if (!existsSync(database)) return;
  throw new Error(
    `${database} holds a database whose credentials are encrypted with keys that are not in ${file}.\n` +
      `Put that file back or set MASTER_KEYS; to begin anew, delete ${dataDir}.`,
  );
}
