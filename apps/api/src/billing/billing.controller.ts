import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Answers } from '../docs/answers';
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
import { Plans } from './plans';

@ApiTags('Billing')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('billing')
export class BillingController {
  constructor(
    private readonly billing: BillingService,
    private readonly offered: Plans,
  ) {}

  @Get('plans')
  @ApiOperation({ summary: 'List the plans with their prices and limits, by name' })
  @Answers({ 200: [PlanDto], errors: [400, 401, 403] })
  plans(@Query() query: PageQueryDto): ListPage<PlanDto> {
    const { all } = this.offered;
    const first = query.page * query.size;
    const rows = all.slice(first, first + query.size);
    return new ListPage(query, { rows, total: all.length }).map(toPlan);
  }

  @Get('subscription')
  @ApiOperation({ summary: 'Get the subscription, including an unpaid or ended one' })
  @Answers({ 200: SubscriptionAnswerDto, errors: [401, 403, 404] })
  async subscription(@CurrentPrincipal() principal: Principal): Promise<SubscriptionAnswerDto> {
    const { row, plan } = await this.billing.subscription(principal);
    return { subscription: toSubscription(row, plan) };
  }

  @Post('subscribe')
  @ApiOperation({
    summary: 'Subscribe to a plan: open a checkout',
    description:
      'Send the user to redirectUrl. A repeated request before the payment replaces the checkout page.',
  })
  @Answers({ 200: SubscribeAnswerDto, errors: [400, 401, 403, 404, 422] })
  async subscribe(
    @CurrentActor() actor: Actor,
    @Body() { planId }: SubscribeDto,
  ): Promise<SubscribeAnswerDto> {
    const { row, plan, redirectUrl } = await this.billing.subscribe(actor, planId);
    return { redirectUrl, subscription: toSubscription(row, plan), success: true };
  }

  @Post('cancel')
  @ApiOperation({
    summary: 'Cancel the subscription at the end of the paid period; an unpaid one ends immediately',
  })
  @Answers({ 200: SubscriptionAnswerDto, errors: [401, 403, 404] })
  async cancel(@CurrentActor() actor: Actor): Promise<SubscriptionAnswerDto> {
    const { row, plan } = await this.billing.cancel(actor);
    return { subscription: toSubscription(row, plan) };
  }

  @Get('payments')
  @ApiOperation({ summary: 'List payments, including declined ones, newest first' })
  @Answers({ 200: [PaymentDto], errors: [400, 401, 403] })
  async payments(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
  ): Promise<ListPage<PaymentDto>> {
    return new ListPage(query, await this.billing.payments(principal, query));
  }
}
