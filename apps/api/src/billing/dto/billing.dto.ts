import { ApiProperty } from '@nestjs/swagger';
import { PLAN_INTERVALS, SUBSCRIPTION_STATUSES, TIERS } from '#rules';
import { id, Required, TIME } from '../../http/fields';
import { TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';

const LIMIT = { type: 'integer', nullable: true, description: 'null: no limit' } as const;
const NO_PRICE = 'null where the deployment does not bill';
const CURRENCY = { example: 'EUR', description: 'ISO 4217' } as const;

export class SubscribeDto {
  @Required(id(), { description: 'of the plan, see GET /billing/plans' })
  planId!: string;
}

export class PlanLimitsDto {
  @ApiProperty({ type: 'integer', example: 24 }) maxSessionDurationHours!: number;
  @ApiProperty({ ...LIMIT, example: 5 }) maxResources!: number | null;
  @ApiProperty({ ...LIMIT, example: 5 }) maxUsers!: number | null;
}

export class PlanDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'PAID' }) name!: string;
  @ApiProperty({ example: 'Paid' }) displayName!: string;
  @ApiProperty({ enum: TIERS, enumName: 'Tier' }) tier!: string;
  @ApiProperty({ type: 'integer', nullable: true, example: 4900, description: NO_PRICE })
  priceCents!: number | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'EUR', description: `ISO 4217; ${NO_PRICE}` })
  currency!: string | null;
  @ApiProperty({ enum: PLAN_INTERVALS, enumName: 'PlanInterval', nullable: true, description: NO_PRICE })
  interval!: string | null;
  @ApiProperty() limits!: PlanLimitsDto;
}

export class SubscriptionDto {
  @ApiProperty({ example: 'PAID', description: "the plan's name" }) planName!: string;
  @ApiProperty({ example: 'Paid' }) planDisplayName!: string;
  @ApiProperty({ enum: TIERS, enumName: 'Tier' }) tier!: string;
  @ApiProperty({ type: 'integer', example: 4900 }) priceCents!: number;
  @ApiProperty(CURRENCY) currency!: string;
  @ApiProperty({
    enum: SUBSCRIPTION_STATUSES,
    enumName: 'SubscriptionStatus',
    description:
      'PENDING until the first payment; PAST_DUE until gracePeriodEnd, CANCELLED until currentPeriodEnd, then EXPIRED',
  })
  status!: string;
  @ApiProperty({ ...TIME_OR_NULL, description: 'null until the first payment' })
  currentPeriodStart!: Date | null;
  @ApiProperty({ ...TIME_OR_NULL, description: 'null until the first payment' })
  currentPeriodEnd!: Date | null;
  @ApiProperty({
    ...TIME_OR_NULL,
    description: 'the plan stays active until then although the renewal is unpaid',
  })
  gracePeriodEnd!: Date | null;
  @ApiProperty({ description: 'true: no renewal, the plan ends with the period' })
  cancelAtPeriodEnd!: boolean;
}

export class SubscriptionAnswerDto {
  @ApiProperty() subscription!: SubscriptionDto;
}

export class SubscribeAnswerDto extends SubscriptionAnswerDto {
  @ApiProperty({ format: 'uri', description: 'the payment page: send the user there' }) redirectUrl!: string;
  @ApiProperty({ example: true }) success!: boolean;
}

export class PaymentDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ type: 'integer', example: 4900 }) amountCents!: number;
  @ApiProperty(CURRENCY) currency!: string;
  @ApiProperty({ enum: ['SUCCEEDED', 'FAILED'], enumName: 'PaymentStatus' }) status!: string;
  @ApiProperty({ ...TEXT_OR_NULL, description: "the payment service's id of the invoice" })
  reference!: string | null;
  @ApiProperty(TIME) createdAt!: Date;
}

export class ReceivedDto {
  @ApiProperty({ example: true }) received!: boolean;
}
