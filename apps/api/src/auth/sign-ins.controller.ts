import { Controller, Delete, Get, HttpCode, HttpStatus, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal, OpenDuringMfaSetup, SignedIn, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { PageQueryDto } from '../http/page-query.dto';
import { PathId } from '../http/path-id';
import { toSignIn } from './auth.mapper';
import { SignInDto } from './dto/sign-in.dto';
import { SignInsService } from './sign-ins.service';

@ApiTags('Accounts and tokens')
@SignedIn()
@OpenDuringMfaSetup()
@Controller('auth/sign-ins')
export class SignInsController {
  constructor(private readonly signIns: SignInsService) {}

  @Get()
  @ApiOperation({ summary: 'Where you are signed in, newest first' })
  @Answers({ 200: [SignInDto], errors: [400, 401] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SignInDto[]> {
    const { rows, total } = await this.signIns.list(principal, query);
    writePageHeaders(response, query, total);
    return rows.map((row) => toSignIn(row, principal));
  }

  @Delete(':id')
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiOperation({
    summary: 'End one of your sign-ins',
    description: 'Its refresh token works no more, and its access token from the next request on.',
  })
  @Answers({ 204: null, errors: [400, 401, 404] })
  end(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<void> {
    return this.signIns.end(principal, id, caller?.text ?? null);
  }
}
