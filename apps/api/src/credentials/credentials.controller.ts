import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { PathId } from '../http/path-id';
import { toCredential } from './credential.mapper';
import { CredentialsService } from './credentials.service';
import { CreateCredentialDto, CredentialDto } from './dto/credential.dto';

@ApiTags('Credentials')
@AdminOnly()
@Controller('credentials')
export class CredentialsController {
  constructor(private readonly credentials: CredentialsService) {}

  @Post()
  @ApiOperation({ summary: 'Keep a cloud credential; its secrets are encrypted and never shown' })
  @Answers({ 201: CredentialDto, errors: [400, 401, 403] })
  async create(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: CreateCredentialDto,
  ): Promise<CredentialDto> {
    return toCredential(await this.credentials.create(principal, asked, caller));
  }

  @Get()
  @ApiOperation({ summary: "The organization's credentials by name" })
  @Answers({ 200: [CredentialDto], errors: [401, 403] })
  async list(@CurrentPrincipal() principal: Principal): Promise<CredentialDto[]> {
    return (await this.credentials.list(principal)).map(toCredential);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One credential' })
  @Answers({ 200: CredentialDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<CredentialDto> {
    return toCredential(await this.credentials.find(principal, id));
  }
}
