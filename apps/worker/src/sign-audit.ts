import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { SettingsError } from '#config';
import { signCheckpoints } from './audit/checkpoint-signing';
import { readSigner } from './audit/signing-key-file';
import { embeddedSigningKey } from './embedded-database-url';
import { OperatorError, withDatabase } from './operator-command';

const HELP = `Signs the end of every chain of audit records now, as the worker does every hour.

  npm run sign-audit

The key is in the file of AUDIT_SIGNING_KEY_FILE, else in the one that npm start keeps in DATA_DIR (.data).
The database is DATABASE_URL's, else the one that npm start keeps in DATA_DIR and is running.
`;

async function main(): Promise<void> {
  if (parseArgs({ options: { help: { type: 'boolean', short: 'h', default: false } } }).values.help) {
    process.stdout.write(HELP);
    return;
  }
  const key = process.env['AUDIT_SIGNING_KEY_FILE'] || embeddedSigningKey(process.env);
  if (!key) throw new OperatorError('There is no key: set AUDIT_SIGNING_KEY_FILE to the file that holds it.');
  const signer = readSigner(key);
  await withDatabase({ applicationName: 'drawbridge-sign', poolSize: 1 }, async (database) => {
    const count = await signCheckpoints(database, signer, print);
    process.stderr.write(`${count} checkpoints signed with the key ${signer.keyId}.\n`);
  });
}

const print = (checkpoint: object): void => void process.stdout.write(`${JSON.stringify(checkpoint)}\n`);

main().catch((error: unknown) => {
  const isKnown = error instanceof OperatorError || error instanceof SettingsError;
  process.stderr.write(`${isKnown ? error.message : String(error)}\n`);
  process.exitCode = isKnown ? 2 : 1;
});
