import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AllowedWhileLockedDown,
  AllowedWhileSuspended,
  CurrentPrincipal,
  OpenDuringMfaSetup,
  SignedIn,
  type Principal,
} from '#guards';
import { CurrentActor, type Actor } from '../http/actor';
import { EmptyDto } from '../http/empty.dto';
import { Operation } from '../docs/operation';
import { MfaCodeDto, MfaSetupDto, RecoveryCodesDto } from './dto/mfa.dto';
import { MfaService } from './mfa.service';

@ApiTags('MFA')
@SignedIn()
@AllowedWhileSuspended()
@AllowedWhileLockedDown()
@OpenDuringMfaSetup()
@Controller('mfa')
export class MfaController {
  constructor(private readonly mfa: MfaService) {}

  @Post('setup')
  @Operation(
    'Start the MFA setup: get a secret for an authenticator',
    { 200: MfaSetupDto, errors: [409] },
    'MFA stays disabled until the first code is confirmed. A repeated request replaces the secret.',
  )
  async setUp(@CurrentPrincipal() principal: Principal): Promise<MfaSetupDto> {
    const { secret, otpauthUrl, qrCode } = await this.mfa.setUp(principal);
    return { secret, otpauthUrl, qrCodeBase64: qrCode.toString('base64') };
  }

  @Post('setup/confirm')
  @Operation(
    'Enable MFA with the first code of the authenticator',
    { 200: RecoveryCodesDto, errors: [409] },
    'All other sign-ins of the user end, because they were made without the second factor.',
  )
  async confirm(@CurrentActor() actor: Actor, @Body() { code }: MfaCodeDto): Promise<RecoveryCodesDto> {
    return { recoveryCodes: await this.mfa.confirm(actor, code) };
  }

  @Post('disable')
  @Operation('Disable MFA; refused while the organization requires it', { 200: EmptyDto })
  async disable(@CurrentActor() actor: Actor, @Body() { code }: MfaCodeDto): Promise<EmptyDto> {
    await this.mfa.disable(actor, code);
    return {};
  }

  @Post('recovery-codes/regenerate')
  @Operation('Replace the recovery codes; the old ones become invalid', { 200: RecoveryCodesDto })
  async regenerate(@CurrentActor() actor: Actor, @Body() { code }: MfaCodeDto): Promise<RecoveryCodesDto> {
    return { recoveryCodes: await this.mfa.regenerate(actor, code) };
  }
}
