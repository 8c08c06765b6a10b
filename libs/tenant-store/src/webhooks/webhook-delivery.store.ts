import type { OrganizationId } from '#rules';
import {
  DATA_KEY,
  type DataKeyRow,
  type Tx,
  type WebhookEntity,
  first,
  newestDataKey,
  execute,
  rows,
  touches,
} from '#entities';
import { feedEnd } from '../audit/audit.store';

/** A webhook that has something to send. */
export interface ReadyWebhook {
  readonly id: string;
  readonly organizationId: OrganizationId;
  /** its last attempt failed */
  readonly isFailing: boolean;
}

/** A webhook that this worker alone sends to, until its lease ends. */
export interface LeasedWebhook extends Pick<
  WebhookEntity,
  'id' | 'name' | 'format' | 'eventTypes' | 'shownUrl'
> {
  readonly organizationId: OrganizationId;
  readonly sealedData: Readonly<Record<string, string>>;
  readonly dataKey: DataKeyRow;
  /** the secret before the last rotation still signs */
  readonly hasFormerSecret: boolean;
  readonly cursor: string;
  readonly lease: string;
}

/** A record to send. */
interface Delivery {
  readonly position: string;
  readonly recordId: string;
  readonly eventType: string;
}

export interface DueDelivery extends Delivery {
  readonly attempts: number;
  /** by hand: one attempt */
  readonly isRedelivery: boolean;
}

/** What an attempt became. */
export interface Attempt extends Delivery {
  readonly status: 'DELIVERED' | 'PENDING' | 'FAILED';
  /** null: there is no further attempt */
  readonly retryInMs: number | null;
  readonly responseCode: number | null;
  readonly error: string | null;
}

/** SQL: the delivery of the webhook `w` that later records wait for, as `webhook_deliveries_one_holds` has it. */
const HOLDS = `SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.status = 'PENDING' AND d.attempts < 3`;

/** SQL: no worker sends to the webhook `w`, and an attempt is due or a new record may be sent. Probes three indexes. */
export const IS_READY = `w.is_enabled AND w.leased_until <= now() AND (
    EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.due_at <= now())
    OR (w.cursor < ${feedEnd('w.organization_id')} AND NOT EXISTS (${HOLDS})))`;

const READY = {
  name: 'ready-webhooks',
  text: `SELECT w.id, w.organization_id AS "organizationId", w.failing_since IS NOT NULL AS "isFailing"
    FROM webhooks w WHERE ${IS_READY} ORDER BY w.leased_until LIMIT $1`,
};

/** The worker that holds the lease writes. It is lost when it runs out, and when the webhook is changed, disabled or deleted. */
const IS_LEASED = 'id = $1 AND leased_until = $2::timestamptz';

const SETTLE = {
  name: 'settle-webhook-attempt',
  text: `WITH leased AS (
      UPDATE webhooks SET cursor = greatest(cursor, $3::bigint), last_error = $9::text,
        failing_since = CASE WHEN $6 <> 'DELIVERED' THEN coalesce(failing_since, now()) END
      WHERE ${IS_LEASED} RETURNING id, organization_id, failing_since
    ), settled AS (
      INSERT INTO webhook_deliveries AS d
        (organization_id, webhook_id, position, record_id, event_type, status, attempts, due_at, response_code, error, sent_at)
      SELECT organization_id, id, $3::bigint, $4::uuid, $5::text, $6::text, 1, now() + make_interval(secs => $7::float8 / 1000),
        $8::int, $9::text, now() FROM leased
      ON CONFLICT (webhook_id, position) DO UPDATE SET status = excluded.status, attempts = d.attempts + 1,
        due_at = excluded.due_at, response_code = excluded.response_code, error = excluded.error, sent_at = now()
    )
    SELECT coalesce(failing_since <= now() - interval '5 days', false) AS "isGivenUp" FROM leased`,
};

/** What workers send to webhooks. Serves all organizations: each row names its own. */
export class WebhookDeliveryStore {
  /** Those that have waited longest first. */
  ready(tx: Tx, limit: number): Promise<ReadyWebhook[]> {
    return execute(tx, READY, [limit]);
  }

  /** Leases webhooks; no two workers get the same. */
  lease(tx: Tx, ids: readonly string[], seconds: number): Promise<LeasedWebhook[]> {
    return rows(
      tx,
      `WITH free AS (
         SELECT w.id, w.organization_id FROM webhooks w
         WHERE w.id = ANY ($1::uuid[]) AND w.is_enabled AND w.leased_until <= now() FOR NO KEY UPDATE SKIP LOCKED
       )
       UPDATE webhooks w SET leased_until = now() + make_interval(secs => $2)
       FROM free CROSS JOIN ${newestDataKey('free.organization_id')}
       WHERE w.id = free.id
       RETURNING w.id, w.organization_id AS "organizationId", w.format, w.event_types AS "eventTypes",
         w.name, w.shown_url AS "shownUrl", w.sealed_data AS "sealedData", w.cursor::text, w.leased_until::text AS lease,
         coalesce(w.former_secret_until > now(), false) AS "hasFormerSecret", ${DATA_KEY}`,
      [ids, seconds],
    );
  }

  async release(tx: Tx, { id, lease }: LeasedWebhook): Promise<void> {
    await tx.query(`UPDATE webhooks SET leased_until = now() WHERE ${IS_LEASED}`, [id, lease]);
  }

  /** The earliest in the chain. */
  due(tx: Tx, webhookId: string): Promise<DueDelivery | null> {
    return first(
      tx,
      `SELECT d.position::text, d.record_id AS "recordId", d.event_type AS "eventType", d.attempts,
         d.status = 'REDELIVERING' AS "isRedelivery" FROM webhook_deliveries d
       WHERE d.webhook_id = $1 AND d.due_at <= now() ORDER BY d.position LIMIT 1`,
      [webhookId],
    );
  }

  /** Whether new records wait for a delivery that has not failed often. */
  isHeld(tx: Tx, webhookId: string): Promise<boolean> {
    return touches(tx, `SELECT 1 FROM webhooks w WHERE w.id = $1 AND EXISTS (${HOLDS})`, [webhookId]);
  }

  /** Passes records that the webhook does not ask for. @returns false when the lease was lost */
  pass(tx: Tx, { id, lease }: LeasedWebhook, position: string): Promise<boolean> {
    return touches(tx, `UPDATE webhooks SET cursor = $3 WHERE ${IS_LEASED} RETURNING id`, [
      id,
      lease,
      position,
    ]);
  }

  /**
   * Writes the outcome of an attempt, and moves past its record.
   * @returns whether every attempt has failed for five days; null when the lease was lost: nothing was written
   */
  settle(
    tx: Tx,
    { id, lease }: LeasedWebhook,
    { position, recordId, eventType, status, retryInMs, responseCode, error }: Attempt,
  ): Promise<{ readonly isGivenUp: boolean } | null> {
    const given = [id, lease, position, recordId, eventType, status, retryInMs, responseCode, error];
    return first<{ isGivenUp: boolean }>(tx, SETTLE, given);
  }
}
