import { Controller, Delete, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, OpenDuringMfaSetup, SignedIn, type Principal } from '#guards';
import { Answers } from '../docs/answers';
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
  @ApiOperation({ summary: 'List your sign-ins, newest first' })
  @Answers({ 200: [SignInDto], errors: [400, 401] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
  ): Promise<ListPage<SignInDto>> {
    return new ListPage(query, await this.signIns.list(principal, query)).map((row) =>
      toSignIn(row, principal),
    );
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'End one of your sign-ins',
    description: 'Its refresh token and its access token are invalid from the next request on.',
  })
  @Answers({ 204: null, errors: [400, 401, 404] })
  end(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.signIns.end(actor, id);
  }
}
