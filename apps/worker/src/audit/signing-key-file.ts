import { readFileSync } from 'node:fs';
import { SettingsError } from '#config';
import { CheckpointSigner } from '#secrets';

/**
 * Reads the key that signs audit checkpoints.
 * @param path of AUDIT_SIGNING_KEY_FILE
 * @throws SettingsError when the file cannot be read or holds no Ed25519 private key
 */
export function readSigner(path: string): CheckpointSigner {
  const signer = CheckpointSigner.read(textOf(path));
  if (signer) return signer;
  throw new SettingsError([
    'AUDIT_SIGNING_KEY_FILE must be a readable file with an Ed25519 private key in PEM: openssl genpkey -algorithm ed25519 -out audit-signing-key.pem',
  ]);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
