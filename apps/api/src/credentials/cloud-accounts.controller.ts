import { Body, Controller, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import { AccountParam } from './account-param';
import { CloudAccountsService } from './cloud-accounts.service';
import { CloudAccountDto, CloudAccountQueryDto, UpdateCloudAccountDto } from './dto/cloud-account.dto';

@ApiTags('Credentials')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('credentials/:id/accounts')
export class CloudAccountsController {
  constructor(private readonly accounts: CloudAccountsService) {}

  @Get()
  @Operation('List the accounts that a credential reaches, or may: those in use, listed or labelled', {
    200: [CloudAccountDto],
    errors: [404],
  })
  async list(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: CloudAccountQueryDto,
  ): Promise<ListPage<CloudAccountDto>> {
    return new ListPage(query, await this.accounts.list(principal, id, query));
  }

  @Post('refresh')
  @Operation(
    'Ask the provider for its accounts soon',
    { 204: null, errors: [404] },
    'A worker does, and again each day: accountsListedAt and accountsError of the credential say with what outcome. 429 within a ' +
      'minute after the last time.',
  )
  refresh(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.accounts.refresh(actor, id);
  }

  @Patch(':account')
  @Operation('Label an account', { 200: CloudAccountDto, errors: [404] })
  update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @AccountParam() account: string,
    @Body() { label }: UpdateCloudAccountDto,
  ): Promise<CloudAccountDto> {
    return this.accounts.label(actor, id, account, label);
  }

  @Post(':account/verify')
  @Operation('Verify a credential in an account that resources use; see isValid and verificationError', {
    200: CloudAccountDto,
    errors: [404],
  })
  verify(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @AccountParam() account: string,
  ): Promise<CloudAccountDto> {
    return this.accounts.verify(actor, id, account);
  }
}
