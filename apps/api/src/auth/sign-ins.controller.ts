import { Controller, Delete, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AllowedWhileLockedDown,
  CurrentPrincipal,
  OpenDuringMfaSetup,
  SignedIn,
  type Principal,
} from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
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
  @Operation('List your sign-ins, newest first', { 200: [SignInDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
  ): Promise<ListPage<SignInDto>> {
    return new ListPage(query, await this.signIns.list(principal, query)).map((row) =>
      toSignIn(row, principal),
    );
  }

  @Delete(':id')
  @AllowedWhileLockedDown()
  @Operation(
    'End one of your sign-ins',
    { 204: null, errors: [404] },
    'Its refresh token and its access token are invalid from the next request on.',
  )
  end(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.signIns.end(actor, id);
  }
}
