import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '#guards';
import type { HostAddress } from '#rules';
import { CallerAddress } from '../../http/caller-address';
import { RawBody, TakesRawBody } from '../../http/raw-body';
import { sendPage } from '../../pages/browser-page';
import { CountedAs } from '../../rate-limit/rate-limit.decorators';
import { INVITATION_PATH, PASSWORD_RESET_PATH } from '../account-links';
import { AccountPages, INVITATION, PASSWORD_RESET, type PasswordForm } from './account-pages';

/** The browser pages that mailed links open. Outside the API's prefix. */
@ApiExcludeController()
@Public()
@CountedAs(['password'])
@Controller()
export class AccountPagesController {
  constructor(private readonly pages: AccountPages) {}

  @Get(`${INVITATION_PATH}/:token`)
  async showInvitation(@Param('token') token: string, @Res() response: Response): Promise<void> {
    sendPage(response, await this.pages.show(INVITATION, token));
  }

  @Post(`${INVITATION_PATH}/:token`)
  @TakesRawBody()
  async accept(
    @Param('token') token: string,
    @RawBody() body: Buffer,
    @CallerAddress() address: HostAddress | null,
    @Res() response: Response,
  ): Promise<void> {
    sendPage(response, await this.pages.submit(INVITATION, token, formOf(body), address));
  }

  @Get(`${PASSWORD_RESET_PATH}/:token`)
  async showReset(@Param('token') token: string, @Res() response: Response): Promise<void> {
    sendPage(response, await this.pages.show(PASSWORD_RESET, token));
  }

  @Post(`${PASSWORD_RESET_PATH}/:token`)
  @TakesRawBody()
  async reset(
    @Param('token') token: string,
    @RawBody() body: Buffer,
    @CallerAddress() address: HostAddress | null,
    @Res() response: Response,
  ): Promise<void> {
    sendPage(response, await this.pages.submit(PASSWORD_RESET, token, formOf(body), address));
  }
}

/** Parses `application/x-www-form-urlencoded`. */
function formOf(body: Buffer): PasswordForm {
  const fields = new URLSearchParams(body.toString('utf8'));
  const field = (name: string): string => fields.get(name) ?? '';
  return { name: field('name'), password: field('password'), repeat: field('repeat') };
}
