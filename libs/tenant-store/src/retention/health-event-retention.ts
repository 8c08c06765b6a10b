import type { Tx } from '#entities';

/** An event's position in time order. Text keeps all digits of the time. */
export interface HealthEventPosition {
  readonly createdAt: string;
  readonly id: string;
}

const IS_VERIFICATION = `event_type IN ('VERIFY_OK', 'VERIFY_FAILED')`;

/**
 * Deletes the oldest health events past their retention, of every organization. The newest verification and the newest
 * reconciliation of each resource are kept regardless of age: they are its current state.
 * @param after the end of the previous batch; null: start at the oldest event
 * @param limit how many events are examined
 */
export async function deleteOldHealthEvents(
  tx: Tx,
  retentionDays: number,
  after: HealthEventPosition | null,
  limit: number,
): Promise<{ examined: number; deleted: number; last: HealthEventPosition | null }> {
  const [batch] = await tx.query<{ examined: number; deleted: number; last: HealthEventPosition | null }[]>(
    `WITH old AS (
       SELECT id, resource_id, ${IS_VERIFICATION} AS is_verification, created_at FROM resource_health_events
       WHERE (created_at, id) > ($1::timestamptz, $2::uuid) AND created_at < now() - make_interval(days => $3)
       ORDER BY created_at, id LIMIT $4
     ), deleted AS (
       DELETE FROM resource_health_events e USING old
       WHERE e.id = old.id AND EXISTS (
         SELECT FROM resource_health_events newer
         WHERE newer.resource_id = old.resource_id AND (newer.${IS_VERIFICATION}) = old.is_verification
           AND (newer.created_at, newer.id) > (old.created_at, old.id))
       RETURNING 1
     )
     SELECT (SELECT count(*)::int FROM old) AS examined, (SELECT count(*)::int FROM deleted) AS deleted,
       (SELECT jsonb_build_object('createdAt', created_at::text, 'id', id) FROM old
        ORDER BY old.created_at DESC, old.id DESC LIMIT 1) AS last`,
    [
      after?.createdAt ?? '-infinity',
      after?.id ?? '00000000-0000-0000-0000-000000000000',
      retentionDays,
      limit,
    ],
  );
  return batch!;
}
