import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { PageQueryDto } from '../http/page-query.dto';
import { toPayment, toPlan, toSubscription } from './billing.mapper';
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
  @ApiOperation({ summary: 'The plans by name, with their prices and limits' })
  @Answers({ 200: [PlanDto], errors: [400, 401, 403] })
  plans(@Query() query: PageQueryDto, @Res({ passthrough: true }) response: Response): PlanDto[] {
    const { all } = this.offered;
    writePageHeaders(response, query, all.length);
    const first = query.page * query.size;
    return all.slice(first, first + query.size).map(toPlan);
  }

  @Get('subscription')
  @ApiOperation({ summary: 'The subscription, also one that is not paid yet or has ended' })
  @Answers({ 200: SubscriptionAnswerDto, errors: [401, 403, 404] })
  async subscription(@CurrentPrincipal() principal: Principal): Promise<SubscriptionAnswerDto> {
    const { row, plan } = await this.billing.subscription(principal);
    return { subscription: toSubscription(row, plan) };
  }

  @Post('subscribe')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Open the payment of a plan',
    description:
      'Send the user to redirectUrl. Asked again before it is paid, a new page takes the place of the old.',
  })
  @Answers({ 200: SubscribeAnswerDto, errors: [400, 401, 403, 404, 422] })
  async subscribe(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() { planId }: SubscribeDto,
  ): Promise<SubscribeAnswerDto> {
    const { row, plan, redirectUrl } = await this.billing.subscribe(principal, planId, caller);
    return { redirectUrl, subscription: toSubscription(row, plan), success: true };
  }

  @Post('cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'End the plan with the period that is paid; what is not paid ends at once' })
  @Answers({ 200: SubscriptionAnswerDto, errors: [401, 403, 404] })
  async cancel(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
  ): Promise<SubscriptionAnswerDto> {
    const { row, plan } = await this.billing.cancel(principal, caller);
    return { subscription: toSubscription(row, plan) };
  }

  @Get('payments')
  @ApiOperation({ summary: 'Payments, also declined ones, the newest first' })
  @Answers({ 200: [PaymentDto], errors: [400, 401, 403] })
  async payments(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PaymentDto[]> {
    const { rows, total } = await this.billing.paid(principal, query);
    writePageHeaders(response, query, total);
    return rows.map(toPayment);
  }
}
