import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKey } from '#secrets';
import { readJsonObject, textIn, writeJsonObject } from './json-file';

const MAKERS = {
  JWT_SECRET: () => randomBytes(32).toString('hex'),
  MASTER_KEYS: () => `1:${randomBytes(32).toString('base64')}`,
  DEPLOYMENT_ID: () => `demo-${randomBytes(3).toString('hex')}`,
};

type SecretName = keyof typeof MAKERS;
export type Secrets = Readonly<Record<SecretName, string>>;

/**
 * The secrets of this installation: what the environment gives, else what DATA_DIR/secrets.json keeps, else new ones,
 * which are kept there.
 * @throws Error when the file is damaged, or when stored credentials would become unreadable
 */
export function loadSecrets(dataDir: string, environment: NodeJS.ProcessEnv): Secrets {
  const file = join(dataDir, 'secrets.json');
  const kept = readJsonObject(file);
  const made: Record<string, string> = {};
  const valueOf = (name: SecretName): string => {
    const known = environment[name] || textIn(kept, name);
    if (known) return known;
    if (name === 'MASTER_KEYS') refuseToOrphanCredentials(dataDir, file);
    return (made[name] = MAKERS[name]());
  };
  const secrets = {
    JWT_SECRET: valueOf('JWT_SECRET'),
    MASTER_KEYS: valueOf('MASTER_KEYS'),
    DEPLOYMENT_ID: valueOf('DEPLOYMENT_ID'),
  };
  if (Object.keys(made).length > 0) writeJsonObject(file, { ...kept, ...made });
  return secrets;
}

/**
 * The file of the key that signs the audit trail: made once, and kept beside the database instead of in it.
 * @returns its path
 */
export function ensureSigningKey(dataDir: string): string {
  const path = join(dataDir, 'audit-signing-key.pem');
  if (!existsSync(path)) writeFileSync(path, newSigningKey(), { mode: 0o600, flag: 'wx' });
  return path;
}

function refuseToOrphanCredentials(dataDir: string, file: string): void {
  const database = join(dataDir, 'postgres');
  if (!existsSync(database)) return;
  throw new Error(
    `${database} holds a database whose credentials are encrypted with keys that are not in ${file}.\n` +
      `Put that file back or set MASTER_KEYS; to begin anew, delete ${dataDir}.`,
  );
}
