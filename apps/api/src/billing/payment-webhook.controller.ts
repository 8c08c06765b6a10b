import { Controller, Headers, Param, Post } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiParam, ApiTags } from '@nestjs/swagger';
import type { IncomingHttpHeaders } from 'node:http';
import { Public } from '#guards';
import { Operation } from '../docs/operation';
import { RawBody, TakesRawBody } from '../http/raw-body';
import { Uncounted } from '../rate-limit/rate-limit.decorators';
import { ReceivedDto } from './dto/billing.dto';
import { PaymentEvents } from './payment-events.service';

@ApiTags('Billing')
@Public()
@Controller('billing/webhooks')
export class PaymentWebhookController {
  constructor(private readonly events: PaymentEvents) {}

  @Post(':adapter')
  @Uncounted()
  @TakesRawBody()
  @Operation(
    'Webhook of the payment service for events about payments and subscriptions',
    { 200: ReceivedDto, errors: [404] },
    'Authenticated by its signature. Repeated events and events about unknown subscriptions have no effect.',
  )
  @ApiParam({ name: 'adapter', schema: { type: 'string', example: 'stripe' } })
  @ApiHeader({ name: 'Stripe-Signature', required: false, description: 'with Stripe: `t=…,v1=…`' })
  @ApiBody({ schema: { type: 'object', example: { id: 'evt_1', type: 'invoice.paid' } } })
  async receive(
    @Param('adapter') adapter: string,
    @RawBody() body: Buffer,
    @Headers() headers: IncomingHttpHeaders,
  ): Promise<ReceivedDto> {
    await this.events.receive(adapter, body, headers);
    return { received: true };
  }
}
