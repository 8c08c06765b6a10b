import type { Transactions } from '#entities';
import type { AuditCheckpointStore } from '#tenant-store';
import type { CheckpointSigner, SignedCheckpoint } from '#secrets';
import { RepeatedTask, type TaskParts } from '../repeated-task';
import { runInBatches } from '../batched-task';

const INTERVAL_MS = 60 * 60 * 1000;
const BATCH_SIZE = 500;

/**
 * Signs the end of every chain that has grown since its last checkpoint.
 * @param report called with each new checkpoint
 * @returns how many were signed
 */
export async function signCheckpoints(
  database: Transactions,
  store: AuditCheckpointStore,
  signer: CheckpointSigner,
  report: (checkpoint: SignedCheckpoint) => void,
  stopping?: AbortSignal,
): Promise<number> {
  let signed = 0;
  for (let after: string | null = null; ;) {
    const ends = await store.listUnsigned(database.autocommit, after, BATCH_SIZE);
    const checkpoints = ends.map((end) => signer.sign(end));
    await store.append(database.autocommit, checkpoints);
    for (const checkpoint of checkpoints) report(checkpoint);
    signed += ends.length;
    after = ends.at(-1)?.organizationId ?? null;
    if (ends.length < BATCH_SIZE || stopping?.aborted) return signed;
  }
}

/** Signs at start-up and every hour, and deletes superseded checkpoints. */
export function checkpointSigning(
  { database, stores: { auditCheckpoints: store }, log }: TaskParts,
  signer: CheckpointSigner,
): RepeatedTask {
  // a log stored elsewhere proves that checkpoints were deleted from the database
  const report = (checkpoint: object): void => log.info({ checkpoint }, 'Audit checkpoint');
  return new RepeatedTask(
    'sign audit checkpoints',
    INTERVAL_MS,
    async (stopping) => {
      await signCheckpoints(database, store, signer, report, stopping);
      return runInBatches((limit) => store.deleteSuperseded(database.autocommit, limit), stopping);
    },
    log,
  );
}
