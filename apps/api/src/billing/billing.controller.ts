import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PageQueryDto } from '../http/page-query.dto';
import { toPlan, toSubscription } from './billing.mapper';
import { BillingService } from './billing.service';
import {
  PaymentDto,
  PlanDto,
  SubscribeAnswerDto,
  SubscribeDto,
  SubscriptionAnswerDto,
} from './dto/billing.dto';
import { Plans } from '../plans/plans';

@ApiTags('Billing')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('billing')
export class BillingController {
  constructor(
    private readonly billing: BillingService,
    private readonly catalogue: Plans,
  ) {}

  @Get('plans')
  @Operation(
    'List the plans with their prices and limits, by name',
    { 200: [PlanDto] },
    'A deployment that does not bill has one plan, without a price.',
  )
  plans(@Query() query: PageQueryDto): ListPage<PlanDto> {
    const { offered } = this.catalogue;
    const first = query.page * query.size;
    const rows = offered.slice(first, first + query.size);
    return new ListPage(query, { rows, total: offered.length }).map(toPlan);
  }

  @Get('subscription')
  @Operation('Get the subscription, including an unpaid or ended one', {
    200: SubscriptionAnswerDto,
    errors: [404],
  })
  async subscription(@CurrentPrincipal() principal: Principal): Promise<SubscriptionAnswerDto> {
    const { row, plan } = await this.billing.subscription(principal);
    return { subscription: toSubscription(row, plan) };
  }

  @Post('subscribe')
  @Operation(
    'Subscribe to a plan: open a checkout',
    { 200: SubscribeAnswerDto, errors: [404, 422] },
    'Send the user to redirectUrl. A repeated request before the payment replaces the checkout page.',
  )
  async subscribe(
    @CurrentActor() actor: Actor,
    @Body() { planId }: SubscribeDto,
  ): Promise<SubscribeAnswerDto> {
    this.catalogue.requireBilling();
    const { row, plan, redirectUrl } = await this.billing.subscribe(actor, planId);
    return { redirectUrl, subscription: toSubscription(row, plan), success: true };
  }

  @Post('cancel')
  @Operation('Cancel the subscription at the end of the paid period; an unpaid one ends immediately', {
    200: SubscriptionAnswerDto,
    errors: [404],
  })
  async cancel(@CurrentActor() actor: Actor): Promise<SubscriptionAnswerDto> {
    this.catalogue.requireBilling();
    const { row, plan } = await this.billing.cancel(actor);
    return { subscription: toSubscription(row, plan) };
  }

  @Get('payments')
  @Operation('List payments, including declined ones, newest first', { 200: [PaymentDto] })
  async payments(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
  ): Promise<ListPage<PaymentDto>> {
    return new ListPage(query, await this.billing.payments(principal, query));
  }
}
