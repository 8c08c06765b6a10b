import { ApiProperty, PartialType, PickType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, Matches } from 'class-validator';
import {
  AUDIT_EVENT_TYPES,
  type AuditEventType,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '#entities';
import {
  anyOf,
  AtMost,
  flag,
  line,
  MayBeAbsent,
  oneOf,
  Optional,
  Required,
  string,
  TIME,
  type Kind,
} from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';
import { PageQueryDto } from '../../http/page-query.dto';
import { WEBHOOK_LIST } from '#tenant-store';
import { HasOnlyVisibleCharacters } from '../../http/text-fields';

const MAX_URL = 2048;
const URL = string(AtMost(MAX_URL), HasOnlyVisibleCharacters());

const MAX_AUTHORIZATION = 2000;
const AUTHORIZATION = string(
  AtMost(MAX_AUTHORIZATION),
  Matches(/^[!-~](?:[ -~]*[!-~])?$/, {
    message: 'must be the value of an HTTP header: visible ASCII characters',
  }),
);

const EVENT_TYPES: Kind = {
  checks: [
    IsArray({ message: 'must be an array of event types' }),
    ArrayMaxSize(AUDIT_EVENT_TYPES.length, {
      message: `must hold at most ${AUDIT_EVENT_TYPES.length} event types`,
    }),
    IsIn(AUDIT_EVENT_TYPES, { each: true, message: 'must hold only event types of the audit trail' }),
  ],
  doc: { enum: AUDIT_EVENT_TYPES, enumName: 'AuditEventType', isArray: true },
};

export class WebhookQueryDto extends listQueryOf(WEBHOOK_LIST) {}

export class DeliveryQueryDto extends PageQueryDto {
  @Optional(anyOf(DELIVERY_STATUSES, 'DeliveryStatus'))
  status?: DeliveryStatus[];
}

export class CreateWebhookDto {
  @Optional(line(100), {
    nullable: true,
    example: 'Alerts of operations',
    description: 'what it is called in lists, records and notices; null: by its URL',
  })
  name?: string | null;

  @Required(URL, {
    example: 'https://hooks.example.com/drawbridge',
    maxLength: MAX_URL,
    description:
      'http or https, without user and fragment; for slack and teams what they show for an incoming webhook or a workflow. ' +
      'A private address is refused unless the operator allows it (TENANT_URL_NETWORKS)',
  })
  url!: string;

  @Optional(AUTHORIZATION, {
    nullable: true,
    example: 'Bearer f3b1…',
    maxLength: MAX_AUTHORIZATION,
    description:
      'sent as the Authorization header, for receivers that demand one; stored sealed, never returned. null: none. Another ' +
      'host in url takes it anew',
  })
  authorization?: string | null;

  @MayBeAbsent(oneOf(WEBHOOK_FORMATS, 'WebhookFormat'), {
    default: 'standard',
    description:
      'standard: the audit record, signed as Standard Webhooks; slack, teams: one readable message',
  })
  format?: WebhookFormat;

  @MayBeAbsent(EVENT_TYPES, {
    example: ['SESSION_STARTED', 'RULE_REVOCATION_OVERDUE'],
    description: 'only these; left out or empty: all',
  })
  eventTypes?: AuditEventType[];
}

export class UpdateWebhookDto extends PartialType(
  PickType(CreateWebhookDto, ['name', 'url', 'authorization', 'eventTypes']),
  {
    skipNullProperties: false,
  },
) {
  @MayBeAbsent(flag(), {
    description:
      'false: gives up what is to be sent again. true: sends what happens from now on, not what happened meanwhile',
  })
  isEnabled?: boolean;
}

export class WebhookDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'Alerts of operations' }) name!: string | null;
  @ApiProperty({
    example: 'https://hooks.example.com/drawbridge',
    description: 'without its query; for slack and teams without its path: that may be a secret',
  })
  url!: string;
  @ApiProperty({ description: 'whether an Authorization header is sent' }) hasAuthorization!: boolean;
  @ApiProperty({ enum: WEBHOOK_FORMATS, enumName: 'WebhookFormat' }) format!: WebhookFormat;
  @ApiProperty({
    enum: AUDIT_EVENT_TYPES,
    enumName: 'AuditEventType',
    isArray: true,
    description: 'empty: all',
  })
  eventTypes!: AuditEventType[];
  @ApiProperty({
    description: 'false: by an administrator, or because it failed for five days or answered 410',
  })
  isEnabled!: boolean;
  @ApiProperty({ ...TIME_OR_NULL, description: 'the first failure since the last success' })
  failingSince!: Date | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'it answered 500', description: 'of the last attempt' })
  lastError!: string | null;
  @ApiProperty({ format: 'email' }) createdByEmail!: string;
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}

export class CreatedWebhookDto extends WebhookDto {
  @ApiProperty({
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw…',
    description: 'verifies what is sent; returned only once',
  })
  secret!: string;
}

export class WebhookDeliveryDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid', description: 'of the audit record; sent as webhook-id' }) recordId!: string;
  @ApiProperty({ enum: AUDIT_EVENT_TYPES, enumName: 'AuditEventType' }) eventType!: AuditEventType;
  @ApiProperty({
    enum: DELIVERY_STATUSES,
    enumName: 'WebhookDeliveryStatus',
    description: 'PENDING: tried again at dueAt; REDELIVERING: by hand; FAILED: given up',
  })
  status!: DeliveryStatus;
  @ApiProperty({ type: 'integer', example: 1 }) attempts!: number;
  @ApiProperty({ ...TIME_OR_NULL, description: 'of the next attempt' }) dueAt!: Date | null;
  @ApiProperty({ type: 'integer', nullable: true, example: 200, description: 'null: there was no answer' })
  responseCode!: number | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: null, description: 'why the last attempt failed' })
  error!: string | null;
  @ApiProperty({ ...TIME, description: 'of the last attempt' }) sentAt!: Date;
  @ApiProperty({ ...TIME, description: 'of the first attempt' }) createdAt!: Date;
}
