import type { Command } from 'commander';
import { signCheckpoints } from '../audit/checkpoint-signing';
import { readSigner } from '../audit/signing-key-file';
import { signingKeyFile, stores, withDatabase } from './deployment';
import { note, print, run, verb } from './program';

/** Signs the end of every chain of audit records now. */
export function addAuditSign(audit: Command): void {
  verb(
    audit,
    'sign',
    'sign the end of every chain of audit records now, as the worker does every hour',
    [''],
    'The key is in the file of AUDIT_SIGNING_KEY_FILE; with the database of npm start, in DATA_DIR.',
  ).action(run(sign));
}

async function sign(): Promise<void> {
  const key = signingKeyFile();
  if (key === null) throw new Error('There is no key: set AUDIT_SIGNING_KEY_FILE to the file that holds it.');
  const signer = readSigner(key);
  const count = await withDatabase((database) =>
    signCheckpoints(database, stores.auditCheckpoints, signer, (checkpoint) =>
      print(JSON.stringify(checkpoint)),
    ),
  );
  note(`${count} checkpoints signed with the key ${signer.keyId}.`);
}
