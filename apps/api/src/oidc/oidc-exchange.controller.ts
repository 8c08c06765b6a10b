import { Body, Controller, Post, Req } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '#guards';
import { Operation } from '../docs/operation';
import { callerAddressOf } from '../http/caller-address';
import { ExchangeIdTokenDto, WorkloadTokenDto } from './dto/oidc-exchange.dto';
import { OidcExchangeService } from './oidc-exchange.service';

@ApiTags('Keyless CI')
@Controller('auth/oidc')
export class OidcExchangeController {
  constructor(private readonly exchanges: OidcExchangeService) {}

  @Post('exchange')
  @Public()
  @Operation(
    'Exchange the ID token of a CI job for an access token',
    { 200: WorkloadTokenDto },
    'The access token acts as the service user of the trust, on every operation that accepts API keys with the trust’s ' +
      'scopes, for at most 15 minutes. An ID token is accepted once. It becomes invalid with the trust (disabled, deleted, ' +
      'or with other conditions or scopes) and with its service user.',
  )
  @ApiResponse({ status: 401, description: 'The ID token is refused; the reason is in the audit logs' })
  exchange(@Body() dto: ExchangeIdTokenDto, @Req() request: Request): Promise<WorkloadTokenDto> {
    return this.exchanges.exchange(dto, callerAddressOf(request));
  }
}
