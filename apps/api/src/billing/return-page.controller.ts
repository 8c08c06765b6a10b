import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '#guards';
import { Markup, sendPage } from '../pages/browser-page';

export const RETURN_PATH = '/billing/return';

/** The page a payment service redirects its customer to. It has no effect: events change the subscription. */
@ApiExcludeController()
@Public()
@Controller(RETURN_PATH)
export class ReturnPageController {
  @Get(':outcome')
  show(@Param('outcome') outcome: string, @Res() response: Response): void {
    const paid = outcome === 'paid';
    sendPage(response, {
      status: 200,
      title: paid ? 'Thank you' : 'Nothing was paid',
      body: paid
        ? Markup.of`<p>The plan becomes active as soon as the payment is confirmed. You may close this page.</p>`
        : Markup.of`<p>You left the payment. Subscribe again whenever you like.</p>`,
    });
  }
}
