import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '#guards';
import { TakesRawBody } from '../../http/raw-body';
import { sendPage } from '../../pages/browser-page';
import { SandboxCheckouts } from './sandbox-checkouts';
import { SANDBOX_PATH } from './sandbox.adapter';

/** Browser pages outside the API's prefix, protected only by their unguessable address. */
@ApiExcludeController()
@Public()
@Controller(SANDBOX_PATH)
export class SandboxPageController {
  constructor(private readonly checkouts: SandboxCheckouts) {}

  @Get(':token')
  async show(@Param('token') token: string, @Res() response: Response): Promise<void> {
    sendPage(response, await this.checkouts.show(token));
  }

  @Post(':token/confirm')
  @TakesRawBody()
  async confirm(@Param('token') token: string, @Res() response: Response): Promise<void> {
    sendPage(response, await this.checkouts.confirm(token));
  }

  @Post(':token/decline')
  @TakesRawBody()
  async decline(@Param('token') token: string, @Res() response: Response): Promise<void> {
    sendPage(response, await this.checkouts.decline(token));
  }
}
