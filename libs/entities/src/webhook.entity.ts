import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { AuditEventType } from './audit-record.entity';
import { Count, CreatedAt, Flag, Id, Json, Moment, SameOrganization, Text, UpdatedAt, Uuid } from './columns';

/** `standard`: the record itself, signed; the others: one readable message for a chat. */
export const WEBHOOK_FORMATS = ['standard', 'slack', 'teams'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** `REDELIVERING`: sent once more by hand. */
export const DELIVERY_STATUSES = ['PENDING', 'REDELIVERING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Where an organization's audit records are sent to. */
@Entity('webhooks')
@Unique('webhooks_organization_id_id_key', ['organizationId', 'id'])
@Check('webhooks_format_check', `format IN ('standard', 'slack', 'teams')`)
export class WebhookEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Text({ nullable: true }) name!: string | null;
  @Text() format!: WebhookFormat;
  /** the URL without what may be a secret in it */
  @Text() shownUrl!: string;
  /** the URL, the signing secret and the one before it, and the Authorization header */
  @Json() sealedData!: Record<string, string>;
  @Moment({ nullable: true }) formerSecretUntil!: Date | null;
  /** empty: all */
  @Text({ array: true }) eventTypes!: AuditEventType[];
  @Flag({ default: true }) isEnabled!: boolean;
  /** position in the organization's chain: the records up to it are sent, or wait as deliveries for another attempt */
  @Column({ type: 'bigint' }) cursor!: string;
  /** until then a worker sends to it; its value is the proof of the lease */
  @Moment({ default: () => 'now()' }) leasedUntil!: Date;
  /** the first failure since the last success */
  @Moment({ nullable: true }) failingSince!: Date | null;
  @Text({ nullable: true }) lastError!: string | null;
  @Text() createdByEmail!: string;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

/** A record that was sent to a webhook, or is to be sent to it again. */
@Entity('webhook_deliveries')
@Unique('webhook_deliveries_webhook_id_position_key', ['webhookId', 'position'])
@Index('webhook_deliveries_list_idx', ['webhookId', 'createdAt', 'position'])
@Index('webhook_deliveries_created_at_idx', ['createdAt'])
@Index('webhook_deliveries_due_idx', ['webhookId', 'dueAt'], { where: 'due_at IS NOT NULL' })
@Index('webhook_deliveries_one_holds', ['webhookId'], {
  unique: true,
  where: `status = 'PENDING' AND attempts < 3`,
})
@Check(
  'webhook_deliveries_status_check',
  `status IN ('PENDING', 'REDELIVERING', 'DELIVERED', 'FAILED') AND (due_at IS NOT NULL) = (status IN ('PENDING', 'REDELIVERING'))`,
)
@SameOrganization(() => WebhookEntity, 'webhookId', 'webhook_deliveries_webhook_fkey', 'CASCADE')
export class WebhookDeliveryEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() webhookId!: string;
  /** of the record in the organization's chain */
  @Column({ type: 'bigint' }) position!: string;
  @Uuid() recordId!: string;
  @Text() eventType!: AuditEventType;
  @Text() status!: DeliveryStatus;
  @Count() attempts!: number;
  /** null: no attempt follows */
  @Moment({ nullable: true }) dueAt!: Date | null;
  /** of the last attempt; null: there was no answer */
  @Count({ nullable: true }) responseCode!: number | null;
  @Text({ nullable: true }) error!: string | null;
  @Moment() sentAt!: Date;
  @CreatedAt() createdAt!: Date;
}
